"""What tests of commands share."""

from functools import partial

import pytest

from tests.support.running import run_command


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Give a function that runs a command line in a folder, and returns what is printed and said."""
    monkeypatch.chdir(tmp_path)

    return partial(run_command, capsys)


@pytest.fixture
def refuses(run):
    """Give a function that checks that a command ends with status 2 and one line that says why."""

    def refuses(line, reason):
        said = run(line, 2)
        assert said.out == ""
        assert len([line for line in said.err.splitlines() if not line.startswith("compiling")]) == 1
        assert reason in said.err

    return refuses
