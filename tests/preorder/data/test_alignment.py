"""Alignments: links within the sentences."""

import pytest

from preorder.data.alignment import Alignment
from preorder.data.errors import DataError


def test_links_lie_within_the_lengths():
    with pytest.raises(DataError, match="link 2-0 is out of range: the source has 2 tokens"):
        Alignment(frozenset({(2, 0)}), source_length=2)
    with pytest.raises(DataError, match="link 0-5 is out of range: the target has 5 tokens"):
        Alignment(frozenset(), frozenset({(0, 5)}), target_length=5)
    with pytest.raises(DataError, match="link -1-0 is out of range: the source has 2 tokens"):
        Alignment(frozenset({(-1, 0)})).check_within(2)
    with pytest.raises(DataError, match="the alignment is of 3 source tokens, the sentence has 4"):
        Alignment(frozenset(), source_length=3).check_within(4)


def test_targets_are_sorted_by_source_token():
    assert Alignment(frozenset({(2, 4), (0, 3), (2, 1)})).targets(3) == ((3,), (), (1, 4))


@pytest.mark.parametrize("confidence", [0, -1, 1.5, float("nan")])
def test_confidences_in_their_bounds(confidence):
    with pytest.raises(DataError, match="link 0-1 is none, or its confidence is not above 0 and at most 1"):
        Alignment.weighted({(0, 0): 0.5, (0, 1): confidence})


def test_confidences_of_links_that_are_there():
    with pytest.raises(DataError, match="link 1-1 is none"):
        Alignment(frozenset({(0, 0)}), doubtful=frozenset({((1, 1), 0.5)}))
