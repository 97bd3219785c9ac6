"""Fused kernels are used only where they compute what plain torch computes; kernels are faked here."""

import logging
import sys
from types import SimpleNamespace

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from onmt_preorder.transformer import attention
from onmt_preorder.transformer.attention import gpu, plain
from onmt_preorder.transformer.attention.gpu import comparison

CPU = torch.device("cpu")
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
REASON = "relative attention runs in plain torch: "


def with_another_gradient(x):
    """Return the same numbers, whose gradient is 1.5 times as large."""
    return x + (x - x.detach()) / 2


def same(*given):
    return plain.attend(*given)


def failing(*_):
    raise RuntimeError("no C compiler\nand more lines")


def wrong_result(*given):
    return plain.attend(*given) * 1.1


def not_a_number(*given):
    result = plain.attend(*given)
    return result.masked_fill(torch.ones_like(result, dtype=torch.bool).triu(60), float("nan"))


def wrong_gradient_of_the_key(query, key, *given):
    return plain.attend(query, with_another_gradient(key), *given)


def wrong_gradient_of_a_table(query, key, value, lengths, parts, dropout):
    last = parts[-1]
    changed = type(last)(last.positions, last.keys, with_another_gradient(last.values))
    return plain.attend(query, key, value, lengths, [*parts[:-1], changed], dropout)


def in_single_precision_alone(query, *given):
    return plain.attend(query, *given) * (1 if query.dtype == torch.float32 else 2)


@pytest.fixture
def choose(monkeypatch, caplog):
    """Install fake kernels; return what is chosen for queries of these types, and the warnings."""

    def choose(path, *dtypes, refusal=None):
        module = path and SimpleNamespace(attend=path, refusal=lambda query, parts: refusal)
        monkeypatch.setitem(sys.modules, f"{gpu.__name__}.fused", module)
        monkeypatch.setattr(gpu, "fused", module, raising=False)
        if module is None:
            monkeypatch.delattr(gpu, "fused")
        with caplog.at_level(logging.WARNING):
            # As much of tensors on a GPU as the choice looks at.
            queries = [SimpleNamespace(is_cuda=True, device=CPU, dtype=dtype) for dtype in dtypes]
            chosen = [attention.choose_path(query, []) for query in queries]
        return chosen, [record.message for record in caplog.records]

    for cached in (attention._warn_once, comparison.distrust):
        cached.cache_clear()
    yield choose
    comparison.distrust.cache_clear()


@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_that_compute_the_same_are_used(choose, dtype):
    assert choose(same, dtype) == ([same], [])


def test_failing_kernels_are_tried_once_and_said_to_fail_once(choose):
    calls = []

    def counted(*given):
        calls.append(given)
        failing()

    chosen, warnings = choose(counted, *[torch.float32] * 3)
    assert chosen == [plain.attend] * 3
    assert warnings == [f"{REASON}the kernels fail (RuntimeError: no C compiler)"]
    assert len(calls) == 1


@pytest.mark.parametrize(
    "wrong", [wrong_result, not_a_number, wrong_gradient_of_the_key, wrong_gradient_of_a_table]
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_that_differ_are_not_used(choose, wrong, dtype):
    chosen, (warning,) = choose(wrong, dtype, dtype)
    assert chosen == [plain.attend] * 2
    assert warning.startswith(f"{REASON}the kernels differ from it by")


def test_each_type_is_compared_by_itself(choose):
    chosen, (_,) = choose(in_single_precision_alone, torch.float32, torch.float16)
    assert chosen == [in_single_precision_alone, plain.attend]


def test_refused_or_missing_kernels_are_not_compared(choose):
    refused = choose(failing, torch.float32, refusal="heads are larger than 128")
    assert refused == ([plain.attend], [f"{REASON}heads are larger than 128"])
    chosen, (_, warning) = choose(None, torch.float32, torch.float32)
    assert chosen == [plain.attend] * 2
    assert warning.startswith(f"{REASON}Triton cannot be imported (")


@pytest.mark.parametrize("path", [plain.attend, failing, wrong_result])
def test_the_random_state_stays(path):
    before = torch.get_rng_state()
    comparison.distrust.__wrapped__(path, CPU, torch.float32)
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize(
    "mode", [torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu", torch.bfloat16)]
)
def test_the_first_use_may_be_anywhere(mode):
    with mode():
        assert comparison.distrust.__wrapped__(plain.attend, CPU, torch.float32) is None
        assert comparison.distrust.__wrapped__(wrong_gradient_of_the_key, CPU, torch.float32) is not None


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
