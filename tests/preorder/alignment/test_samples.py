"""Samples of links, against counting them one by one."""

import numpy as np
import pytest

from preorder.alignment.links import Samples, agreement, confident, read_links

DRAWS = [
    [("0-0 1-1", "0-0"), ("0-0", "0-0 1-2")],
    [("", "1-0"), ("0-0", "1-0 0-0")],
]
"""Two samplers' forward and reverse links of two sentence pairs, of 2 and 3 and of 2 and 1 tokens."""


@pytest.fixture
def samples(tmp_path):
    def read(lines):
        path = tmp_path / "links"
        path.write_text("".join(f"{line}\n" for line in lines))
        return read_links(path)

    by_sampler = [tuple(read(DRAWS[pair][s][d] for pair in (0, 1)) for d in (0, 1)) for s in (0, 1)]
    return Samples(np.array([2, 2]), np.array([3, 1]), by_sampler)


def test_links_are_read_as_they_were_written(samples):
    forward, reverse = samples.draws[0]
    assert forward.as_set(0) == {(0, 0), (1, 1)}
    assert forward.as_set(1) == frozenset()
    assert reverse.as_set(1) == {(1, 0)}
    assert len(samples) == 2


def test_shares_are_counts(samples):
    forward, reverse = samples.shares(0)
    np.testing.assert_array_equal(forward, [[1, 0, 0], [0, 0.5, 0]])
    np.testing.assert_array_equal(reverse, [[1, 0, 0], [0, 0, 0.5]])


def test_agreement_has_the_share_of_all_draws_as_confidence(samples):
    first, second = agreement(samples, 0.25)
    assert first.confidences() == {(0, 0): 1, (1, 1): 0.25, (1, 2): 0.25}
    assert second.confidences() == {(0, 0): 0.5, (1, 0): 0.5 + 0.0}
    assert next(agreement(samples, 0.5)).links == {(0, 0)}
    assert list(agreement(samples, 1))[1].links == frozenset()


def test_a_confidence_that_rounds_to_the_bound_counts():
    third = np.full((1, 1), 1 / 3, np.float32)
    assert confident(third, 1 / 3).confidences() == {(0, 0): 0.333}
    assert not confident(third, 0.34).links
