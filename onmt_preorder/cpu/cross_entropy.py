"""Log probabilities behind a linear layer, and their gradients, a block of tokens at a time.

Why: logits of all tokens of a batch, their softmax and their gradients are some hundred megabytes, which pass
between processor and memory ten times. Those of a block stay in the processor's cache, and what the layer's
gradients need of them is computed at once.

States are ``(t, d)``, words ``(t, k)``. ``precision`` is that of the products of matrices; sums over words
are float32 in any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from onmt_preorder.cpu.bfloat16_linear import ROWS, filled_up
from onmt_preorder.cpu.softmax import log_probabilities, replace_by_gradient

LOGITS = 2**22
"""Logits a block, at most: those of 500 tokens and 8,000 words."""


def linear_cross_entropy(
    states: Tensor, layer: nn.Linear, targets: Tensor, ignored: int, smoothing: float, precision: torch.dtype
) -> tuple[Tensor, int]:
    """Return the cross entropy, summed over the tokens, and how many ``targets (t,)`` the layer predicts.

    Tokens whose target is ``ignored`` are left out. All words of the vocabulary have the share ``smoothing``
    of the probability, in equal parts. Cost: ``3 t d words`` multiplications with the gradients; memory for
    ``LOGITS`` besides these.
    """
    kept = targets != ignored
    words = targets[kept].unsqueeze(1)
    weights = torch.full(words.shape, 1 - smoothing)
    loss, correct = _WeightedSum.apply(*_inputs(states[kept], layer), words, weights, smoothing, precision)
    return loss, int(correct)


def weighted_sum(
    states: Tensor, layer: nn.Linear, words: Tensor, weights: Tensor, precision: torch.dtype
) -> Tensor:
    """Return the sum of the words' log probabilities by float32 ``weights (t, k)``."""
    return -_WeightedSum.apply(*_inputs(states, layer), words, weights, 0.0, precision)[0]


@torch.no_grad()
def linear_log_probabilities(
    states: Tensor, layer: nn.Linear, words: Tensor, precision: torch.dtype
) -> Tensor:
    """Return the log probabilities, ``(t, k)`` float32, of the words, without a graph."""
    weight, bias = layer.weight.to(precision), _lowered(layer.bias, precision)
    found = torch.empty(words.shape, dtype=torch.float32)
    for block in _blocks(len(states), layer.out_features):
        part = filled_up(states[block], precision)
        logits = functional.linear(part, weight, bias)[: len(words[block])]
        found[block] = log_probabilities(logits, words[block])
    return found


def _inputs(states: Tensor, layer: nn.Linear) -> list[Tensor | None]:
    inputs = states, layer.weight, layer.bias
    # Validation needs no gradients, but within the function needs_input_grad does not say so.
    is_training = torch.is_grad_enabled()
    return [tensor if tensor is None or is_training else tensor.detach() for tensor in inputs]


def _lowered(bias: Tensor | None, precision: torch.dtype) -> Tensor | None:
    return None if bias is None else bias.to(precision)


def _blocks(tokens: int, words: int) -> Iterator[slice]:
    """Yield blocks of tokens whose number is a multiple of ``ROWS``, or less."""
    size = max(1, LOGITS // (words * ROWS)) * ROWS
    return (slice(begin, begin + size) for begin in range(0, tokens, size))


class _WeightedSum(torch.autograd.Function):
    """Computes the gradients together with the loss, and multiplies them by the loss's own when asked."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        words: Tensor,
        weights: Tensor,
        smoothing: float,
        precision: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        inputs, wanted = (states, weight, bias), ctx.needs_input_grad[:3]
        loss, right = 0.0, 0
        with torch.autocast(states.device.type, enabled=False):
            low_states, low_weight = states.to(precision), weight.to(precision)
            low_bias = _lowered(bias, precision)
            ctx.gradients = [
                torch.zeros_like(tensor, dtype=torch.float32) if tensor is not None and is_wanted else None
                for tensor, is_wanted in zip(inputs, wanted, strict=True)
            ]
            of_states, of_weight, of_bias = ctx.gradients
            for block in _blocks(len(states), len(weight)):
                # Rows that fill up the last block stand for no token: their states are 0.
                part, tokens = filled_up(low_states[block], precision), len(words[block])
                logits = functional.linear(part, low_weight, low_bias)
                sums = replace_by_gradient(
                    logits[:tokens], words[block], weights[block], smoothing, gradient=any(wanted)
                )
                loss, right = loss + sums.loss, right + sums.right
                if of_states is not None:
                    of_states[block] = (logits @ low_weight)[:tokens]
                if of_weight is not None:
                    of_weight += logits.T @ part
                if of_bias is not None:
                    of_bias += sums.gradient
        correct = torch.tensor(right)
        ctx.mark_non_differentiable(correct)
        return torch.tensor(loss, dtype=torch.float32), correct

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        gradients, ctx.gradients = ctx.gradients, None
        return (
            *(None if gradient is None else gradient.mul_(of_loss) for gradient in gradients),
            *(None,) * 4,
        )
