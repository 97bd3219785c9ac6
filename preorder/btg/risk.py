"""The order that can be expected to agree best: minimum Bayes risk under Kendall's tau.

Many trees give one order, and orders that are nearly right have much in common, of which the one best
tree knows nothing. What counts in the end is how many pairs of tokens are in the right order. Trees agree
on that with a probability that follows from the marginals of nodes; and the order with the greatest
expected number of agreements is that of the best tree under scores which, again, are sums of parts::

    node(b, m, e, straight) = sum over b <= i < m <= j < e of (1/2 - P(i, j are inverted))
                            = S(m, e) - S(b, e) + S(b, m) - S(m, m)
    node(b, m, e, inverted) = - node(b, m, e, straight)

where S(p, q) is the sum over i < p, j < q, since each pair of tokens is parted by one node.
"""

from __future__ import annotations

from preorder.btg.inside import FIRST, SECOND, WHOLE, marginals
from preorder.learning.backend import torch
from preorder.methods.perceptron.features import INVERTED, STRAIGHT

PREFERENCE = 1e-3
"""What the probability of a part counts, beside that of a pair: it decides between trees of one order."""

VOTE = 0.3
"""What another preorderer's word on a pair counts; the network's counts the rest."""


def inversions(probabilities: torch.Tensor) -> torch.Tensor:
    """Return with which probability a tree inverts tokens i < j: ``[batch, i, j]``, 0 elsewhere.

    An inverted node inverts the pairs of a rectangle, ``b <= i < m <= j < e``; the sum over all
    rectangles is found from their corners, by sums along i and j.

    Args:
        probabilities: the :func:`preorder.btg.inside.marginals`.
    """
    inverted = probabilities[:, :, INVERTED]
    corners = inverted[:, FIRST] + inverted[:, SECOND] - inverted[:, WHOLE]
    corners.diagonal(0, 1, 2).sub_(inverted[:, FIRST].sum(1))
    return corners.cumsum(1).cumsum(2)[:, :-1, :-1].triu(1)


def agreement(parts: torch.Tensor, advice: torch.Tensor | None = None) -> torch.Tensor:
    """Return parts, as ``parts``, by which a tree scores the agreement that can be expected of its order.

    The score is the expected number of pairs in the right order, less half the number of pairs; and
    ``PREFERENCE`` times the probabilities of its parts. Costs the marginals.

    Args:
        parts: of the network.
        advice: int ``[batch, n]``, numbers in the order that another preorderer gives the tokens. Its
            word counts ``VOTE``, the network's the rest.
    """
    probabilities = marginals(parts)
    inverted = inversions(probabilities)
    if advice is not None:
        inverted = inverted.lerp((advice[:, :, None] > advice[:, None]).to(inverted), VOTE)
    pairs = (0.5 - inverted).triu(1)
    sums = torch.nn.functional.pad(pairs.cumsum(1).cumsum(2), (1, 0, 1, 0))
    result = PREFERENCE * probabilities
    for label, sign in ((STRAIGHT, 1), (INVERTED, -1)):
        result[:, FIRST, label] += sign * (sums - sums.diagonal(0, 1, 2)[:, None])
        result[:, SECOND, label] += sign * sums
        result[:, WHOLE, label] -= sign * sums
    return result
