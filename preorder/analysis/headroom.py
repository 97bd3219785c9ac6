"""Order headroom: what a translation would score if its words stood in the best order.

The words of a hypothesis are matched with equal words of the reference, one to one. The best order puts them
where their partners stand; the best BTG order is the nearest to it that a BTG tree over the hypothesis gives.
No word changes, so what is left is words: missing, too many, or others. The gain is a lower bound of what
the best of all permutations reaches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from preorder.btg.grammar import INVERTED, STRAIGHT
from preorder.btg.scores import FIRST, PARTS, SECOND, WHOLE
from preorder.btg.viterbi import all_positions, best_trees
from preorder.compiled import entry_point

LONGEST = 256  # words of a hypothesis whose best BTG order is looked for; longer ones keep theirs


def reorder_translations(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Return each hypothesis in its best order, and in its best BTG order. O(m³) for m words.

    Of several references the one with most matching words counts.
    """
    best, best_btg = [], []
    for hypothesis, *others in zip(hypotheses, *references, strict=True):
        words = hypothesis.split()
        matches = max((match(words, other.split()) for other in others), key=lambda found: (found >= 0).sum())
        for lines, order in ((best, best_order(matches)), (best_btg, best_btg_order(matches))):
            lines.append(" ".join(words[index] for index in order))
    return best, best_btg


def match(hypothesis: Sequence[str], reference: Sequence[str]) -> np.ndarray:
    """Return for each word of a hypothesis the index of its partner in the reference, or -1.

    There are as many pairs of equal words as there can be. Pairs in the longest common context are
    chosen first, then those that cross the fewest chosen ones.
    """
    numbers: dict[str, int] = {}
    encoded = [
        np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)
        for words in (hypothesis, reference)
    ]
    return _match(*encoded)


def best_order(matches: np.ndarray) -> np.ndarray:
    """Return the indices of a hypothesis's words in their best order, given what :func:`match` returns.

    A word without a partner stays behind the word that precedes it; before all at the beginning.
    """
    return np.argsort(_ranks(matches), kind="stable")


def best_btg_order(matches: np.ndarray) -> np.ndarray:
    """Return the indices in the order of a BTG tree with most pairs of partners in the right order."""
    ranks = _ranks(matches)
    heads = np.flatnonzero((matches >= 0) | (np.arange(len(matches)) == 0))
    if not 2 <= len(heads) <= LONGEST:
        return np.arange(len(matches))
    of_heads = ranks[heads]
    gains = np.triu(np.sign(of_heads[None, :] - of_heads[:, None]), 1).astype(np.float32)
    sums = np.pad(gains.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    parts = np.zeros((1, PARTS, 2, *sums.shape), np.float32)
    for label, sign in ((STRAIGHT, 1), (INVERTED, -1)):
        parts[0, FIRST, label] = sign * (sums - np.diag(sums))
        parts[0, SECOND, label] = sign * sums
        parts[0, WHOLE, label] = -sign * sums
    positions = np.empty((1, len(heads)), np.int32)
    all_positions(best_trees(parts), positions)
    units = np.split(np.arange(len(matches)), heads[1:])
    return np.concatenate([units[index] for index in np.argsort(positions[0])])


def _ranks(matches: np.ndarray) -> np.ndarray:
    """Return the index of each word's partner, or of the partner of the word before; -1 before all."""
    last = np.maximum.accumulate(np.where(matches >= 0, np.arange(len(matches)), -1))
    return np.where(last >= 0, matches[last], -1)


@entry_point
def _match(hypothesis: np.ndarray, reference: np.ndarray) -> np.ndarray:
    m, n = len(hypothesis), len(reference)
    context = np.zeros((m + 2, n + 2), np.int64)  # [i + 1, j + 1]: of the pair i, j; 0: other words
    for i in range(m):
        for j in range(n):
            if hypothesis[i] == reference[j]:
                context[i + 1, j + 1] = context[i, j] + 1
    for i in range(m, 0, -1):  # a run of pairs has the length that it has at its end
        for j in range(n, 0, -1):
            if context[i, j] > 0 and context[i + 1, j + 1] > context[i, j]:
                context[i, j] = context[i + 1, j + 1]
    crossings = np.zeros((m, n), np.int64)
    partners = np.full(m, -1)
    while True:
        chosen, best = (-1, -1), (0, 0, 0)
        for i in range(m):
            for j in range(n):
                if context[i + 1, j + 1] > 0:
                    value = (context[i + 1, j + 1], -crossings[i, j], -abs(i * n - j * m))
                    if chosen[0] < 0 or value > best:
                        chosen, best = (i, j), value
        if chosen[0] < 0:
            return partners
        row, column = chosen
        partners[row] = column
        context[row + 1, :] = 0
        context[:, column + 1] = 0
        for i in range(m):
            for j in range(n):
                crossings[i, j] += (i < row) == (j > column)
