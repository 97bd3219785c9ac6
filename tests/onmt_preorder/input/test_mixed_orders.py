"""Which order each line is told, drawn anew in every epoch."""

import numpy as np
import pytest

from onmt_preorder.input.mixed_orders import Shares, mix
from preorder.data.errors import UsageError

LINES = [f"w{i} a b" for i in range(4000)]
KINDS = {"best": ["2", "0", "1"], "drawn": ["1", "0", "2"], "identity": ["0", "1", "2"]}


def epochs(shares, seed, count, step=None):
    """Return which kind of order each line is told in each epoch, in buckets of ``step`` lines."""
    generator = np.random.default_rng(seed)
    seen = []

    def draw(lines, numbers):
        seen.extend(numbers)
        assert len(lines) == len(numbers)
        return [KINDS["drawn"]] * len(lines)

    def best(lines):
        return [KINDS["best"]] * len(lines)

    told = []
    for _ in range(count):
        features = []
        for begin in range(0, len(LINES), step or len(LINES)):
            features += mix(LINES[begin : begin + (step or len(LINES))], best, draw, shares, generator)
        told.append([next(name for name, each in KINDS.items() if each == found) for found in features])
    assert len(set(seen)) == len(seen)
    return told


@pytest.mark.parametrize("shares", [Shares(0.3, 0.1), Shares(1, 0), Shares(0, 1), Shares(0.7, 0.3)])
def test_the_shares(shares):
    (told,) = epochs(shares, 1, 1)
    assert told.count("drawn") / len(LINES) == pytest.approx(shares.sampled, abs=0.03)
    assert told.count("identity") / len(LINES) == pytest.approx(shares.identity, abs=0.03)


def test_other_lines_in_each_epoch_and_the_same_by_the_seed():
    first, second = epochs(Shares(0.3, 0.1), 1, 2, step=70)
    assert epochs(Shares(0.3, 0.1), 1, 2, step=70) == [first, second]
    assert epochs(Shares(0.3, 0.1), 2, 1, step=70) != [first]
    both = sum(one == other == "drawn" for one, other in zip(first, second, strict=True)) / len(LINES)
    assert both == pytest.approx(0.09, abs=0.02)


def test_lines_get_their_own_orders():
    lines = ["a b c", "d", "e f", "g h"]

    def turned(lines):
        return [line.split()[::-1] for line in lines]

    told = mix(
        lines * 20, turned, lambda given, _: [["x"]] * len(given), Shares(0.3, 0), np.random.default_rng(3)
    )
    for line, features in zip(lines * 20, told, strict=True):
        assert features in (["x"], line.split()[::-1])


def test_more_than_all_lines():
    with pytest.raises(UsageError, match=r"^preorder_sample 0\.8 and preorder_identity 0\.3 are shares"):
        Shares(0.8, 0.3)
