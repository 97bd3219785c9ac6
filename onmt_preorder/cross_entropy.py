"""Log probabilities behind a linear layer, and their gradients, a block of tokens at a time.

Why: logits of all tokens of a batch, their softmax and their gradients are some hundred megabytes, which pass
between processor and memory ten times. Those of a block stay in the processor's cache, and what the layer's
gradients need of them is computed at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from onmt_preorder.bfloat16_linear import ROWS, filled_up
from onmt_preorder.softmax import log_probabilities, replace_by_gradient

LOGITS = 2**22
"""Logits a block, at most: those of 500 tokens and 8,000 words."""


@dataclass(frozen=True)
class Goal:
    """What a token's distribution is to be.

    Attributes:
        targets: ``(t,)`` the words.
        ignored: the word whose tokens are left out: padding.
        smoothing: the share of the probability that all words of the vocabulary have in equal parts.
    """

    targets: Tensor
    ignored: int
    smoothing: float = 0.0


def linear_cross_entropy(
    states: Tensor, layer: nn.Linear, goal: Goal, precision: torch.dtype
) -> tuple[Tensor, int]:
    """Return the cross entropy, summed over the tokens, and how many words the layer predicts.

    Args:
        states: ``(t, d)``.
        layer: from states to logits ``(t, words)``.
        goal: of each token.
        precision: of the products of matrices; sums over words are float32 in any.

    Cost: ``3 t d words`` multiplications with the gradients; memory for ``LOGITS`` besides these.
    """
    kept = goal.targets != goal.ignored
    words = goal.targets[kept].unsqueeze(1)
    weights = torch.full(words.shape, 1 - goal.smoothing)
    loss, correct = _WeightedSum.apply(
        *_inputs(states[kept], layer), Weighted(words, weights, goal.smoothing), precision
    )
    return loss, int(correct)


@dataclass(frozen=True)
class Weighted:
    """Words whose log probabilities are summed.

    Attributes:
        words: ``(t, k)`` of each token.
        weights: ``(t, k)`` float32.
        smoothing: the weight, in equal parts, of all words of the vocabulary.
    """

    words: Tensor
    weights: Tensor
    smoothing: float = 0.0


def weighted_sum(states: Tensor, layer: nn.Linear, weighted: Weighted, precision: torch.dtype) -> Tensor:
    """Return the weighted sum of log probabilities; arguments and cost are those of the cross entropy."""
    return -_WeightedSum.apply(*_inputs(states, layer), weighted, precision)[0]


@torch.no_grad()
def linear_log_probabilities(
    states: Tensor, layer: nn.Linear, words: Tensor, precision: torch.dtype
) -> Tensor:
    """Return the log probabilities, ``(t, k)`` float32, of words ``(t, k)``, without a graph."""
    weight, bias = _lowered(layer.weight, layer.bias, precision=precision)
    found = torch.empty(words.shape, dtype=torch.float32)
    for block in _blocks(len(states), layer.out_features):
        part = filled_up(states[block], precision)
        logits = functional.linear(part, weight, bias)[: len(words[block])]
        found[block] = log_probabilities(logits, words[block])
    return found


def _inputs(states: Tensor, layer: nn.Linear) -> tuple[Tensor | None, ...]:
    inputs = states, layer.weight, layer.bias
    if not torch.is_grad_enabled():  # in validation; what is asked for within does not tell
        return tuple(None if tensor is None else tensor.detach() for tensor in inputs)
    return inputs


def _lowered(*tensors: Tensor | None, precision: torch.dtype) -> list[Tensor | None]:
    return [None if tensor is None else tensor.to(precision) for tensor in tensors]


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
        weighted: Weighted,
        precision: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        inputs = states, weight, bias
        with torch.autocast(states.device.type, enabled=False):
            low = _lowered(*inputs, precision=precision)
            gradients = [
                None if tensor is None or not needed else torch.zeros_like(tensor, dtype=torch.float32)
                for tensor, needed in zip(inputs, ctx.needs_input_grad, strict=False)
            ]
            loss, correct = 0.0, 0
            for block in _blocks(len(states), len(weight)):
                part, words = filled_up(low[0][block], precision), weighted.words[block]
                logits = functional.linear(part, low[1], low[2])
                of_words = logits[: len(words)], words, weighted.weights[block]
                sums = replace_by_gradient(*of_words, weighted.smoothing, any(ctx.needs_input_grad))
                loss, correct = loss + sums.loss, correct + sums.right
                _add_gradients(gradients, block, logits, part, low[1], sums.gradient)
        ctx.gradients = gradients
        correct = torch.tensor(correct)
        ctx.mark_non_differentiable(correct)
        return torch.tensor(loss, dtype=torch.float32), correct

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        gradients, ctx.gradients = ctx.gradients, None
        return (*(None if gradient is None else gradient.mul_(of_loss) for gradient in gradients), None, None)


def _add_gradients(
    gradients: list[Tensor | None],
    block: slice,
    of_logits: Tensor,
    states: Tensor,
    weight: Tensor,
    of_bias: Tensor,
) -> None:
    """Add a block's part to the gradients of states, weight and bias, where they are wanted.

    States and logits may have further rows, which no token stands for: there the states are 0.
    """
    if gradients[2] is not None:
        gradients[2] += of_bias
    of_states, of_weight, _ = gradients
    if of_states is not None:
        of_tokens = of_states[block]
        of_tokens.copy_((of_logits @ weight)[: len(of_tokens)])
    if of_weight is not None:
        of_weight += of_logits.T @ states
