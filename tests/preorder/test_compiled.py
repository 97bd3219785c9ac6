import importlib
import sys

import numpy as np

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
