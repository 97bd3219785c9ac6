"""The definitions in plain Python: every tree, every template, one by one."""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from preorder.methods.perceptron import features
from preorder.methods.perceptron.features import (
    CORNERS,
    LABELS,
    MULTIPLIERS,
    ROOT,
    TABLE_NAMES,
    TEMPLATES,
    WIDTHS,
)
from preorder.methods.perceptron.weights import Weights

FIRST, LAST = ("Ll", "Lr", "Rl"), ("Lr", "Rl", "Rr")

Node = tuple[int, int, int, int, int]  # begin, split, end, label, context
Tree = tuple[Node, ...]


def trees(begin: int, end: int, context: int = ROOT) -> Iterator[Tree]:
    """Yield every BTG tree over a span, parents before children."""
    if end - begin < 2:
        yield ()
        return
    for split in range(begin + 1, end):
        for label in range(LABELS):
            for left in trees(begin, split, 2 * label):
                for right in trees(split, end, 2 * label + 1):
                    yield ((begin, split, end, label, context), *left, *right)


def order(tree: Tree, begin: int, end: int) -> tuple[int, ...]:
    """Read the leaves of a span off a tree."""
    if end - begin == 1:
        return (begin,)
    split, label = next((m, label) for b, m, e, label, _ in tree if (b, e) == (begin, end))
    left, right = order(tree, begin, split), order(tree, split, end)
    return right + left if label else left + right


def violations(tree: Tree, groups: Sequence[int]) -> int:
    """Count the nodes that put a token before one that belongs before it."""
    count = 0
    for begin, split, end, label, _ in tree:
        left = [groups[i] for i in range(begin, split) if groups[i] >= 0]
        right = [groups[i] for i in range(split, end) if groups[i] >= 0]
        first, second = (right, left) if label else (left, right)
        count += any(a > b for a in first for b in second)
    return count


def joined(tokens: Sequence[Sequence[int]], node: Node) -> Iterator[tuple[tuple, int]]:
    """Yield the name and the column of each feature of a node that joins tokens.

    Tokens are lists of hashes, a layer each, with what stands beside the sentence. A name is
    (table, template if it has rows of its own, hashes).
    """
    begin, split, end, label, context = node
    places = (begin - 1, begin, split - 2, split - 1, split, split + 1, end - 1, end)
    for layer in tokens:
        at = {corner: layer[place + 1] for corner, place in zip(CORNERS, places, strict=True)}
        for template in TEMPLATES:
            own = template.corners if template.table == "triple" else None
            hashes = tuple(at[corner] for corner in template.corners)
            yield (template.table, own, hashes), template.column + label + LABELS * context * template.context


def shapes(node: Node) -> tuple[int, ...]:
    """Return the rows of the features of a node that do not look at tokens."""
    begin, split, end, _, context = node
    left, right = split - begin, end - split
    return (
        features.BIAS,
        features.BALANCE + (0 if left > right else 1 if left < right else 2),
        features.SIZE + min(left + right, 99),
        features.CHILD_SIZES + 6 * min(left, 5) + min(right, 5),
        features.PARENT_LABEL + (2 if context == ROOT else context // 2),
        features.PARENT + context,
    )


class NaiveModel:
    """A sentence and random weights of a share of the features of its nodes."""

    def __init__(self, tokens: np.ndarray, generator: np.random.Generator, share: float) -> None:
        """Draw weights; tokens: uint64 ``[layer, n + 2]``, with what stands beside the sentence."""
        self.tokens = tokens.tolist()
        self._generator = generator
        self._shape = generator.normal(size=(features.SHAPES, LABELS)).astype(np.float32)
        self._rows: dict[tuple, np.ndarray] = {}
        n = tokens.shape[1] - 2
        names = [
            name
            for begin in range(n)
            for end in range(begin + 2, n + 1)
            for split in range(begin + 1, end)
            for name, _ in joined(self.tokens, (begin, split, end, 0, ROOT))
        ]
        for name in names:
            if name[0] != "quad" and generator.random() < share:
                self._draw(name)
        for table, own, hashes in names:
            # A quadruple has weights only where both of its triples have.
            triples = {("triple", FIRST, hashes[:3]), ("triple", LAST, hashes[1:])}
            if table == "quad" and triples <= set(self._rows):
                self._draw((table, own, hashes))

    def _draw(self, name: tuple) -> None:
        width = WIDTHS[TABLE_NAMES.index(name[0])]
        self._rows.setdefault(name, self._generator.normal(size=width).astype(np.float32))

    def score(self, tree: Tree) -> float:
        """Sum the weights of a tree's features."""
        total = 0.0
        for node in tree:
            for name, column in joined(self.tokens, node):
                if name in self._rows:
                    total += float(self._rows[name][column])
            total += sum(float(self._shape[row, node[3]]) for row in shapes(node))
        return total

    def weights(self) -> Weights:
        """Return the same weights under their keys."""
        spread = self._spreads()
        keys = {name: [] for name in TABLE_NAMES}
        rows = {name: [] for name in TABLE_NAMES}
        spreads = {name: [] for name in TABLE_NAMES}
        known = [("token" if len(h) == 1 else "adjacent", None, h) for h in spread]
        for name in {**dict.fromkeys(known), **dict.fromkeys(self._rows)}:
            table = name[0]
            keys[table].append(key(*name, spread))
            rows[table].append(self._rows.get(name, np.zeros(WIDTHS[TABLE_NAMES.index(table)], np.float32)))
            spreads[table].append(spread.get(name[2], 0))
        return Weights.of(
            tuple(np.array(keys[name], np.uint64) for name in TABLE_NAMES),
            tuple(
                np.array(rows[name], np.float32).reshape(-1, width)
                for name, width in zip(TABLE_NAMES, WIDTHS, strict=True)
            ),
            tuple(np.array(spreads[name], np.uint8) for name in TABLE_NAMES),
            self._shape,
        )

    def _spreads(self) -> dict[tuple[int, ...], int]:
        """Return any spread for each token and each two adjacent ones."""
        spans = [
            tuple(layer[i : i + k])
            for layer in self.tokens
            for k in (1, 2)
            for i in range(len(layer) - k + 1)
        ]
        return {span: int(self._generator.integers(0, 12)) for span in dict.fromkeys(spans)}


def best_score(model: NaiveModel, n: int) -> float:
    """Return the score of the best tree, by the recursion over spans and contexts as it is defined."""

    @cache
    def best(begin: int, end: int, context: int) -> float:
        if end - begin < 2:
            return 0.0
        return max(
            model.score(((begin, split, end, label, context),))
            + best(begin, split, 2 * label)
            + best(split, end, 2 * label + 1)
            for split in range(begin + 1, end)
            for label in range(LABELS)
        )

    return best(0, n, ROOT)


def key(table: str, own: tuple[str, ...] | None, hashes: tuple[int, ...], spread: dict) -> int:
    """Return the 64-bit key of a feature."""
    multipliers = [int(m) for m in MULTIPLIERS]
    places = [("Ll", "Lr", "Rl", "Rr").index(corner) for corner in own] if own else range(len(hashes))
    total = sum(multipliers[place] * value for place, value in zip(places, hashes, strict=True))
    if table == "pair":
        home, bits = multipliers[0] * hashes[0], spread[hashes[:1]]
    elif table in ("triple", "quad"):
        middle = hashes[:2] if own == LAST else hashes[1:3]
        home, bits = multipliers[1] * middle[0] + multipliers[2] * middle[1], spread[middle]
    else:
        return total % 2**64
    upper = total % 2**64 >> 32
    return upper << 32 | (home // 8 * 8 + total % 2**bits) % 2**32
