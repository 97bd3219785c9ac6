"""All BTG trees of a sentence as one distribution: p(tree) is proportional to exp(score).

A thin face over the algorithms of this package. ``argmax`` and ``kbest`` do without torch; the other
operations import it when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from preorder.btg.grammar import NODE_FIELDS, ROOT
from preorder.btg.kbest import ScoredTree, kbest
from preorder.btg.scores import allocate_scores, set_parts
from preorder.btg.viterbi import best_tree
from preorder.compiled import entry_point
from preorder.data.errors import NotFiniteError, require

if TYPE_CHECKING:
    import torch


class Chart:
    """The trees of equally long sentences of n tokens, and their scores."""

    def __init__(self, parts: np.ndarray | torch.Tensor, root: int = ROOT) -> None:
        """Make a chart of scores.

        Args:
            parts: float ``[batch, PARTS, LABELS, n + 1, n + 1]``; see :mod:`preorder.btg.scores`.
            root: the context of the whole trees, ROOT but for a piece of a longer sentence.
        """
        self._parts = parts
        self._root = root

    def argmax(self) -> np.ndarray:
        """Return the best tree of each sentence: int32 ``[batch, n - 1, NODE_FIELDS]``; O(n³) a sentence.

        Raises:
            NotFiniteError: a score is infinite or no number; so do all searches.
        """
        parts = self._array()
        trees = np.empty((len(parts), parts.shape[-1] - 2, NODE_FIELDS), np.int32)
        _best_trees(parts, self._root, trees)
        return trees

    def kbest(self, k: int) -> list[list[ScoredTree]]:
        """Return the best trees of each sentence's k best orders; see :func:`preorder.btg.kbest.kbest`."""
        parts = self._array()
        return [kbest(_scores(one), parts.shape[-1] - 1, self._root, k) for one in parts]

    def log_partition(self, groups: torch.Tensor | None = None) -> torch.Tensor:
        """Return the log of the sum over trees of exp(score), ``[batch]``.

        See :func:`preorder.btg.inside.log_partition`, of the constraint by ``groups`` too.
        """
        from preorder.btg import inside

        return inside.log_partition(self._tensor(), groups)

    def marginals(self) -> torch.Tensor:
        """Return the probability of each part, as ``parts``; see :func:`preorder.btg.inside.marginals`."""
        from preorder.btg import inside

        return inside.marginals(self._tensor())

    def expected_agreement(self, partner: np.ndarray | None = None) -> Chart:
        """Return the chart whose trees score the pairs of tokens that can be expected to be in order.

        See :func:`preorder.btg.risk.expected_agreement`.
        """
        from preorder.btg import risk

        parts = self._tensor()
        positions = None if partner is None else risk.torch.from_numpy(partner).to(parts.device)
        return Chart(risk.expected_agreement(parts, positions), self._root)

    def min_risk(self, partner: np.ndarray | None = None) -> np.ndarray:
        """Return the tree of each sentence whose order can be expected to agree best, as :meth:`argmax`.

        Args:
            partner: int32 ``[batch, n]``, the positions that an ensemble partner gives, which count too.
        """
        return self.expected_agreement(partner).argmax()

    def _array(self) -> np.ndarray:
        if isinstance(self._parts, np.ndarray):
            parts = np.ascontiguousarray(self._parts, np.float32)
        else:
            parts = self._parts.detach().float().contiguous().cpu().numpy()
        if not np.isfinite(parts).all():
            raise NotFiniteError("the scores")
        return parts

    def _tensor(self) -> torch.Tensor:
        if isinstance(self._parts, np.ndarray):
            return require("torch", "neural").from_numpy(self._parts)
        return self._parts


@entry_point
def _best_trees(parts, root, trees):
    n = parts.shape[-1] - 1
    scores = allocate_scores(n)
    for sentence in range(parts.shape[0] if n > 1 else 0):
        set_parts(parts[sentence], scores)
        best_tree(scores, n, root, trees[sentence])


@entry_point
def _scores(parts):
    scores = allocate_scores(parts.shape[-1] - 1)
    set_parts(parts, scores)
    return scores
