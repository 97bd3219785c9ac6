"""The preorderers that label given trees by a network: training, use, and what is saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from preorder.btg.results import permutations
from preorder.data.errors import DataError
from preorder.data.trees import BINARISATIONS
from preorder.data.types import NO_LINES, Bitext, Permutation, Sentence
from preorder.learning import backend
from preorder.learning.backend import device, torch
from preorder.learning.checkpoint import NO_CHECKPOINT, Arrays, Checkpoint, digest
from preorder.learning.descent import arrays_of, load
from preorder.learning.training_loop import HeldOut, Schedule, fit
from preorder.learning.vocabulary import LEAST, Vocabulary
from preorder.methods.node_labels.forest import Forest, forest, positions
from preorder.methods.node_labels.labelling import KINDS, LAYERS, Lesson, TreeLabeller, lesson
from preorder.methods.node_labels.recursive.batch import Batch, Numbering, equally_long, minibatch
from preorder.methods.node_labels.recursive.learner import Learner
from preorder.methods.node_labels.recursive.network import Contextual, Network, Recursive
from preorder.methods.node_labels.recursive.options import Options

TOKENS = 8192
"""Tokens that are labelled at a time, at most, unless one sentence has more."""


class RvNNPreorderer(TreeLabeller):
    """A trained recursive network; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "rvnn"
    network: ClassVar[type[Network]] = Recursive

    def __init__(self, kind: str, binarisation: str, numbering: Numbering, network: Network) -> None:
        """Make a preorderer of a network and the numbering that it was made for."""
        super().__init__(kind, binarisation, tuple(numbering.vocabulary.known))
        self._numbering = numbering
        self._network = network.to(device()).eval()

    def log_odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:
        """Return for each of ``trees.rows`` how much rather it is inverted: float32 ``[nodes]``."""
        return log_odds(self._network, self._numbering(sentences, trees), threads)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""
        values = {
            "trees": self.kind,
            "binarisation": self.binarisation,
            "size": self._network.output.in_features,
            "category": self._network.category is not None,
            "vocabulary": self._numbering.vocabulary.known,
            "categories": self._numbering.categories,
        }
        return values, arrays_of(self._network)

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> RvNNPreorderer:
        """Rebuild a preorderer.

        Raises:
            DataError: the state is not one of such a network.
        """
        names = ("trees", "binarisation", "size", "category", "vocabulary", "categories")
        kind, how, size, category, known, categories = (values.get(name) for name in names)
        if kind not in KINDS or how not in BINARISATIONS or not isinstance(category, bool):
            raise DataError(f"not the trees of a model of nodes: {kind!r}, {how!r}, {category!r}")
        if not isinstance(size, int) or size <= 0:
            raise DataError(f"not the size of a model of nodes: {size!r}")
        if not isinstance(categories, list | tuple) or not _is_vocabulary(known):
            raise DataError("not the vocabulary of a model of nodes")
        numbering = Numbering(Vocabulary(known), categories)
        network = cls.network(numbering.vocabulary.rows, numbering.rows, size, category=category)
        load(network, arrays)
        return cls(kind, how, numbering, network)

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        options: Options,
        held_out: Bitext = NO_LINES,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> tuple[RvNNPreorderer, dict[str, Any]]:
        """Train on sentences with trees and alignments; progress goes to standard error.

        Of word classes use is made if all sentences have them. The same input, options and number of
        threads give the same model on the same machine, however often training was interrupted.

        Returns:
            The preorderer, and figures: those of :func:`preorder.learning.training_loop.fit` and of
            :func:`preorder.methods.node_labels.labelling.lesson`; ``options``; ``weights``, how many.

        Raises:
            DataError: a link is out of range.
            UsageError: trees or tags are missing, there is nothing to learn, or the checkpoint is of another
                training.
        """
        learned = lesson(bitext, held_out, options.binarisation, options.unaligned)
        trainee = _Trainee(cls, learned, options)
        best, progress = fit(
            trainee, Schedule(options.iterations, options.patience), HeldOut(held_out), checkpoint
        )
        network = trainee.network()
        load(network, best)
        weights = sum(array.size for array in best.values())
        figures = {"options": asdict(options), **learned.figures, "weights": weights, **progress}
        return cls(learned.kind, options.binarisation, trainee.numbering, network), figures


class ContextualPreorderer(RvNNPreorderer):
    """A trained contextual network; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "swap-lstm"
    network: ClassVar[type[Network]] = Contextual


def log_odds(network: Network, batch: Batch, threads: int) -> np.ndarray:
    """Return the log-odds of the nodes of a batch, a number for each of its ``trees.rows``: float32.

    Minibatches of equally long sentences are computed side by side, one to a thread, so that what comes out
    does not depend on how many threads there are.
    """
    odds = np.zeros(len(batch.trees.nodes), np.float32)

    def run(sentences: np.ndarray) -> None:
        with torch.inference_mode():
            nodes, rows = minibatch(batch, sentences, device())
            odds[rows] = network(nodes).cpu().numpy()

    with backend.threads(1), ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, equally_long(batch.trees.lengths, lambda n: max(1, TOKENS // n))))
    return odds[batch.trees.rows]


class _Trainee:
    """A learner and what it learns from; see :class:`preorder.learning.training_loop.Trainee`."""

    def __init__(self, method: type[RvNNPreorderer], learned: Lesson, options: Options) -> None:
        self._method = method
        self._lesson = learned
        self._options = options
        vocabulary, frequencies = Vocabulary.of(learned.sentences, learned.channels, options.vocabulary)
        counts = Counter(category for category in learned.trees.categories if category)
        known = sorted((-count, category) for category, count in counts.items() if count >= LEAST)
        self.numbering = Numbering(vocabulary, [category for _, category in known])
        self._batch = self.numbering(learned.sentences, learned.trees)
        self._learner = Learner(self._batch, learned.counts, frequencies, self.network(), options)

    def network(self) -> Network:
        """Return a network with the first weights that the seed gives."""
        options = self._options
        with torch.random.fork_rng():
            torch.manual_seed(options.seed)
            rows = self.numbering.vocabulary.rows
            return self._method.network(
                rows, self.numbering.rows, options.size, options.dropout, options.category == "on"
            )

    def __len__(self) -> int:
        return int((self._batch.trees.lengths > 1).sum())

    def key(self) -> str:
        batch = self._batch
        values = [
            self._method.method,
            asdict(self._options),
            self.numbering.vocabulary.known,
            self.numbering.categories,
        ]
        arrays = (batch.tokens, batch.trees.nodes, batch.trees.lengths, batch.categories, self._lesson.counts)
        return digest(values, *arrays)

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> dict[str, float]:
        return self._learner.iterate(iteration, advance)

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        trees = forest(sentences, self._options.binarisation)
        batch = self.numbering(sentences, trees)
        odds = log_odds(self._learner.average, batch, self._options.threads)
        return permutations(positions(trees, odds > 0), sentences)

    def model(self) -> Arrays:
        return arrays_of(self._learner.average)

    def state(self) -> Arrays:
        return self._learner.state()

    def restore(self, arrays: Arrays) -> None:
        self._learner.restore(arrays)


def _is_vocabulary(known: Any) -> bool:
    return (
        isinstance(known, dict)
        and "words" in known
        and set(known) <= set(LAYERS)
        and all(isinstance(k, list | tuple) for k in known.values())
    )
