"""Warnings about lines whose positions cannot be used as they are."""

import logging

import pytest

pytest.importorskip("torch")

from onmt_preorder.input.positions import PositionCheck, is_permutation


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ("0 1 2", True),
        ("2 0 1", True),
        ("1 1 0 2 2", True),
        ("0 0 0", True),
        ("1 0 _", True),
        ("1 1 _ 0 0", True),
        ("0 7 7", False),
        ("0 1 0", False),
        ("1 2 3", False),
        (f"0 {'9' * 5000}", False),
    ],
)
def test_what_is_a_permutation(positions, expected):
    assert is_permutation(positions.split()) is expected


def warnings_of(caplog, lacks_positions, lines):
    caplog.clear()
    check = PositionCheck(lacks_positions)
    with caplog.at_level(logging.WARNING, "onmt"):
        for number, line in enumerate(lines, 1):
            check.see(line.split(), "f", number)
        check.finish()
        check.finish()
    return [record.getMessage() for record in caplog.records]


def test_one_warning_of_each_kind(caplog):
    lines = ["0 1", "_ _", "0 7 7", "_", "", "_ _", "5 5 1"]
    plain, odd = warnings_of(caplog, True, lines)
    assert plain.startswith("f:2: a line without positions, and no preorderer")
    assert odd.startswith("the positions of 2 of 7 lines are no permutation")
    assert odd.endswith("first f:3")
    assert warnings_of(caplog, False, lines) == [odd]
    assert warnings_of(caplog, True, ["1 0", "_", ""]) == []
