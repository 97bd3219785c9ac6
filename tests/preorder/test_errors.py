import pickle
import re
from importlib import metadata

import pytest

from preorder.errors import DataError, MissingExtraError, NotFiniteError, UsageError, require
from preorder.io.files import read_lines


@pytest.mark.parametrize(
    ("is_installed", "command"),
    [(True, "pip install 'matplotlib>=[0-9.]+'"), (False, r"pip install 'onmt-preorder\[plots\]'")],
)
def test_how_a_missing_extra_is_installed(monkeypatch, is_installed, command):
    """Also where the package is not installed, but run from its folder."""
    if not is_installed:
        monkeypatch.setattr(metadata, "distributions", lambda **_: iter(()))
    with pytest.raises(MissingExtraError) as found:
        require("no_such_module", "plots")
    assert re.fullmatch(f"no_such_module is not installed: {command}", str(found.value))


@pytest.mark.parametrize(
    "error",
    [MissingExtraError("torch", "neural"), NotFiniteError("x"), UsageError("x"), DataError("x", "f", 3)],
)
def test_an_error_is_the_same_in_another_process(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("character", ["\n", "\r", "\u2028", "\x85"])
def test_a_file_whose_name_has_line_breaks_is_named_in_one_line(character, tmp_path):
    with pytest.raises(DataError) as caught:
        list(read_lines(str(tmp_path / f"a{character}b 'c'")))
    name = f"a{ascii(character)[1:-1]}b 'c'"
    assert str(caught.value) == f"{tmp_path}/{name}: cannot be read: No such file or directory"
    assert str(DataError("no", f"a{character}b 'c'")) == f"{name}: no"
