from collections import Counter

import numpy as np
import pytest

from preorder.learning.pairs import limited, lines_of_iteration


@pytest.mark.parametrize("sizes", [(7,), (4, 4), (5, 4, 6), (40, 3), (1, 30, 8), (2, 2, 500)])
@pytest.mark.parametrize("seed", [1, 2])
def test_an_iteration_reads_as_much_of_each_pair(sizes, seed):
    pairs = np.random.default_rng(0).permutation(np.repeat(range(len(sizes)), sizes))
    for iteration in (1, 2):
        lines = lines_of_iteration(pairs, seed, iteration)
        assert lines.size == sum(sizes)
        assert (np.diff(lines) >= 0).all()
        shares = Counter(pairs[lines].tolist())
        assert max(shares.values()) - min(shares.values()) <= 1
        for pair, size in enumerate(sizes):
            times = Counter(lines[pairs[lines] == pair].tolist()).values()
            assert max(times) - (min(times) if len(times) == size else 0) <= 1
        assert lines.tolist() == lines_of_iteration(pairs, seed, iteration).tolist()


def test_a_large_pair_is_read_in_turn():
    pairs = np.repeat([0, 1], [50, 10])
    seen = [set(lines_of_iteration(pairs, 1, iteration).tolist()) for iteration in range(1, 9)]
    assert all(set(range(50, 60)) <= one for one in seen)
    assert len(set.union(*seen)) == 60
    assert seen[0] != seen[1]


LIMITS = [(100, [30, 5, 20]), (21, [8, 5, 8]), (12, [4, 4, 4]), (26, [11, 5, 10]), (2, [1, 0, 1])]


@pytest.mark.parametrize(("limit", "kept"), LIMITS)
def test_a_limit_is_shared_by_the_pairs(limit, kept):
    pairs = np.random.default_rng(3).permutation(np.repeat([0, 1, 2], [30, 5, 20])).tolist()
    lines = range(len(pairs))
    chosen = limited(lines, pairs, limit, 1)
    assert chosen == sorted(set(chosen))
    counts = Counter(pairs[line] for line in chosen)
    assert len(chosen) == min(limit, 55)
    for pair, count in enumerate(kept):
        assert abs(counts[pair] - count) <= 1
    assert chosen == limited(lines, pairs, limit, 1)
    assert limit > 55 or chosen != limited(lines, pairs, limit, 2)
