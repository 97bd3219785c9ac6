"""The perceptron's definitions in plain Python: every template of every node, one by one."""

from collections.abc import Iterator, Sequence

import numpy as np

from preorder.btg.grammar import LABELS, ROOT_CONTEXT
from preorder.methods.perceptron_btg import features
from preorder.methods.perceptron_btg.features import CORNERS, MULTIPLIERS, TABLE_NAMES, TEMPLATES, WIDTHS
from preorder.methods.perceptron_btg.weights import Weights
from tests.support.brute_force import Node, Tree

FIRST, LAST = ("Ll", "Lr", "Rl"), ("Lr", "Rl", "Rr")


def model(n: int, layers: int, seed: int) -> "tuple[np.ndarray, NaiveModel, np.random.Generator]":
    """Draw a sentence of few different tokens and a model that knows most of its features."""
    generator = np.random.default_rng((n, layers, seed))
    hashes = generator.integers(0, 2**64, (layers, 4), dtype=np.uint64)
    tokens = np.take_along_axis(hashes, generator.integers(0, 4, (layers, n + 2)), axis=1)
    return tokens, NaiveModel(tokens, generator, share=0.6), generator


def joined(tokens: Sequence[Sequence[int]], node: Node) -> Iterator[tuple[tuple, int]]:
    """Yield the name and the column of each feature of a node that joins tokens.

    Tokens are lists of hashes, a layer each, with what stands beside the sentence. A name is
    (table, template if it has rows of its own, hashes).
    """
    begin, split, end, label, context = node
    indices = (begin - 1, begin, split - 2, split - 1, split, split + 1, end - 1, end)
    for layer in tokens:
        at = {corner: layer[index + 1] for corner, index in zip(CORNERS, indices, strict=True)}
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
        features.PARENT_LABEL + (2 if context == ROOT_CONTEXT else context // 2),
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
            for name, _ in joined(self.tokens, (begin, split, end, 0, ROOT_CONTEXT))
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
        tables = (
            (
                np.array(keys[name], np.uint64),
                np.array(rows[name], np.float32).reshape(-1, width),
                np.array(spreads[name], np.uint8),
            )
            for name, width in zip(TABLE_NAMES, WIDTHS, strict=True)
        )
        return Weights.of(tables, self._shape)

    def _spreads(self) -> dict[tuple[int, ...], int]:
        """Return any spread for each token and each two adjacent ones."""
        spans = [
            tuple(layer[i : i + k])
            for layer in self.tokens
            for k in (1, 2)
            for i in range(len(layer) - k + 1)
        ]
        return {span: int(self._generator.integers(0, 12)) for span in dict.fromkeys(spans)}


def key(table: str, own: tuple[str, ...] | None, hashes: tuple[int, ...], spread: dict) -> int:
    """Return the 64-bit key of a feature."""
    multipliers = [int(m) for m in MULTIPLIERS]
    indices = [("Ll", "Lr", "Rl", "Rr").index(corner) for corner in own] if own else range(len(hashes))
    total = sum(multipliers[index] * value for index, value in zip(indices, hashes, strict=True))
    if table == "pair":
        home, bits = multipliers[0] * hashes[0], spread[hashes[:1]]
    elif table in ("triple", "quad"):
        middle = hashes[:2] if own == LAST else hashes[1:3]
        home, bits = multipliers[1] * middle[0] + multipliers[2] * middle[1], spread[middle]
    else:
        return total % 2**64
    upper = total % 2**64 >> 32
    return upper << 32 | (home // 8 * 8 + total % 2**bits) % 2**32
