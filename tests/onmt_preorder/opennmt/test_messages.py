"""Errors in one line."""

import subprocess
import sys
import types

import pytest
from onmt.utils.distributed import ErrorHandler

from preorder.data.errors import DataError, MissingExtraError, PreorderError, UsageError


@pytest.mark.parametrize(
    "error",
    [
        DataError("no", "f", 3),
        DataError("Caught DataError in worker\nTraceback\npreorder.data.errors.DataError: f:3: no\n"),
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
    trace = f"Traceback\n\npreorder.data.errors.{kind.__name__}: f:3: no\n"
    with pytest.raises(PreorderError, match="^f:3: no$") as raised:
        ErrorHandler.signal_handler(child_that_raised(trace), 10, None)
    with pytest.raises(SystemExit):
        sys.excepthook(raised.type, raised.value, None)
    assert capsys.readouterr().err == "f:3: no\n"


def test_other_errors_of_a_process_show_their_traceback():
    with pytest.raises(Exception, match="Traceback\nValueError: no"):
        ErrorHandler.signal_handler(child_that_raised("Traceback\nValueError: no"), 10, None)


def test_other_errors_show_their_traceback(capsys):
    sys.excepthook(ValueError, ValueError("no"), None)
    assert capsys.readouterr().err.endswith("ValueError: no\n")


def test_python_ends_with_the_status_that_we_ask_for():
    code = "import onmt\nfrom preorder.data.errors import DataError\nraise DataError('no', 'f', 3)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stderr) == (2, "f:3: no\n")
