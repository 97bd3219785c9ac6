"""The order that can be expected to agree best: minimum Bayes risk under Kendall's tau.

Many trees give one order, and orders that are nearly right have much in common, of which the one best tree
knows nothing. What counts is how many pairs of tokens are in the right order. Trees agree on that with a
probability that follows from the marginals of nodes; and the order with the greatest expected number of
agreements is that of the best tree where each pair gains 1/2 - P(i, j are inverted) by its order.
"""

from __future__ import annotations

import numpy as np

from preorder.btg.grammar import INVERTED, STRAIGHT
from preorder.btg.inside import marginals
from preorder.btg.scores import FIRST, SECOND, WHOLE
from preorder.errors import require

torch = require("torch", "neural")

PREFERENCE = 1e-3
"""What the probability of a part counts, beside that of a pair: it decides between trees of one order."""

PARTNER_WEIGHT = 0.3
"""What the order of an ensemble partner counts; the probabilities count the rest."""


def inversions(probabilities: torch.Tensor) -> torch.Tensor:
    """Return by the marginals how probably a tree inverts tokens i < j: ``[batch, i, j]``, 0 elsewhere.

    An inverted node inverts the pairs of a rectangle, ``b <= i < m <= j < e``; the sum over all
    rectangles is found from their corners, by sums along i and j.
    """
    inverted = probabilities[:, :, INVERTED]
    corners = inverted[:, FIRST] + inverted[:, SECOND] - inverted[:, WHOLE]
    corners.diagonal(0, 1, 2).sub_(inverted[:, FIRST].sum(1))
    return corners.cumsum(1).cumsum(2)[:, :-1, :-1].triu(1)


def expected_agreement(parts: torch.Tensor, partner: np.ndarray | None = None) -> np.ndarray:
    """Return parts, float32 as ``parts``, by which a tree scores the agreement to be expected of its order.

    The score is the expected number of pairs in the right order, less half the number of pairs; and
    ``PREFERENCE`` times the probabilities of its parts. Costs the marginals.

    Args:
        parts: whose trees are expected, each with the probability that follows from its score.
        partner: int32 ``[batch, n]``, the positions that an ensemble partner gives, which count too.
    """
    probabilities = marginals(parts)
    inverted = inversions(probabilities)
    if partner is not None:
        given = torch.from_numpy(partner).to(parts.device)
        inverted = inverted.lerp((given[:, :, None] > given[:, None]).to(inverted), PARTNER_WEIGHT)
    gains = (0.5 - inverted).triu(1)
    sums = torch.nn.functional.pad(gains.cumsum(1).cumsum(2), (1, 0, 1, 0))
    result = PREFERENCE * probabilities
    for label, sign in ((STRAIGHT, 1), (INVERTED, -1)):
        result[:, FIRST, label] += sign * (sums - sums.diagonal(0, 1, 2)[:, None])
        result[:, SECOND, label] += sign * sums
        result[:, WHOLE, label] -= sign * sums
    return result.float().contiguous().cpu().numpy()
