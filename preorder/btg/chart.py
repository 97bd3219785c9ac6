"""All BTG trees of a sentence as one distribution: p(tree) is proportional to exp(score)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from preorder.btg.grammar import ROOT
from preorder.btg.kbest import ScoredTree, kbest_of_parts
from preorder.btg.viterbi import best_trees

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Chart:
    """The trees of equally long sentences of n tokens: the searches take arrays, the sums torch's tensors.

    Attributes:
        parts: float ``[batch, PARTS, LABELS, n + 1, n + 1]``; see :mod:`preorder.btg.scores`.
        root: context of the whole trees, ROOT but for a piece of a longer sentence.
    """

    parts: np.ndarray | torch.Tensor
    root: int = ROOT

    def argmax(self) -> np.ndarray:
        """Return the best tree of each sentence: int32 ``[batch, n - 1, NODE_FIELDS]``; O(n³) a sentence.

        Raises:
            NotFiniteError: a score is infinite or no number; so does :meth:`kbest`.
        """
        return best_trees(self.parts, self.root)

    def kbest(self, k: int) -> list[list[ScoredTree]]:
        """Return the best trees of each sentence's k best orders; see :func:`preorder.btg.kbest.kbest`."""
        return [kbest_of_parts(one, self.root, k) for one in self.parts]

    def log_partition(self, groups: torch.Tensor | None = None) -> torch.Tensor:
        """Return the log of the sum over trees of exp(score), ``[batch]``; differentiable.

        Args:
            groups: see :func:`preorder.btg.inside.log_partition`; None: all trees count.
        """
        from preorder.btg.inside import log_partition  # needs torch, as what follows

        return log_partition(self.parts, groups)

    def min_risk(self, partner: np.ndarray | None = None) -> Chart:
        """Return the chart whose best trees are those whose orders can be expected to agree best.

        Args:
            partner: int32 ``[batch, n]``, the positions that an ensemble partner gives, which count too.
        """
        from preorder.btg.risk import expected_agreement

        return Chart(expected_agreement(self.parts, partner), self.root)
