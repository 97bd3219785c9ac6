"""Alignments: links within the sentences."""

import pytest

from preorder.data.alignment import Alignment
from preorder.errors import DataError


def test_links_lie_within_the_lengths():
    with pytest.raises(DataError, match="link 2-0 is out of range: the source has 2 tokens"):
        Alignment(frozenset({(2, 0)}), source_length=2)
    with pytest.raises(DataError, match="link 0-5 is out of range: the target has 5 tokens"):
        Alignment(frozenset(), frozenset({(0, 5)}), target_length=5)
    with pytest.raises(DataError, match="link -1-0 is out of range: the source has 2 tokens"):
        Alignment(frozenset({(-1, 0)})).check_within(2)
    with pytest.raises(DataError, match="the alignment is of 3 source tokens, the sentence has 4"):
        Alignment(frozenset(), source_length=3).check_within(4)


FROM_ONE, REVERSED = "; do they count from 1? ", "; are they target-source? "


@pytest.mark.parametrize(
    ("links", "lengths", "guess"),
    [
        ([(1, 1), (2, 3), (3, 2)], (3, None), FROM_ONE),
        ([(1, 1), (2, 3)], (2, 3), FROM_ONE),
        ([(1, 1), (2, 4)], (2, 3), ""),
        ([(0, 1), (3, 2)], (3, None), REVERSED),
        ([(0, 0), (3, 2)], (3, 4), REVERSED),
        ([(0, 0), (4, 2)], (3, 4), ""),
        ([(0, 0), (3, 5)], (3, None), ""),
    ],
)
def test_why_links_are_out_of_range(links, lengths, guess):
    for kinds in ({"links": frozenset(links)}, {"links": frozenset(), "possible": frozenset(links)}):
        with pytest.raises(DataError, match="is out of range") as error:
            Alignment(**kinds).check_within(*lengths)
        assert error.value.reason.partition("tokens")[2].partition("(")[0] == guess


def test_targets_are_sorted_by_source_token():
    assert Alignment(frozenset({(2, 4), (0, 3), (2, 1)})).targets(3) == ((3,), (), (1, 4))


@pytest.mark.parametrize("confidence", [0, -1, 1.5, float("nan")])
def test_confidences_in_their_bounds(confidence):
    with pytest.raises(DataError, match="link 0-1 is none, or its confidence is not above 0 and at most 1"):
        Alignment.weighted({(0, 0): 0.5, (0, 1): confidence})


def test_confidences_of_links_that_are_there():
    with pytest.raises(DataError, match="link 1-1 is none"):
        Alignment(frozenset({(0, 0)}), doubtful=frozenset({((1, 1), 0.5)}))
