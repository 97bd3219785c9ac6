import ast
import importlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from numba.core.dispatcher import Dispatcher

from preorder.compiled import closure
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


@cache
def statements(module):
    """Return the statements at the top of a module, by the names that they bind."""
    found = {}
    for statement in ast.parse(Path(sys.modules[module].__file__).read_text()).body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.asname or alias.name for alias in node.names]
            else:
                is_bound = isinstance(getattr(node, "ctx", None), ast.Store)
                names = [getattr(node, "name", None) or (is_bound and getattr(node, "id", None))]
            for name in filter(None, names):
                found.setdefault(name, []).append(node if isinstance(node, ast.ImportFrom) else statement)
    return found


def trace(module, name, found):
    """Add to ``found`` each name, with its module, that the value of a module's name comes from."""
    is_ours = module.partition(".")[0] in ("preorder", "onmt_preorder") and module != "preorder.compiled"
    if not is_ours or (module, name) in found or not hasattr(sys.modules[module], name):
        return
    found.add((module, name))
    value = getattr(sys.modules[module], name)
    home = getattr(getattr(value, "py_func", value), "__module__", None)
    if isinstance(home, str):
        trace(home, name, found)
    for statement in statements(module).get(name, ()):
        if isinstance(statement, ast.ImportFrom):
            member = next(one.name for one in statement.names if name in (one.asname, one.name))
            trace(statement.module, member, found)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                trace(module, node.id, found)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                base = getattr(sys.modules[module], node.value.id, None)
                if isinstance(base, ModuleType):
                    trace(base.__name__, node.attr, found)


def test_all_that_a_compiled_function_refers_to_is_in_its_digest():
    """Functions, types and constants, found name by name by Python's own parser."""
    files = [file for top in ("preorder", "onmt_preorder") for file in (ROOT / top).rglob("*.py")]
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    count = crossings = 0
    for module, file in zip(names, files, strict=True):
        if "@entry_point" not in file.read_text():
            continue
        sources = closure(module)
        assert not {"preorder.cli", "preorder.command_line", "preorder.api"} & sources.keys()
        for name, value in vars(importlib.import_module(module)).items():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module:
                found = set()
                trace(module, name, found)
                used = {where for where, _ in found}
                assert used <= sources.keys()
                count, crossings = count + 1, crossings + len(used) - 1
    assert count > 50
    assert crossings > 100


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), [("kept.constant", "MORE"), ("kept", "constant.MORE")])
def test_a_constant_of_another_module(module, name, tmp_path):
    (tmp_path / "kept").mkdir()
    imports = f"from {module} import (\n    {name.partition('.')[0]},\n)\n"
    source = imports + SOURCE.replace("+ 1", f"+ {name}")
    (tmp_path / "kept" / "__init__.py").write_text(source)
    for more in (1, 2):
        (tmp_path / "kept" / "constant.py").write_text(f"MORE = {more}\n")
        program = f"{PROGRAM}; assert kept.total(kept.Only(np.arange(3))) == {3 + more}"
        assert run(program, tmp_path / "cache", tmp_path, ROOT) == ANNOUNCED


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
