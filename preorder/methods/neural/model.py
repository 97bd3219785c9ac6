"""The neural BTG preorderer: training, use, and what is saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from preorder.btg.constraint import learnable
from preorder.btg.kbest import ScoredTree
from preorder.btg.results import ChartParser
from preorder.data.errors import DataError
from preorder.data.types import NO_LINES, Bitext, Permutation, Sentence
from preorder.learning.backend import device
from preorder.learning.checkpoint import NO_CHECKPOINT, Arrays, Checkpoint, digest
from preorder.learning.descent import arrays_of, load
from preorder.learning.training_loop import HeldOut, Schedule, fit
from preorder.learning.vocabulary import LAYERS, Vocabulary
from preorder.methods.neural.decode import Input, parse, parse_kbest
from preorder.methods.neural.learner import Learner, Lines, new_scorer
from preorder.methods.neural.network import Scorer
from preorder.methods.neural.options import Options
from preorder.methods.perceptron.model import BTGPreorderer
from preorder.methods.perceptron.options import Options as PerceptronOptions

PERCEPTRON = "perceptron"
"""What is the adviser's, in the state of a model that has one."""


class NeuralBTGPreorderer(ChartParser):
    """A trained network; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "neural-btg"

    def __init__(
        self, vocabulary: Vocabulary, scorer: Scorer, perceptron: BTGPreorderer | None = None
    ) -> None:
        """Make a preorderer of a network, the vocabulary whose rows it was made for, and an adviser."""
        self._vocabulary = vocabulary
        self._scorer = scorer.to(device()).eval()
        self._perceptron = perceptron

    @property
    def layers(self) -> frozenset[str]:
        """Names of the layers of a :class:`Sentence` that it reads beside the words."""
        return frozenset(self._vocabulary.known) - {"words"}

    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the best trees and their positions; cost: see :mod:`.decode`."""
        return parse(self._scorer, self._input(sentences, threads), threads)

    def kbest(self, sentences: Sequence[Sentence], k: int, threads: int) -> list[list[ScoredTree]]:
        """Return the best trees of each sentence's k best orders; see :mod:`preorder.btg.kbest`."""
        return parse_kbest(self._scorer, self._input(sentences, threads), k, threads)

    def _input(self, sentences: Sequence[Sentence], threads: int) -> Input:
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        advice = None if self._perceptron is None else self._perceptron.positions(sentences, threads)
        return Input(self._vocabulary(sentences), lengths, advice)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""
        scorer = self._scorer
        values = {
            "hidden": scorer.encoder.hidden_size,
            "depth": scorer.encoder.num_layers,
            "vocabulary": self._vocabulary.known,
        }
        arrays = arrays_of(scorer)
        if self._perceptron is not None:
            values[PERCEPTRON], theirs = self._perceptron.state()
            arrays |= {f"{PERCEPTRON}.{name}": array for name, array in theirs.items()}
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> NeuralBTGPreorderer:
        """Rebuild a preorderer.

        Raises:
            DataError: the state is not one of a neural BTG model.
        """
        known, hidden, depth = (values.get(name) for name in ("vocabulary", "hidden", "depth"))
        if not isinstance(known, dict) or not _is_vocabulary(known):
            raise DataError("not the vocabulary of a neural BTG model")
        if not all(isinstance(size, int) and size > 0 for size in (hidden, depth)):
            raise DataError(f"not the size of a neural BTG model: hidden {hidden!r}, depth {depth!r}")
        vocabulary = Vocabulary(known)
        scorer = Scorer(vocabulary.rows, hidden, depth)
        load(scorer, arrays)
        if PERCEPTRON not in values:
            return cls(vocabulary, scorer)
        prefix = f"{PERCEPTRON}."
        theirs = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        return cls(vocabulary, scorer, BTGPreorderer.from_state(values[PERCEPTRON], theirs))

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        options: Options,
        held_out: Bitext = NO_LINES,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> tuple[NeuralBTGPreorderer, dict[str, Any]]:
        """Train on sentences with alignments; progress goes to standard error.

        Layers that any sentence lacks are not used. The same input, options and number of threads
        give the same model on the same machine, however often training was interrupted.

        Returns:
            The preorderer, and figures: those of :func:`preorder.learning.training_loop.fit`; ``options``;
            ``trained`` sentences; those ``skipped``, as no tree can satisfy their alignment, and
            ``trivial``, of fewer than two tokens; ``weights``, how many.

        Raises:
            DataError: a link is out of range.
            UsageError: no sentence can be learned from, or the checkpoint is of another training.
        """
        lines = (*bitext.sentences, *held_out.sentences)
        channels = [name for name in LAYERS if all(getattr(s, name) is not None for s in lines)]
        sentences, groups, counts = learnable(bitext, options.unaligned)
        trainee = _Trainee(channels, sentences, groups, options)
        schedule = Schedule(options.iterations, options.patience)
        best, progress = fit(trainee, schedule, HeldOut(held_out), checkpoint)
        scorer = trainee.scorer()
        load(scorer, best)
        weights = sum(array.size for array in best.values())
        figures = {"options": asdict(options), **counts, "weights": weights, **progress}
        return cls(trainee.vocabulary, scorer, _adviser(bitext, options)), figures


def _adviser(bitext: Bitext, options: Options) -> BTGPreorderer | None:
    """Return a perceptron trained on the same lines, if one is wanted."""
    if options.adviser == "none":
        return None
    chosen = PerceptronOptions(unaligned=options.unaligned, seed=options.seed, threads=options.threads)
    return BTGPreorderer.fit(bitext, chosen)[0]


class _Trainee:
    """A learner and what it learns from; see :class:`preorder.learning.training_loop.Trainee`."""

    def __init__(
        self, channels: Sequence[str], sentences: Sequence[Sentence], groups: np.ndarray, options: Options
    ) -> None:
        self.vocabulary, counts = Vocabulary.of(sentences, channels)
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        self._lines = Lines(self.vocabulary(sentences), groups.astype(np.int64), lengths, counts)
        self._options = options
        self._learner = Learner(self._lines, self.scorer(), options)

    def scorer(self) -> Scorer:
        """Return a network that knows nothing."""
        return new_scorer(self.vocabulary.rows, self._options)

    def __len__(self) -> int:
        return self._lines.lengths.size

    def key(self) -> str:
        values = [asdict(self._options), self.vocabulary.known]
        return digest(values, self._lines.tokens, self._lines.groups, self._lines.lengths)

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> dict[str, float]:
        return self._learner.iterate(iteration, advance)

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        preorderer = NeuralBTGPreorderer(self.vocabulary, self._learner.average)
        return preorderer.order(sentences, self._options.threads)

    def model(self) -> Arrays:
        return arrays_of(self._learner.average)

    def state(self) -> Arrays:
        return self._learner.state()

    def restore(self, arrays: Arrays) -> None:
        self._learner.restore(arrays)


def _is_vocabulary(known: dict[str, Any]) -> bool:
    return (
        "words" in known
        and set(known) <= set(LAYERS)
        and all(isinstance(k, list | tuple) for k in known.values())
    )
