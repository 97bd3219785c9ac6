"""The grammar in plain Python: every tree of a sentence, one by one, and what a distribution over them is."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

from preorder.btg.grammar import INVERTED, LABELS, LANES, ROOT_CONTEXT
from preorder.btg.scores import FIRST, PARTS, SECOND, VECTOR, WHOLE, Scores, node_count, node_index

Node = tuple[int, int, int, int, int]  # begin, split, end, label, context
Tree = tuple[Node, ...]
Order = tuple[int, ...]


def trees(begin: int, end: int, context: int = ROOT_CONTEXT) -> Iterator[Tree]:
    """Yield every BTG tree over a span, parents before children."""
    if end - begin < 2:
        yield ()
        return
    for split in range(begin + 1, end):
        for label in range(LABELS):
            for left in trees(begin, split, 2 * label):
                for right in trees(split, end, 2 * label + 1):
                    yield ((begin, split, end, label, context), *left, *right)


def order(tree: Tree, begin: int, end: int) -> Order:
    """Read the leaves of a span off a tree."""
    if end - begin == 1:
        return (begin,)
    split, label = next((m, label) for b, m, e, label, _ in tree if (b, e) == (begin, end))
    left, right = order(tree, begin, split), order(tree, split, end)
    return right + left if label == INVERTED else left + right


def violations(tree: Tree, groups: Sequence[int]) -> int:
    """Count the nodes that put a token before one that belongs before it."""
    count = 0
    for begin, split, end, label, _ in tree:
        left = [groups[i] for i in range(begin, split) if groups[i] >= 0]
        right = [groups[i] for i in range(split, end) if groups[i] >= 0]
        first, second = (right, left) if label == INVERTED else (left, right)
        count += any(a > b for a in first for b in second)
    return count


def inversions(order: Order) -> np.ndarray:
    """Return which tokens i < j an order inverts: bool ``[i, j]``."""
    positions = np.argsort(order)
    return np.triu(positions[:, None] > positions, 1)


def draw_parts(n: int, batch: int) -> np.ndarray:
    """Draw the parts of equally long sentences, in double precision."""
    return np.random.default_rng(n).normal(size=(batch, PARTS, LABELS, n + 1, n + 1))


def by_parts(parts: np.ndarray) -> Callable[[Node], float]:
    """Return what scores a node by the parts of a sentence."""

    def score(node: Node) -> float:
        b, m, e, label, _ = node
        return parts[FIRST, label, b, m] + parts[SECOND, label, m, e] + parts[WHOLE, label, b, e]

    return score


def draw_scores(n: int, seed: int) -> Scores:
    """Draw scores with all terms."""
    generator = np.random.default_rng((n, seed))
    shapes = (
        (LABELS, node_count(n) + VECTOR),
        (LABELS, n + 1, n + 1),
        (n + 1, n + 1, LABELS),
        (n + 1, n + 1, LANES),
        (n + 1, LANES),
    )
    return Scores(*(generator.normal(size=shape).astype(np.float32) for shape in shapes))


def by_scores(scores: Scores) -> Callable[[Node], float]:
    """Return what scores a node by the terms of :class:`Scores`."""

    def score(node: Node) -> float:
        b, m, e, label, context = node
        lane = context * LABELS + label
        terms = (
            scores.node[label, node_index(m, e) + b],
            scores.left[label, m, b],
            scores.right[e, m, label],
            scores.span[b, e, lane],
            scores.pivot[m, lane],
        )
        return sum(map(float, terms))

    return score


class BruteForce:
    """The trees of n tokens and the scores of their nodes: the twin of a chart."""

    def __init__(self, n: int, score: Callable[[Node], float], root: int = ROOT_CONTEXT) -> None:
        self.n = n
        self.trees = list(trees(0, n, root))
        self.scores = [sum(map(score, tree)) for tree in self.trees]

    def argmax(self) -> Tree:
        """Return the best tree."""
        return self.trees[int(np.argmax(self.scores))]

    def kbest(self, k: int) -> list[tuple[float, Order]]:
        """Return the k best orders, each with the score of its best tree."""
        best: dict[Order, float] = {}
        for score, tree in zip(self.scores, self.trees, strict=True):
            given = order(tree, 0, self.n)
            best[given] = max(score, best.get(given, -np.inf))
        return sorted(((score, given) for given, score in best.items()), reverse=True)[:k]

    def log_partition(self, groups: Sequence[int] | None = None) -> float:
        """Return the log of the sum of exp(score), over trees without violations."""
        pairs = zip(self.scores, self.trees, strict=True)
        kept = [score for score, tree in pairs if groups is None or not violations(tree, groups)]
        return float(np.logaddexp.reduce(kept))

    def probabilities(self) -> np.ndarray:
        """Return the probability of each tree."""
        return np.exp(np.array(self.scores) - self.log_partition())

    def marginals(self) -> np.ndarray:
        """Return the probability of each part, as parts."""
        result = np.zeros((PARTS, LABELS, self.n + 1, self.n + 1))
        for probability, tree in zip(self.probabilities(), self.trees, strict=True):
            for b, m, e, label, _ in tree:
                result[FIRST, label, b, m] += probability
                result[SECOND, label, m, e] += probability
                result[WHOLE, label, b, e] += probability
        return result

    def inversions(self) -> np.ndarray:
        """Return with which probability tokens i < j are inverted."""
        pairs = np.array([inversions(order(tree, 0, self.n)) for tree in self.trees])
        return np.tensordot(self.probabilities(), pairs, 1)


def agreement(given: Order, inverted: np.ndarray) -> float:
    """Return how many pairs of an order can be expected to be right, by the probabilities of inversions."""
    pairs = inversions(given)
    return inverted[pairs].sum() + (1 - inverted)[np.triu(~pairs, 1)].sum()


def best_score(score: Callable[[Node], float], n: int) -> float:
    """Return the score of the best tree, by the recursion over spans and contexts as it is defined."""

    @cache
    def best(begin: int, end: int, context: int) -> float:
        if end - begin < 2:
            return 0.0
        return max(
            score((begin, split, end, label, context))
            + best(begin, split, 2 * label)
            + best(split, end, 2 * label + 1)
            for split in range(begin + 1, end)
            for label in range(LABELS)
        )

    return best(0, n, ROOT_CONTEXT)


def tree_of(nodes: np.ndarray) -> Tree:
    """Return the tree of an array of nodes."""
    return tuple(map(tuple, nodes.tolist()))
