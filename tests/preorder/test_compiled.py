import ast
import os
import shutil
import subprocess
import sys

import pytest

from preorder.compiled import _imported, closure
from tests.support.running import ROOT, environment

SOURCE = """
from typing import NamedTuple
import numpy as np
from preorder.compiled import entry_point

class Only(NamedTuple):
    numbers: np.ndarray

@entry_point
def total(numbers):
    return numbers.numbers.sum() + 1
"""
PROGRAM = "import numpy as np, kept; kept.total(kept.Only(np.arange(3))); kept.total(kept.Only(np.ones(2)))"
ANNOUNCED = "compiling for this machine, at first use: this takes some 20 seconds\n"


def run(program, kept, *paths):
    """Run a program with a folder for machine code; return what it says on standard error."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        env=environment(PYTHONPATH=os.pathsep.join(map(str, paths)), NUMBA_CACHE_DIR=str(kept)),
        cwd=paths[0],  # which Python puts before all other paths
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_compiling_is_announced_once_and_only_where_it_happens(tmp_path):
    (tmp_path / "kept.py").write_text(SOURCE)
    said = [run(PROGRAM, tmp_path, tmp_path, ROOT) for _ in range(2)]
    assert said == [ANNOUNCED, ""]  # of two functions


COUNTED = """
import numpy as np
from preorder.metrics.orders import count_pairs
assert count_pairs(np.array([0, 2, 1])) == (2, 1, 0)
"""


@pytest.mark.slow
def test_machine_code_outlives_a_reinstallation_and_no_change(tmp_path):
    """The same files elsewhere, later; and a change of a file that the function's module imports."""
    said = []
    for change in (None, "cli/gold.py", "data/trees.py"):
        copy = tmp_path / f"copy{len(said)}" / "preorder"
        shutil.copytree(ROOT / "preorder", copy, copy_function=shutil.copyfile)
        if change:
            with (copy / change).open("a") as file:
                file.write("# another line\n")
        said.append(run(COUNTED, tmp_path / "kept", copy.parent))
    assert said == [ANNOUNCED, "", ANNOUNCED]


def imports(source):
    """Return what a source imports, but for types: modules, and names that may be modules, too."""
    found = set()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                found |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level
                found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return found


def test_all_that_a_compiled_function_can_refer_to_is_in_its_digest():
    """The imports are found by Python's own parser."""
    sources = {}
    for top in ("preorder", "onmt_preorder"):
        for file in (ROOT / top).rglob("*.py"):
            parts = file.relative_to(ROOT).with_suffix("").parts
            sources[".".join(parts).removesuffix(".__init__")] = file.read_text()
    imported = {name: imports(source) for name, source in sources.items()}
    assert all(imported[name] <= _imported(source) for name, source in sources.items())
    compiled = [name for name, source in sources.items() if "@entry_point" in source]
    assert len(compiled) > 10
    for module in compiled:
        found = closure(module).keys()
        assert not {"preorder.cli", "preorder.command_line", "preorder.api"} & found
        assert all(imported[name] & sources.keys() <= found for name in found - {"preorder.compiled"})


@pytest.mark.slow
def test_a_type_of_another_module(tmp_path):
    """Which fields an argument has is no matter of the files that the function's module imports."""
    source = (
        "from preorder.compiled import entry_point\n@entry_point\ndef less(pair): return pair.a - pair.b\n"
    )
    (tmp_path / "kept.py").write_text(source)
    for first, second, result in (("a", "b", -1), ("b", "a", 1)):
        source = f"class Pair(NamedTuple):\n    {first}: int\n    {second}: int\n"
        (tmp_path / "pair.py").write_text("from typing import NamedTuple\n" + source)
        program = f"import kept, pair; assert kept.less(pair.Pair(2, 3)) == {result}"
        assert run(program, tmp_path / "cache", tmp_path, ROOT) == ANNOUNCED


def test_what_was_compiled_from_changed_files_is_not_kept(tmp_path):
    (tmp_path / "kept.py").write_text(SOURCE)
    change = "import kept; open('kept.py', 'a').write('\\n'); "
    assert run(change + PROGRAM, tmp_path / "cache", tmp_path, ROOT) == ANNOUNCED
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


@pytest.mark.parametrize("below", ["file", "file/below"])
def test_no_folder_can_be_made(tmp_path, below):
    (tmp_path / "kept.py").write_text(SOURCE)
    (tmp_path / "file").write_text("")
    assert run(PROGRAM, tmp_path / below, tmp_path, ROOT) == ANNOUNCED
