"""Errors in one line; subword models that are not there."""

import sys
import types

import pytest
from onmt.transforms import AVAILABLE_TRANSFORMS
from onmt.utils.distributed import ErrorHandler

from preorder.errors import DataError, MissingExtraError, PreorderError, UsageError
from tests.support.opennmt import make_opt


@pytest.mark.parametrize(
    "error",
    [
        DataError("no", "f", 3),
        DataError("Caught DataError in worker\nTraceback\npreorder.errors.DataError: f:3: no\n"),
    ],
)
def test_our_errors_are_one_line(capsys, error):
    with pytest.raises(SystemExit) as ended:
        sys.excepthook(type(error), error, None)
    assert ended.value.code == 2
    assert capsys.readouterr().err == "f:3: no\n"


def child_that_raised(trace):
    """Return what OpenNMT-py's parent process knows of a child that ended so."""
    queue = types.SimpleNamespace(get=lambda: (1, trace))
    return types.SimpleNamespace(children_pids=[], error_queue=queue)


@pytest.mark.parametrize("kind", [DataError, UsageError, MissingExtraError])
def test_errors_of_a_process_of_its_own_are_one_line(capsys, kind):
    trace = f"Traceback\n\npreorder.errors.{kind.__name__}: f:3: no\n"
    with pytest.raises(PreorderError, match="^f:3: no$") as raised:
        ErrorHandler.signal_handler(child_that_raised(trace), 10, None)
    with pytest.raises(SystemExit):
        sys.excepthook(raised.type, raised.value, None)
    assert capsys.readouterr().err == "f:3: no\n"


def test_other_errors_show_their_traceback(capsys):
    with pytest.raises(Exception, match="Traceback\nValueError: no"):
        ErrorHandler.signal_handler(child_that_raised("Traceback\nValueError: no"), 10, None)
    sys.excepthook(ValueError, ValueError("no"), None)
    assert capsys.readouterr().err.endswith("ValueError: no\n")


SUBWORDS = ("bpe", "sentencepiece", "onmt_tokenize")


def load_subwords(name, path):
    opt = make_opt()
    for side in ("src", "tgt"):
        values = {"subword_model": path, "subword_type": "bpe", "onmttok_kwargs": {}}
        opt.__dict__.update({f"{side}_{key}": value for key, value in values.items()})
    AVAILABLE_TRANSFORMS[name](opt).warm_up()


@pytest.mark.parametrize("name", SUBWORDS)
def test_a_subword_model_that_cannot_be_used_is_named(tmp_path, name):
    if name == "onmt_tokenize":
        pytest.importorskip("pyonmttok.version")  # not its stand-in
    with pytest.raises(DataError, match=r"^\S*/moved: src_subword_model: there is no such file$"):
        load_subwords(name, str(tmp_path / "moved"))
    if name != "onmt_tokenize":  # which needs no model, and takes most files for one
        with pytest.raises(UsageError, match="^src_subword_model: no file is given$"):
            load_subwords(name, None)
        (tmp_path / "junk").write_bytes(bytes([0xC2, 0x41, 0xFF]) * 100)
        with pytest.raises(UsageError, match="^src_subword_model, tgt_subword_model: .+"):
            load_subwords(name, str(tmp_path / "junk"))
