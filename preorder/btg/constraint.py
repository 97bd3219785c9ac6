"""The constraint of an alignment on BTG trees, and whether some tree satisfies it.

A node is valid when no token of the child that it puts first belongs after one of the other child. Where
each token belongs is its target group (:mod:`preorder.alignment.gold`); tokens without one, or of the same
group, may go anywhere. Uncertain links constrain in a share of the draws: as often as their confidence says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.alignment.gold import UNALIGNED, trusted_groups
from preorder.btg.grammar import INVERTED, STRAIGHT
from preorder.btg.scores import node_index
from preorder.compiled import entry_point, inner
from preorder.data import Alignment, Bitext
from preorder.data.sentence import CERTAIN
from preorder.errors import UsageError


class Constraint(NamedTuple):
    """Where each token belongs, and how sure that is; of one sentence, or of several, one after another."""

    groups: np.ndarray  # int32, -1 for tokens that are free
    confidences: np.ndarray  # float64, above 0 and at most 1; 1 for tokens that are free

    def drawn(self, lengths: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return the groups, without those less confident than a threshold drawn for each sentence."""
        thresholds = np.repeat(generator.random(lengths.size), lengths)  # below 1
        return np.where(self.confidences > thresholds, self.groups, np.int32(UNALIGNED))


def constraint(alignment: Alignment, source_length: int) -> Constraint | None:
    """Return where each token belongs, so that some BTG tree satisfies it.

    Tokens that are less than certain, the least confident first, are freed where no tree gives what they ask
    for. Returns None where the certain ones ask for no one order, or for one that no tree gives.
    """
    while (trusted := trusted_groups(alignment, source_length)) is not None:
        asked, sure = np.array(trusted[0], np.int32), np.array(trusted[1])
        if reachable(asked):
            return Constraint(asked, sure)
        groups = np.where(sure == CERTAIN, asked, np.int32(UNALIGNED))
        if not reachable(groups):
            break
        for i in np.argsort(-sure, kind="stable"):
            groups[i] = asked[i]
            if not reachable(groups):  # without it, others may have an order
                others = {link: c for link, c in alignment.confidences().items() if link[0] != i}
                alignment = Alignment.weighted(others)
                break
    return None


def learnable(bitext: Bitext) -> tuple[Bitext, Constraint, dict[str, int]]:
    """Return the lines that a BTG model can learn from, their constraints, and counts of lines.

    They are ``trained`` on; ``skipped``, as no tree satisfies their alignment; ``trivial``, below two tokens.
    """
    lines = zip(bitext.sentences, bitext.alignments, strict=True)
    longer = [(i, s, a) for i, (s, a) in enumerate(lines) if len(s) > 1]
    asked = ((i, constraint(alignment, len(sentence))) for i, sentence, alignment in longer)
    found = [(i, one) for i, one in asked if one is not None]
    if not any(one.groups.max() > 0 for _, one in found):
        raise UsageError("no sentence has two tokens whose links ask for an order that a BTG tree has")
    trivial, skipped = len(bitext) - len(longer), len(longer) - len(found)
    chosen, constraints = zip(*found, strict=True)
    counts = {"trained": len(found), "skipped": skipped, "trivial": trivial}
    return bitext.take(chosen), Constraint(*map(np.concatenate, zip(*constraints, strict=True))), counts


@entry_point
def reachable(groups):
    """Say whether some BTG tree has valid nodes only; any valid split of a span will do. O(n²) at worst."""
    aligned = groups[groups >= 0]
    n = aligned.size
    low, high = np.empty(n, np.int32), np.empty(n, np.int32)  # of what lies left of a split
    stack = [(0, n)]
    while stack:
        begin, end = stack.pop()
        if end - begin < 2:
            continue
        low[begin] = high[begin] = aligned[begin]
        for i in range(begin + 1, end):
            low[i], high[i] = min(low[i - 1], aligned[i]), max(high[i - 1], aligned[i])
        split = -1
        lowest = highest = aligned[end - 1]
        for m in range(end - 1, begin, -1):
            lowest, highest = min(lowest, aligned[m]), max(highest, aligned[m])
            if high[m - 1] <= lowest or highest <= low[m - 1]:
                split = m
                break
        if split < 0:
            return False
        stack.append((begin, split))
        stack.append((split, end))
    return True


NONE_LOW, NONE_HIGH = 1 << 30, -1


class Bounds(NamedTuple):
    """Least and greatest target group in each span, ``NONE_LOW`` and ``NONE_HIGH`` where it has none."""

    low: np.ndarray  # [e, b], both
    high: np.ndarray


@inner
def group_bounds(groups):
    """Return the :class:`Bounds` of a sentence's target groups (-1: none)."""
    n = groups.size
    low = np.full((n + 1, n + 1), NONE_LOW, np.int32)
    high = np.full((n + 1, n + 1), NONE_HIGH, np.int32)
    for b in range(n):
        lowest, highest = NONE_LOW, NONE_HIGH
        for e in range(b + 1, n + 1):
            if groups[e - 1] >= 0:
                lowest, highest = min(lowest, groups[e - 1]), max(highest, groups[e - 1])
            low[e, b], high[e, b] = lowest, highest
    return Bounds(low, high)


@inner
def violations(bounds, nodes):
    """Count the nodes of a tree that violate the constraint."""
    count = 0
    for k in range(nodes.shape[0]):
        b, m, e = nodes[k, 0], nodes[k, 1], nodes[k, 2]
        if nodes[k, 3] == STRAIGHT:
            count += bounds.high[m, b] > bounds.low[e, m]
        else:
            count += bounds.high[e, m] > bounds.low[m, b]
    return count


@inner
def penalise(bounds, n, penalty, node):
    """Add a penalty to the score of every node that violates the groups."""
    low, high = bounds.low, bounds.high
    for e in range(2, n + 1):
        for m in range(1, e):
            first = node_index(m, e)
            lowest, highest = low[e, m], high[e, m]
            for b in range(m):
                if high[m, b] > lowest:
                    node[STRAIGHT, first + b] += penalty
                if highest > low[m, b]:
                    node[INVERTED, first + b] += penalty
