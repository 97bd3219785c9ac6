import os
import shutil
import subprocess
import sys

import pytest

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
    """The same files elsewhere, later; and a file whose constants compiled functions may hold."""
    said = []
    for name in ("first", "again", "changed"):
        copy = tmp_path / name / "preorder"
        shutil.copytree(ROOT / "preorder", copy, copy_function=shutil.copyfile)
        if name == "changed":
            with (copy / "data" / "trees.py").open("a") as file:
                file.write("# another line\n")
        said.append(run(COUNTED, tmp_path / "kept", tmp_path / name))
    assert said == [ANNOUNCED, "", ANNOUNCED]


@pytest.mark.slow
def test_a_constant_of_another_module(tmp_path):
    (tmp_path / "kept").mkdir()
    source = "from kept.constant import MORE\n" + SOURCE.replace("+ 1", "+ MORE")
    (tmp_path / "kept" / "__init__.py").write_text(source)
    for more in (1, 2):
        (tmp_path / "kept" / "constant.py").write_text(f"MORE = {more}\n")
        program = f"{PROGRAM}; assert kept.total(kept.Only(np.arange(3))) == {3 + more}"
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
