"""The sinusoidal encoding beside its formula in double precision."""

import math

import pytest

torch = pytest.importorskip("torch")

from onmt_preorder.transformer.sinusoidal import encodings, sinusoidal  # noqa: E402


@pytest.mark.parametrize("size", [2, 6, 64])
def test_is_the_formula_of_the_paper(size):
    """Near enough that 10001 in place of 10000 is told: p · 1e-4 · 2q/size of a turn, at p = 1,000."""
    positions = [-1000, -3, 0, 1, 512, 1000]
    found = sinusoidal(torch.tensor(positions), size)
    for p, row in zip(positions, found.double(), strict=True):
        for q in range(0, size, 2):
            turn = p / 10000 ** (q / size)
            assert row[q : q + 2].tolist() == pytest.approx([math.sin(turn), math.cos(turn)], abs=2e-4)


def test_a_table_has_the_encodings_of_each_position():
    like = torch.zeros(1, 8)
    assert torch.equal(encodings(-700, 900, like), sinusoidal(torch.arange(-700, 900), 8))
