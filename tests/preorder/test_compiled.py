import importlib
import os
import subprocess
import sys

import numpy as np

from tests.support.running import ROOT, environment

SOURCE = """
from typing import NamedTuple
import numpy as np
from preorder.compiled import entry_point

class {name}(NamedTuple):
    numbers: np.ndarray

@entry_point
def total(numbers):
    return numbers.numbers.sum() + {more}
"""


def test_what_older_files_left_behind_does_no_harm(tmp_path, monkeypatch):
    """Machine code that is kept under the type of an argument whose class has been renamed since."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, more in (("Before", 1), ("After", 20)):
        (tmp_path / "kept.py").write_text(SOURCE.format(name=name, more=more))
        importlib.invalidate_caches()
        sys.modules.pop("kept", None)
        module = importlib.import_module("kept")
        assert module.total(getattr(module, name)(np.arange(3))) == 3 + more
    sys.modules.pop("kept")


PROGRAM = "import numpy as np, kept; kept.total(kept.Only(np.arange(3))); kept.total(kept.Only(np.ones(2)))"


def test_compiling_is_announced_once_and_only_where_it_happens(tmp_path):
    (tmp_path / "kept.py").write_text(SOURCE.format(name="Only", more=1))
    paths = os.pathsep.join((str(tmp_path), str(ROOT)))
    run = [
        subprocess.run(
            [sys.executable, "-B", "-c", PROGRAM],
            env=environment(PYTHONPATH=paths),
            capture_output=True,
            text=True,
        )
        for _ in range(2)
    ]
    assert [each.returncode for each in run] == [0, 0]
    assert [each.stderr for each in run] == [
        "compiling for this machine, at first use: this takes some 20 seconds\n",  # of two functions
        "",
    ]
