"""Dropout drops the share it is told, evenly, and the same again from the same seed."""

import pytest
import torch

from onmt_preorder.cpu.dropout import Dropout


@pytest.mark.parametrize("dropout", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_drops_its_share(dropout, dtype):
    drop, ones = Dropout(dropout), torch.ones(101, 4, 37, 7, dtype=dtype)
    torch.manual_seed(1)
    first = drop(ones)
    torch.manual_seed(1)
    assert first.equal(drop(ones))
    assert not first.equal(drop(ones))
    assert first.dtype == dtype
    assert first.float().unique().tolist() == pytest.approx([0, 1 / (1 - dropout)], rel=1e-2)
    for axis in range(4):
        shares = first.eq(0).float().mean([x for x in range(4) if x != axis])
        deviation = (dropout * (1 - dropout) * len(shares) / first.numel()) ** 0.5
        assert (shares - dropout).abs().max() < 5 * deviation
    neighbours = torch.corrcoef(first.eq(0).float().flatten()[: 4 * (first.numel() // 4)].view(-1, 4).T)
    assert neighbours.fill_diagonal_(0).abs().max() < 5 / (first.numel() / 4) ** 0.5


def test_the_gradient_is_dropped_alike():
    x = torch.randn(50, 20, dtype=torch.float64, requires_grad=True)
    result = Dropout(0.3)(x)
    (gradient,) = torch.autograd.grad(result.sum(), x)
    assert gradient.eq(0).equal(result.eq(0))
    torch.testing.assert_close(gradient * x, result)


@pytest.mark.parametrize(("dropout", "expected"), [(0.0, 1.0), (1e-9, 1.0), (1.0, 0.0)])
def test_nothing_and_everything(dropout, expected):
    x = torch.ones(3, 5, requires_grad=True)
    result = Dropout(dropout)(x)
    assert result.eq(expected).all()
    assert torch.autograd.grad(result.sum(), x)[0].eq(expected).all()
    assert Dropout(0.5).eval()(x) is x  # evaluation drops nothing
