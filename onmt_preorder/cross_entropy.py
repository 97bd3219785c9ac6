"""The cross entropy behind a linear layer, a block of tokens at a time.

Why: logits of all tokens of a batch, their softmax and their gradients are some hundred megabytes, which pass
between processor and memory ten times. Those of a block stay in the processor's cache, and what the layer's
gradients need of them is computed at once. With 8,000 words and 128 values a token, loss and gradients take
half of the time on a CPU, in bfloat16 a third.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from onmt_preorder.bfloat16_linear import filled_up

BLOCK = 128
"""Tokens a block: with 8,000 words their logits take 4 MB, which a cache holds."""


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

    Cost: ``3 t d words`` multiplications with the gradients; memory ``BLOCK × words`` besides these.
    """
    kept = goal.targets != goal.ignored
    goal = Goal(goal.targets[kept], goal.ignored, goal.smoothing)
    inputs = states[kept], layer.weight, layer.bias
    if not torch.is_grad_enabled():  # in validation; what is asked for within does not tell
        inputs = tuple(None if tensor is None else tensor.detach() for tensor in inputs)
    loss, correct = _CrossEntropy.apply(*inputs, goal, precision)
    return loss, int(correct)


class _CrossEntropy(torch.autograd.Function):
    """Computes the gradients together with the loss, and multiplies them by the loss's own when asked."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None, goal: Goal, precision: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        inputs = states, weight, bias
        with torch.autocast(states.device.type, enabled=False):
            low = [None if tensor is None else tensor.to(precision) for tensor in inputs]
            gradients = [
                None if tensor is None or not needed else torch.zeros_like(tensor, dtype=torch.float32)
                for tensor, needed in zip(inputs, ctx.needs_input_grad, strict=False)
            ]
            loss, correct = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.int64)
            for begin in range(0, len(states), BLOCK):
                block = slice(begin, begin + BLOCK)
                part, targets = filled_up(low[0][block], precision), goal.targets[block]
                logits = functional.linear(part, low[1], low[2])[: len(targets)]
                total, right, of_logits = _loss_and_gradient(logits, targets, goal.smoothing)
                loss, correct = loss + total, correct + right
                _add_gradients(gradients, block, of_logits, part, low[1])
        ctx.gradients = gradients
        ctx.mark_non_differentiable(correct)
        return loss.to(torch.float32), correct

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        gradients, ctx.gradients = ctx.gradients, None
        return (*(None if gradient is None else gradient.mul_(of_loss) for gradient in gradients), None, None)


def _loss_and_gradient(logits: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return the loss of a block, the number of words predicted, and the gradient of the logits, float32."""
    words, index = logits.shape[1], targets.unsqueeze(1)
    exact = logits.to(torch.float32)
    highest, best = exact.max(1, keepdim=True)
    of_target = exact.gather(1, index)
    mean = exact.mean(1, keepdim=True) if smoothing else 0.0
    shares = (exact - highest).exp_()
    total = shares.sum(1, keepdim=True)
    losses = total.log() + highest - (1 - smoothing) * of_target - smoothing * mean
    shares.div_(total).sub_(smoothing / words)
    shares.scatter_add_(1, index, shares.new_full((1, 1), smoothing - 1).expand_as(index))
    return losses.sum(dtype=torch.float64), (best == index).sum(), shares


def _add_gradients(
    gradients: list[Tensor | None], block: slice, of_logits: Tensor, states: Tensor, weight: Tensor
) -> None:
    """Add a block's part to the gradients of states, weight and bias, where they are wanted.

    The states may have more rows than the gradient of the logits: zeros.
    """
    of_states, of_weight, of_bias = gradients
    if of_bias is not None:
        of_bias += of_logits.sum(0)
    low = filled_up(of_logits, weight.dtype)
    if of_states is not None:
        of_states[block] = (low @ weight)[: len(of_logits)]
    if of_weight is not None:
        of_weight += low.T @ states
