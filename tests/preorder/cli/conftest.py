"""What tests of commands share."""

import pytest

from preorder.cli import main


@pytest.fixture
def refuses(capsys):
    """Give a function that checks that a command ends with status 2 and one line that says why."""

    def refuses(line, reason):
        capsys.readouterr()
        try:
            status = main(line.split())
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr()
        assert (status, said.out) == (2, "")
        assert len([line for line in said.err.splitlines() if not line.startswith("compiling")]) == 1
        assert reason in said.err

    return refuses
