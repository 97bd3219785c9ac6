"""What every preordering method offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from preorder.data.types import NO_LINES, BinaryTree, Bitext, Permutation, Sentence
from preorder.learning.checkpoint import NO_CHECKPOINT, Arrays, Checkpoint

if TYPE_CHECKING:
    import numpy as np

    from preorder.learning.encode import Batch


class Preorderer(Protocol):
    """A trained preorderer: a pure function of annotated sentences."""

    method: ClassVar[str]

    @classmethod
    def fit(
        cls, bitext: Bitext, options: Any, held_out: Bitext = NO_LINES, checkpoint: Checkpoint = NO_CHECKPOINT
    ) -> tuple[Preorderer, dict[str, Any]]:
        """Learn from annotated sentences and their alignments; progress goes to standard error.

        Args:
            bitext: the lines to learn from.
            options: of the method.
            held_out: lines with the same layers, on which each iteration is measured.
            checkpoint: training goes on from it if it is there, to the same model.

        Returns:
            The preorderer; and statistics of its training for ``model.json``: its ``options``, the number of
            ``weights``, those of :func:`preorder.learning.training_loop.train` where training has iterations,
            and others of the method.

        Raises:
            DataError: a link is out of range.
            UsageError: nothing can be learned from these lines, or the checkpoint is of another training.
        """

    @property
    def layers(self) -> frozenset[str]:
        """Names of the layers of a :class:`Sentence` that it reads beside the words."""

    def order(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        """Return the reordering of each sentence."""

    def trees(self, sentences: Sequence[Sentence], threads: int = 1) -> list[BinaryTree]:
        """Return for each sentence a tree that gives its reordering."""

    def best_orders(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, Permutation]]]:
        """Return the ``k`` best reorderings of each sentence with their scores, best first.

        They are distinct, and the first is what :meth:`order` returns. The score of a reordering is that of
        the best tree that gives it. A short sentence may have fewer than ``k``.
        """

    def best_trees(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, BinaryTree]]]:
        """Return for each of the :meth:`best_orders` the best tree that gives it."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> Preorderer:
        """Rebuild a preorderer from its :meth:`state`; a DataError says that it is none of this method."""


class HashedPreorderer(ABC):
    """A preorderer that reads nothing of the tokens but their hashes.

    Attributes:
        token_layers: which layers it reads, of :data:`preorder.learning.vocabulary.LAYERS`, in this order.
    """

    token_layers: tuple[str, ...]

    @abstractmethod
    def parse_hashed(self, batch: Batch, threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return the trees and positions of sentences, one after another.

        Returns:
            As :class:`preorder.btg.results.TreePreorderer` has them: int32 ``[tokens, NODE_FIELDS]`` and
            ``[tokens]``.
        """


class PickledByState:
    """A preorderer whose pickle holds its state alone: no caches, no device, and as small as its model."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_state, self.state()


class Continuable(ABC):
    """A preorderer that training can begin from: ``fit`` takes it as ``initial``, with its layers."""

    @abstractmethod
    def fixed_options(self) -> dict[str, Any]:
        """Return the method's options that the weights depend on, by name: more training must have them.

        Raises:
            UsageError: training cannot begin from this very model.
        """
