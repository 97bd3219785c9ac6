"""Symmetrisation against its definition, and samples of links against counting them one by one."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from preorder.alignment.links import SYMMETRIZATIONS, Samples, agreement, confident, read_links

links = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)

FORWARD = {(0, 0), (1, 1), (2, 2), (4, 5), (4, 2)}
REVERSE = {(0, 0), (1, 2), (2, 2), (3, 4)}


@pytest.mark.parametrize(
    ("name", "forward", "reverse", "expected"),
    [
        # 0-0 and 2-2 are in both; 1-1 touches 0-0, and its words are free; both words of 1-2 are taken.
        ("grow-diag", FORWARD, REVERSE, {(0, 0), (1, 1), (2, 2)}),
        # final: source 4 is free, so 4-2 comes before 4-5, which target 5 brings in.
        ("grow-diag-final", FORWARD, REVERSE, {(0, 0), (1, 1), (2, 2), (4, 2), (4, 5), (3, 4)}),
        # final-and: 4-5 and 3-4 touch nothing, but all their words are free.
        ("grow-diag-final-and", FORWARD, REVERSE, {(0, 0), (1, 1), (2, 2), (4, 5), (3, 4)}),
        ("grow-diag-final-and", {(0, 0), (0, 5)}, {(0, 0)}, {(0, 0)}),  # both words have to be free
        ("grow-diag-final-and", {(0, 1)}, {(0, 0)}, {(0, 1)}),  # forward links come before reverse ones
        ("grow-diag-final-and", {(0, 0)}, {(0, 1)}, {(0, 0)}),
    ],
)
def test_worked_by_hand(name, forward, reverse, expected):
    assert SYMMETRIZATIONS[name](forward, reverse) == expected


@given(links, links)
@example({(0, 0), (1, 1), (2, 2)}, {(0, 0)})  # 2-2 touches none but 1-1, which is itself taken
def test_grow_diag_takes_what_touches_a_taken_link_and_nothing_else(forward, reverse):
    grown = SYMMETRIZATIONS["grow-diag"](forward, reverse)

    def touches(link, taken):
        return any(max(abs(link[0] - k), abs(link[1] - m)) == 1 for k, m in taken)

    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    for i, j in (forward | reverse) - grown:
        assert not touches((i, j), grown) or (i in sources and j in targets)
    reached = forward & reverse
    while more := {link for link in grown - reached if touches(link, reached)}:
        reached |= more
    assert reached == grown


DRAWS = [
    [("0-0 1-1", "0-0"), ("0-0", "0-0 1-2")],
    [("", "1-0"), ("0-0", "1-0 0-0")],
]
"""Two samplers' forward and reverse links of two sentence pairs, of 2 and 3 and of 2 and 1 tokens."""


def test_shares_and_agreement(tmp_path):
    def read(lines):
        path = tmp_path / "links"
        path.write_text("".join(f"{line}\n" for line in lines))
        return read_links(path)

    by_sampler = [tuple(read(DRAWS[pair][s][d] for pair in (0, 1)) for d in (0, 1)) for s in (0, 1)]
    samples = Samples(np.array([2, 2]), np.array([3, 1]), by_sampler)
    shares = [[1, 0, 0], [0, 0.5, 0]], [[1, 0, 0], [0, 0, 0.5]]
    np.testing.assert_array_equal(samples.shares(0), shares)
    first, second = agreement(samples, 0.25)
    assert first.confidences() == {(0, 0): 1, (1, 1): 0.25, (1, 2): 0.25}
    assert second.confidences() == {(0, 0): 0.5, (1, 0): 0.5 + 0.0}
    assert next(agreement(samples, 0.5)).links == {(0, 0)}
    assert list(agreement(samples, 1))[1].links == frozenset()


def test_a_confidence_that_rounds_to_the_bound_counts():
    third = np.full((1, 1), 1 / 3, np.float32)
    assert confident(third, 1 / 3).confidences() == {(0, 0): 0.333}
    assert confident(2 * third, 0.667).confidences() == {(0, 0): 0.667}
    assert not confident(third, 0.34).links
    sixteen = np.array([[[0.7]], [[0.9]]], np.float32).mean(axis=0)  # of 20 samplers; it is below 0.8
    assert confident(sixteen, 0.8).confidences() == {(0, 0): 0.8}
    least = np.array([[0.0003, 0.9]], np.float32)
    assert confident(least, 1e-7).confidences() == {(0, 1): 0.9}  # a confidence of 0 would be none
