"""Whether fused kernels compute what plain torch computes, on the device at hand.

Kernels depend on the GPU, its driver and Triton's version, which nobody has tested in every combination.
So before they are first used on a device in a type, one small random case goes both ways.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf, isnan

import torch
from torch import Tensor

from onmt_preorder.transformer.attention import plain
from onmt_preorder.transformer.attention.relative_positions import Positions, RelativePart

# So much that a GPU gets blocks of the usual size, and more than one; and that both ends of a table are used.
_BATCH, _HEADS, _LENGTH, _SIZE, _LIMIT = 2, 2, 70, 64, 4


@cache
def distrust(attend: Callable[..., Tensor], device: torch.device, dtype: torch.dtype) -> str | None:
    """Return why kernels are not to be trusted on a device, None if they are.

    The result and all gradients of ``attend`` are compared with those of plain torch in float64. The random
    state and what is being recorded for a backward pass stay as they are.
    """
    try:
        # The first use may be anywhere: in evaluation, under autocast, in a pass that recomputes activations.
        with (
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.autocast(device.type, enabled=False),
            torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved),
        ):
            found, expected = _both(attend, device, dtype)
            errors = [_error(*pair) for pair in zip(found, expected, strict=True)]
    except Exception as error:  # a compiler, a driver or a kernel may fail in any way
        return f"the kernels fail ({type(error).__name__}: {str(error).strip().partition(chr(10))[0]})"
    worst, bound = max(errors), _bound(dtype)
    return None if worst <= bound else f"the kernels differ from it by {worst:.2g} in {dtype}"


def _both(
    attend: Callable[..., Tensor], device: torch.device, dtype: torch.dtype
) -> tuple[list[Tensor], list[Tensor]]:
    """Return result and gradients of the kernels, and of plain torch, on the same numbers."""
    generator = torch.Generator().manual_seed(1)
    lengths = torch.tensor([_LENGTH, _LENGTH // 2]).to(device)
    preordered = torch.stack([_order(_LENGTH, generator), _order(_LENGTH // 2, generator)])
    positions = [Positions(p.to(device)) for p in (torch.arange(_LENGTH).unsqueeze(0), preordered)]
    states = [torch.randn(_BATCH, _HEADS, _LENGTH, _SIZE, generator=generator) for _ in range(4)]
    tables = [torch.randn(2 * _LIMIT + 1, _SIZE, generator=generator) for _ in range(4)]
    rounded = [tensor.to(device, dtype) for tensor in (*states, *tables)]
    results = []
    for path, kind in ((attend, dtype), (plain.attend, torch.float64)):
        direction, *inputs = [tensor.to(kind).clone() for tensor in rounded]
        inputs = [tensor.requires_grad_() for tensor in inputs]
        (query, key, value), keys, values = inputs[:3], inputs[3:5], inputs[5:]
        parts = [RelativePart(*part) for part in zip(positions, keys, values, strict=True)]
        result = path(query, key, value, lengths, parts, 0.0)
        results.append([result.detach(), *torch.autograd.grad(result, inputs, direction)])
    return results[0], results[1]


def _order(length: int, generator: torch.Generator) -> Tensor:
    """Return a random order of a sentence's tokens, padding behind them."""
    return torch.cat((torch.randperm(length, generator=generator), torch.arange(length, _LENGTH)))


def _error(found: Tensor, expected: Tensor) -> float:
    """Return the largest difference relative to the largest number; infinity if that is none."""
    error = ((found.double() - expected).abs().max() / expected.abs().max()).item()
    return inf if isnan(error) else error


def _bound(dtype: torch.dtype) -> float:
    """Return how far rounding alone may take them apart."""
    if dtype != torch.float32:
        return 8 * torch.finfo(dtype).eps
    if torch.get_float32_matmul_precision() == "highest":
        return 200 * torch.finfo(dtype).eps
    return 8 * torch.finfo(torch.float16).eps  # products of tf32, which has as many bits
