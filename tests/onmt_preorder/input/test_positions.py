"""From features to positions."""

import logging

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onmt_preorder.input.positions import (
    NO_POSITION,
    PositionCheck,
    ReadsPositions,
    is_permutation,
    rank_positions,
)

NONE = -1


def ranks(*sentences):
    length = max(map(len, sentences))
    numbers = torch.tensor([list(s) + [NONE] * (length - len(s)) for s in sentences])
    padding = torch.arange(length) >= torch.tensor([[len(s)] for s in sentences])
    ranked = rank_positions(numbers, padding).tolist()
    return [row[: len(s)] for row, s in zip(ranked, sentences, strict=True)]


def by_definition(sentence):
    keys = [(number if number >= 0 else i, i) for i, number in enumerate(sentence)]
    return [sorted(keys).index(key) for key in keys]


sentences = st.lists(st.lists(st.integers(-1, 12), min_size=1, max_size=9), min_size=1, max_size=5)


@given(sentences)
def test_rank_within_the_sentence(batch):
    assert ranks(*batch) == [by_definition(sentence) for sentence in batch]


def test_numbers_come_from_the_vocabulary_not_from_ids():
    tokens = ["<unk>", "12", "<s>", "0", NO_POSITION, "٣", "²", "9" * 18, "9" * 5000]
    reader = ReadsPositions()
    reader.read_positions_with(tokens)
    assert reader._numbers.tolist() == [NONE, 12, NONE, 0, NONE, NONE, NONE, 10**18 - 1, NONE]


def test_what_is_a_permutation():
    right = ["0 1 2", "2 0 1", "1 1 0 2 2", "0 0 0", "1 0 _", "1 1 _ 0 0"]
    wrong = ["0 7 7", "0 1 0", "1 2 3", f"0 {'9' * 5000}"]
    assert [line for line in (*right, *wrong) if is_permutation(line.split())] == right


ODD = ["0 1", "_ _", "0 7 7", "_", "", "_ _", "5 5 1"]


@pytest.mark.parametrize(
    ("lacks_positions", "lines", "expected"),
    [
        (True, ODD, ["f:2: a line without", "the positions of 2 of 7"]),
        (False, ODD, ["the positions of 2 of 7"]),
        (True, ["1 0", "_", ""], []),
    ],
)
def test_each_kind_of_odd_lines_is_told_once(caplog, lacks_positions, lines, expected):
    check = PositionCheck(lacks_positions)
    with caplog.at_level(logging.WARNING, "onmt"):
        for number, line in enumerate(lines, 1):
            check.see(line.split(), "f", number)
        check.finish()
        check.finish()
    for record, beginning in zip(caplog.records, expected, strict=True):
        assert record.getMessage().startswith(beginning)
