"""The fused kernels: equal to the paper's formula pair by pair, forward and gradient.

With a GPU they run there; without, where ``TRITON_INTERPRET=1``, which test_fused_interpreted.py sets.
"""

import os

import pytest
import torch

pytest.importorskip("triton", reason="Triton is not installed")

from onmt_preorder.transformer import attention
from onmt_preorder.transformer.attention import RelativePart, plain
from onmt_preorder.transformer.attention.gpu import comparison, fused
from tests.support.attention import PARTS, both_ways, check_dropout, leaves, make_inputs

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if torch.cuda.is_available() and not INTERPRETED else "cpu"
pytestmark = pytest.mark.skipif(DEVICE == "cpu" and not INTERPRETED, reason="needs a GPU")
on_gpu = pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU")

# In units of the last place, over values whose products are summed.
BOUNDS = {torch.float32: 200, torch.float16: 20, torch.bfloat16: 20}


@pytest.fixture(autouse=True)
def _bfloat16(monkeypatch):
    """Let the interpreter multiply bfloat16, which it keeps as integers."""
    if not INTERPRETED:
        return
    import numpy as np
    import triton.language as tl
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    multiply = InterpreterBuilder.create_dot

    def single(handle):
        if handle.dtype.scalar != tl.bfloat16:
            return handle
        return TensorHandle((handle.data.astype(np.uint32) << 16).view(np.float32), tl.float32)

    monkeypatch.setattr(
        InterpreterBuilder,
        "create_dot",
        lambda self, a, b, *rest: multiply(self, single(a), single(b), *rest),
    )


def check(case, dtype=torch.float32, dropout=0.0, **shape):
    results = both_ways(fused.attend, case, dropout=dropout, dtype=dtype, device=DEVICE, **shape)
    bound = BOUNDS[dtype] * torch.finfo(dtype).eps
    for mine, true in zip(*results, strict=True):
        assert mine.dtype == dtype
        scale = max(true.abs().max().item(), 1.0)
        torch.testing.assert_close(mine.double().cpu(), true, rtol=bound, atol=bound * scale)


@pytest.mark.parametrize("case", PARTS)
@pytest.mark.parametrize("n", [1, 7, 33])
def test_equals_the_formula(case, n):
    check(case, b=2, h=2, n=n, d=5)


@pytest.mark.parametrize("case", ["none", "both"])
@pytest.mark.parametrize("n", [7, 33])
def test_equals_the_formula_with_dropout(case, n):
    check(case, dropout=0.3, b=2, h=2, n=n, d=n)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("n", [7, 70])
def test_equals_the_formula_in_half_precision(dtype, n):
    check("both", dtype, b=1, h=2, n=n, d=16)


def test_tables_may_be_in_single_precision_beside_half():
    """As they are under autocast."""
    states, _, lengths, parts = make_inputs(1, PARTS["both"], b=1, d=16, device=DEVICE)
    wide = [
        RelativePart(part.positions, *(x.detach().float().requires_grad_() for x in (part.keys, part.values)))
        for part in parts
    ]
    result = fused.attend(*(x.half() for x in states), lengths, wide, 0.0)
    result.sum().backward()
    assert result.dtype == torch.float16
    assert all(part.keys.grad.dtype == part.values.grad.dtype == torch.float32 for part in wide)


@on_gpu
@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("case", PARTS)
@pytest.mark.parametrize(("n", "d"), [(16, 64), (64, 64), (65, 128), (200, 32)])
def test_equals_the_formula_on_a_gpu(dtype, case, n, d):
    check(case, dtype, b=2, h=2, n=n, d=d)


@on_gpu
@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("case", ["both", "far and near"])
def test_equals_the_plain_path_at_full_length_on_a_gpu(dtype, case):
    (query, key, value), states, lengths, parts = make_inputs(
        1, PARTS[case], b=4, h=8, n=1024, d=64, dtype=dtype, device=DEVICE
    )
    direction = torch.randn_like(query)
    results = []
    for path in (fused.attend, plain.attend):
        result = path(query, key, value, lengths, parts, 0.0)
        results.append([result, *torch.autograd.grad(result, leaves(states, parts), direction)])
    for one, other in zip(*results, strict=True):
        bound = BOUNDS[dtype] * torch.finfo(dtype).eps * other.abs().max().item()
        torch.testing.assert_close(one, other, rtol=0, atol=bound)


@on_gpu
def test_the_same_every_time_on_a_gpu():
    (query, key, value), states, lengths, parts = make_inputs(
        1, PARTS["both"], b=8, h=8, n=100, d=64, dtype=torch.bfloat16, device=DEVICE
    )
    runs = []
    for _ in range(3):
        torch.manual_seed(1)
        result = attention.relative_attention(query, key, value, lengths, parts, 0.1)
        runs.append([result, *torch.autograd.grad(result, states, torch.ones_like(result))])
    for other in runs[1:]:
        assert all(map(torch.equal, runs[0], other))


@on_gpu
def test_the_kernels_are_chosen_on_a_gpu():
    query = torch.zeros(1, 1, 1, 64, device=DEVICE)
    assert attention.choose_path(query, []) is fused.attend
    assert attention.choose_path(query.double(), []) is plain.attend


@pytest.mark.parametrize("dropout", [0.3, 1.0])
def test_dropout(dropout):
    check_dropout(fused.attend, dropout, DEVICE, b=1, slack=0.15)


def test_refuses_what_it_cannot(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 0))
    fits = torch.empty(2, 2, 4, 64, device="meta")
    assert fused.refusal(fits, []) is None
    assert "torch.float64" in fused.refusal(fits.double(), [])
    assert "larger than 128" in fused.refusal(fits.repeat(1, 1, 1, 3), [])
    assert "2^31 numbers" in fused.refusal(torch.empty(1 << 10, 16, 1 << 11, 64, device="meta"), [])
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    assert "older than Ampere" in fused.refusal(fits, [])


def test_the_comparison_trusts_them():
    assert comparison.distrust.__wrapped__(fused.attend, torch.device(DEVICE), torch.float32) is None


def test_the_comparison_notices_where_triton_does_not_work(monkeypatch):
    monkeypatch.setattr(fused.kernels, "forward", {})
    failure = comparison.distrust.__wrapped__(fused.attend, torch.device(DEVICE), torch.float32)
    assert failure.startswith("the kernels fail (KeyError: ")
