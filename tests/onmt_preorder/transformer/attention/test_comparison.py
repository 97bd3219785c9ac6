"""Fused kernels are used only where they compute what plain torch computes; kernels are faked here."""

import logging
import sys
from types import SimpleNamespace

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from onmt_preorder.transformer import attention
from onmt_preorder.transformer.attention import attend, comparison, plain

CPU = torch.device("cpu")
FUSED = "onmt_preorder.transformer.attention.fused"


class OnGPU:
    """As much of a tensor on a GPU as the choice between the ways looks at."""

    is_cuda, device = True, CPU

    def __init__(self, dtype=torch.float32):
        self.dtype = dtype


class Scaled(torch.autograd.Function):
    """Multiplies the gradient alone."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None


def failing(*_):
    raise RuntimeError("no C compiler\nand more lines")


def wrong_result(*given):
    return plain.attend(*given) * 1.1


def not_a_number(*given):
    result = plain.attend(*given)
    return result.masked_fill(torch.ones_like(result, dtype=torch.bool).triu(60), float("nan"))


def wrong_gradient_of_the_key(query, key, *given):
    return plain.attend(query, Scaled.apply(key, 1.3), *given)


def wrong_gradient_of_a_table(query, key, value, lengths, parts, dropout):
    last = parts[-1]
    changed = type(last)(last.positions, last.keys, Scaled.apply(last.values, 1.3))
    return plain.attend(query, key, value, lengths, [*parts[:-1], changed], dropout)


WRONG = [wrong_result, not_a_number, wrong_gradient_of_the_key, wrong_gradient_of_a_table]


@pytest.fixture
def install(monkeypatch):
    """Install fake kernels; nothing is known of earlier ones."""

    def fake(path, refusal=None):
        module = path and SimpleNamespace(attend=path, refusal=lambda query, parts: refusal)
        monkeypatch.setitem(sys.modules, FUSED, module)
        monkeypatch.setattr(attention, "fused", module, raising=False)
        if module is None:
            monkeypatch.delattr(attention, "fused")

    for cached in (attend._say_once, comparison.distrust):
        cached.cache_clear()
    yield fake
    comparison.distrust.cache_clear()


def choose(caplog, *queries):
    """Return the chosen ways and the warnings."""
    with caplog.at_level(logging.WARNING):
        chosen = [attend.choose_path(query, []) for query in queries]
    return chosen, [record.message for record in caplog.records]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_kernels_that_compute_the_same_are_used(install, caplog, dtype):
    def same(*given):
        return plain.attend(*given)

    install(same)
    assert choose(caplog, OnGPU(dtype)) == ([same], [])


def test_failing_kernels_are_tried_once_and_said_to_fail_once(install, caplog):
    calls = []

    def counted(*given):
        calls.append(given)
        failing()

    install(counted)
    chosen, warnings = choose(caplog, *[OnGPU()] * 3)
    assert chosen == [plain.attend] * 3
    assert warnings == [
        "relative attention runs in plain torch: the kernels fail (RuntimeError: no C compiler)"
    ]
    assert len(calls) == 1


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_kernels_that_differ_are_not_used(install, caplog, wrong, dtype):
    install(wrong)
    chosen, warnings = choose(caplog, OnGPU(dtype), OnGPU(dtype))
    assert chosen == [plain.attend] * 2
    assert len(warnings) == 1
    assert "the kernels differ from it by" in warnings[0]


def test_each_type_is_compared_by_itself(install, caplog):
    def only_in_single_precision(query, *given):
        return plain.attend(query, *given) * (1 if query.dtype == torch.float32 else 2)

    install(only_in_single_precision)
    chosen, warnings = choose(caplog, OnGPU(torch.float32), OnGPU(torch.float16))
    assert chosen == [only_in_single_precision, plain.attend]
    assert len(warnings) == 1


@pytest.mark.parametrize("path", [plain.attend, failing, wrong_result])
def test_the_random_state_stays(path):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    comparison.distrust.__wrapped__(path, CPU, torch.float32)
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_the_first_use_may_be_without_gradients(mode):
    with mode():
        assert comparison.distrust.__wrapped__(plain.attend, CPU, torch.float32) is None
        assert comparison.distrust.__wrapped__(wrong_gradient_of_the_key, CPU, torch.float32) is not None


def test_the_first_use_may_be_under_autocast():
    with torch.autocast("cpu", torch.bfloat16):
        assert comparison.distrust.__wrapped__(plain.attend, CPU, torch.float32) is None


def test_the_first_use_may_be_where_activations_are_recomputed():
    found = []

    def first_use(x):
        if not found:
            found.append(comparison.distrust.__wrapped__(plain.attend, CPU, torch.float32))
        return x.sin()

    x = torch.ones(3, requires_grad=True)
    checkpoint(first_use, x, use_reentrant=False).sum().backward()
    assert found == [None]
    torch.testing.assert_close(x.grad, torch.ones(3).cos())


def test_what_the_kernels_refuse_is_not_compared(install, caplog):
    install(failing, refusal="heads are larger than 128")
    assert choose(caplog, OnGPU()) == (
        [plain.attend],
        ["relative attention runs in plain torch: heads are larger than 128"],
    )


def test_without_triton_a_gpu_computes_in_plain_torch_and_says_so_once(install, caplog):
    install(None)
    chosen, warnings = choose(caplog, OnGPU(), OnGPU())
    assert chosen == [plain.attend] * 2
    assert [warning.partition(" (")[0] for warning in warnings] == [
        "relative attention runs in plain torch: Triton cannot be imported"
    ]
