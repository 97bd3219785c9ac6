"""What a shell is told when the Tab key is pressed, as argcomplete's shell code asks for it."""

import os
import subprocess
import sys

import pytest

from preorder.cli import main
from preorder.errors import MissingExtraError


def completions(module, line, folder):
    """Return what may stand at a line's end."""
    answer = folder / "answer"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    asked |= {"COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
    subprocess.run([sys.executable, "-m", module], env=os.environ | asked, cwd=folder, check=True)
    return sorted(answer.read_text().split())


@pytest.mark.parametrize(
    ("module", "line", "found"),
    [
        ("preorder", "preorder an", ["analyse", "annotate"]),
        ("preorder", "preorder train --cross", ["--cross-fit", "--cross-fit-out"]),
        ("preorder", "preorder train --method rv", ["rvnn"]),
        ("preorder", "preorder apply --src te", ["test.en"]),
        ("onmt_preorder", "onmt_preorder translate --deto", ["--detokenize"]),
    ],
)
def test_the_tab_key(tmp_path, module, line, found):
    (tmp_path / "test.en").touch()
    assert completions(module, line, tmp_path) == found


def test_without_the_extra(monkeypatch):
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    with pytest.raises(MissingExtraError, match="argcomplete is not installed: pip install"):
        main(["--help"])
