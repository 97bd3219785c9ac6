"""The recursion of a recursive neural network, height by height.

    p = relu([p_left; p_right] W + b)            (Kawara et al. 2021, equation 8)

Every vector is used by at most one node, its parent, so that the gradient is as easily computed by height.
"""

from __future__ import annotations

from typing import Any

from preorder.learning.backend import torch


def compose(
    leaves: torch.Tensor, biases: torch.Tensor, weight: torch.Tensor, children: torch.Tensor, sizes: list[int]
) -> torch.Tensor:
    """Return the vectors of all nodes, ``[nodes, size]``; differentiable once.

    O(nodes · size²): one matrix product for each height, and one more for the gradient; the gradient of
    the weight is a single product.

    Args:
        leaves: vectors of the tokens, ``[tokens, size]``.
        biases: b of each node, ``[nodes, size]``.
        weight: W, ``[2 · size, size]``.
        children: int64 ``[nodes, 2]``, as in :class:`.batch.Minibatch`.
        sizes: number of nodes of each height, as there.
    """
    return _Compose.apply(leaves, biases, weight, children, sizes)


class _Compose(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        leaves: torch.Tensor,
        biases: torch.Tensor,
        weight: torch.Tensor,
        children: torch.Tensor,
        sizes: list[int],
    ) -> torch.Tensor:
        vectors = leaves.new_empty((len(leaves) + len(biases), leaves.shape[1]))
        vectors[: len(leaves)] = leaves
        first = 0
        for size in sizes:
            nodes = slice(first, first + size)
            below = vectors[children[nodes].flatten()].view(size, -1)
            vectors[len(leaves) + first :][:size] = torch.addmm(biases[nodes], below, weight).relu_()
            first += size
        ctx.save_for_backward(vectors, weight, children)
        ctx.sizes = sizes
        return vectors[len(leaves) :]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        vectors, weight, children = ctx.saved_tensors
        tokens = len(vectors) - len(children)
        below = vectors.new_zeros(vectors.shape)
        below[tokens:] = gradient
        last = len(vectors)
        for size in reversed(ctx.sizes):
            nodes = slice(last - size, last)
            below[nodes].masked_fill_(vectors[nodes] <= 0, 0)
            parts = (below[nodes] @ weight.T).view(2 * size, -1)
            below.index_add_(0, children[last - size - tokens : last - tokens].flatten(), parts)
            last -= size
        of_weight = vectors[children.flatten()].view(len(children), -1).T @ below[tokens:]
        return below[:tokens], below[tokens:], of_weight, None, None
