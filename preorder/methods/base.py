"""What every preordering method offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from preorder.btg.grammar import INVERTED
from preorder.data import NO_LINES, BinaryTree, Bitext, Node, Permutation, Sentence
from preorder.learning.checkpoint import NO_CHECKPOINT, Arrays, Checkpoint

if TYPE_CHECKING:
    from typing_extensions import Self

    from preorder.learning.encode import Batch

T = TypeVar("T")


class Training(NamedTuple):
    """What a preorderer learns from, and how."""

    bitext: Bitext  # annotated sentences and their alignments
    options: Any  # the method's own
    held_out: Bitext = NO_LINES  # measures each iteration
    checkpoint: Checkpoint = NO_CHECKPOINT
    initial: Any = None  # a model of the same method to begin from


class Preorderer(ABC):
    """A trained preorderer: a pure function of annotated sentences, pickled as its :meth:`state`."""

    method: ClassVar[str]
    layers: frozenset[str]
    """Attributes of a :class:`Sentence` that the model reads beside the words."""

    @classmethod
    @abstractmethod
    def fit(cls, training: Training) -> tuple[Self, dict[str, Any]]:
        """Learn; return the preorderer and the statistics for ``model.json``.

        They are ``options``, the number of ``weights``, and those of :func:`preorder.learning.loop.train`.
        """

    @abstractmethod
    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the best trees, as :func:`binary_trees` takes them, and positions: int32 ``[tokens]``."""

    @abstractmethod
    def kbest(
        self, sentences: Sequence[Sentence], k: int, threads: int
    ) -> Sequence[Sequence[tuple[Any, np.ndarray]]]:
        """Return the scores and best trees of each sentence's k best orders, best first."""

    def inversions(self, sentences: Sequence[Sentence], threads: int = 1) -> list[list[np.ndarray]]:
        """Return how probably tokens i < j of each sentence are inverted: float32 ``[i, j]``, 0 elsewhere.

        A sentence that is too long to be parsed at once has such an array for each of its pieces, which keep
        their order. A sentence of fewer than two tokens may have none. Only of methods with confidences.
        """
        raise NotImplementedError

    def knows_tag(self, tag: str) -> bool:
        """Return whether the model has learned anything of a POS tag."""
        return tag in self.tag_names

    @property
    def tag_names(self) -> tuple[str, ...]:
        """The POS tags that it has learned from, the most frequent first, if it keeps their names."""
        return ()

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""

    def fixed_options(self) -> dict[str, Any]:
        """Return the options, by name, that training from this model must have."""
        return {}

    @classmethod
    @abstractmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> Preorderer:
        """Rebuild a preorderer from its :meth:`state`; a DataError says that arrays are not its own."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_state, self.state()

    def positions(self, sentences: Sequence[Sentence], threads: int = 1) -> np.ndarray:
        """Return where each token goes, one sentence after another: int32 ``[tokens]``."""
        return self.parse(sentences, threads)[1]

    def order(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        """Return the best reordering of each sentence."""
        return permutations(self.positions(sentences, threads), sentences)

    def trees(self, sentences: Sequence[Sentence], threads: int = 1) -> list[BinaryTree]:
        """Return for each sentence a tree that gives its reordering."""
        return binary_trees(self.parse(sentences, threads)[0], sentences)

    def best_trees(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, BinaryTree]]]:
        """Return the best tree of each of the :meth:`best_orders`, with its score."""
        return [
            [(float(score), _tree(nodes.tolist(), len(sentence))) for score, nodes in trees]
            for sentence, trees in zip(sentences, self.kbest(sentences, k, threads), strict=True)
        ]

    def best_orders(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, Permutation]]]:
        """Return each sentence's ``k`` best orders, or all it has, best first, with scores."""
        from preorder.btg.viterbi import all_positions  # imports numba

        orders = []
        for sentence, trees in zip(sentences, self.kbest(sentences, k, threads), strict=True):
            positions = all_positions(np.stack([nodes for _, nodes in trees]), len(sentence))
            pairs = zip(trees, positions.tolist(), strict=True)
            orders.append([(float(score), Permutation(tuple(order))) for (score, _), order in pairs])
        return orders


@runtime_checkable
class HashedPreorderer(Protocol):
    """A preorderer that reads nothing of the tokens but their hashes."""

    token_layers: tuple[str, ...]  # what it reads, in the order of :data:`preorder.learning.encode.LAYERS`

    def parse_hashed(self, batch: Batch, threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return trees and positions, as :meth:`Preorderer.parse` does."""


def permutations(positions: np.ndarray, sentences: Sequence[Sentence]) -> list[Permutation]:
    """Return the reordering of each sentence; ``positions`` has those of all tokens, one after another."""
    return [Permutation(tuple(part)) for part in _divide(positions.tolist(), map(len, sentences))]


def binary_trees(nodes: np.ndarray, sentences: Sequence[Sentence]) -> list[BinaryTree]:
    """Return the trees of sentences: n - 1 of the n rows of each, int32 ``[tokens, NODE_FIELDS]``."""
    return [_tree(part[:-1], len(part)) for part in _divide(nodes.tolist(), map(len, sentences))]


def _tree(nodes: Sequence[Sequence[int]], length: int) -> BinaryTree:
    return BinaryTree(length, tuple(Node(b, m, e, label == INVERTED) for b, m, e, label, _ in nodes))


def _divide(flat: list[T], lengths: Iterable[int]) -> list[list[T]]:
    return [flat[begin:end] for begin, end in pairwise(accumulate(lengths, initial=0))]
