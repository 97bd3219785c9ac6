"""What the constraints of a minibatch take from the log weights of nodes; for :mod:`preorder.btg.inside`.

A node that certain links forbid weighs nothing. Where links are less than certain, a node weighs exp(-K)
times as much, by its K of :mod:`preorder.btg.evidence`.
"""

from __future__ import annotations

from typing import NamedTuple

from preorder.btg.bands import first_children, second_children
from preorder.btg.evidence import UNBEARABLE
from preorder.btg.grammar import INVERTED, STRAIGHT
from preorder.btg.scores import FORBIDDEN
from preorder.data.errors import require

torch = require("torch", "neural")


class Penalties(NamedTuple):
    """The constraints of equally long sentences.

    ``low`` and ``high`` are the least and greatest group in each span, ``[batch, 1, b, e]``, and by end,
    ``[batch, 1, e, b]``. ``above`` and ``below`` are as in :class:`preorder.btg.evidence.Sums`,
    ``[batch, x * (n + 1) + v]``; None where all links are certain.
    """

    low: torch.Tensor
    high: torch.Tensor
    low_by_end: torch.Tensor
    high_by_end: torch.Tensor
    above: torch.Tensor | None = None
    below: torch.Tensor | None = None

    @classmethod
    def of(cls, groups: torch.Tensor, evidence: torch.Tensor | None) -> Penalties:
        """Make them of target groups and the evidence of tokens, ``[batch, n]``; None: all are certain."""
        bounds = _bounds(groups)
        return cls(*bounds) if evidence is None else cls(*bounds, *_sums(groups, evidence))

    def take_from(self, nodes: torch.Tensor, width: int) -> None:
        """Change the log weights of the nodes of a width, ``[batch, label, b, m - b - 1]``, in place."""
        if self.above is None:
            wrong = first_children(self.high, width) > second_children(self.low_by_end, width)
            nodes[:, STRAIGHT].masked_fill_(wrong[:, 0], float(FORBIDDEN))
            wrong = second_children(self.high_by_end, width) > first_children(self.low, width)
            nodes[:, INVERTED].masked_fill_(wrong[:, 0], float(FORBIDDEN))
            return
        for label, k in ((STRAIGHT, self._straight(width)), (INVERTED, self._inverted(width))):
            nodes[:, label].sub_(k).masked_fill_(k >= UNBEARABLE, float(FORBIDDEN))

    def _straight(self, width: int) -> torch.Tensor:
        """Return K of the straight nodes of a width: ``[batch, b, m - b - 1]``."""
        b, m, e = self._boundaries(width)
        low, high = second_children(self.low_by_end, width)[:, 0], first_children(self.high, width)[:, 0]
        left, right = self._between(self.above, b, m, low), self._between(self.below, m, e, high)
        return torch.minimum(left, right)

    def _inverted(self, width: int) -> torch.Tensor:
        """Return K of the inverted nodes of a width."""
        b, m, e = self._boundaries(width)
        low, high = first_children(self.low, width)[:, 0], second_children(self.high_by_end, width)[:, 0]
        left, right = self._between(self.below, b, m, high), self._between(self.above, m, e, low)
        return torch.minimum(left, right)

    def _boundaries(self, width: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        b = torch.arange(self.low.shape[-1] - width, device=self.low.device)[:, None]
        return b, b + torch.arange(1, width, device=b.device), b + width

    def _between(
        self, sums: torch.Tensor, begin: torch.Tensor, end: torch.Tensor, group: torch.Tensor
    ) -> torch.Tensor:
        """Return the evidence of the tokens between two boundaries, above or below a group."""
        size = self.low.shape[-1]
        group = group.clamp(0, size - 1)
        upto = (sums.gather(1, (x * size + group).flatten(1)) for x in (end, begin))
        return torch.sub(*upto).view(group.shape)


def _bounds(groups: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the first fields of :class:`Penalties`.

    A span without any group has a least one greater, a greatest one less, than all.
    """
    batch, n = groups.shape
    inside = torch.ones((n, n), dtype=torch.bool, device=groups.device).triu() & (groups >= 0)[:, None]
    low, high = (groups.new_full((batch, 1, n + 1, n + 1), none) for none in (n + 1, -1))
    low[:, 0, :n, 1:] = torch.where(inside, groups[:, None], n + 1).cummin(2).values
    high[:, 0, :n, 1:] = torch.where(inside, groups[:, None], -1).cummax(2).values
    return low, high, low.mT.contiguous(), high.mT.contiguous()


def _sums(groups: torch.Tensor, evidence: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the last fields of :class:`Penalties`."""
    values = torch.arange(groups.shape[1] + 1, device=groups.device)
    given = groups[..., None]
    each = (given > values, (given < values) & (given >= 0))
    sums = (torch.where(which, evidence[..., None], 0).cumsum(1) for which in each)
    return tuple(torch.nn.functional.pad(one, (0, 0, 1, 0)).flatten(1) for one in sums)
