"""The neural BTG preorderer: training, use, and what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from preorder.btg.constraint import learnable
from preorder.btg.nbest import ScoredTree
from preorder.data import NO_LINES, Bitext, Sentence
from preorder.errors import DataError
from preorder.learning.backend import device, network_of, sizes_of, weights_of
from preorder.learning.checkpoint import NO_CHECKPOINT, Arrays, Checkpoint, add_prefix, part_with
from preorder.learning.options import without_threads
from preorder.learning.vocabulary import Vocabulary, common_layers
from preorder.methods.base import Continuable, Preorderer
from preorder.methods.neural_btg.decode import Input, parse, parse_kbest
from preorder.methods.neural_btg.learner import Learner, lengths_of
from preorder.methods.neural_btg.network import Scorer
from preorder.methods.options import NeuralBTGOptions, PerceptronOptions
from preorder.methods.perceptron.model import BTGPreorderer
from preorder.progress import LOGGER

PARTNER = "perceptron"
"""Key of the ensemble partner in the state, and prefix of the names of its arrays."""


class NeuralBTGPreorderer(Continuable, Preorderer):
    """A trained network; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "neural-btg"

    def __init__(self, vocabulary: Vocabulary, scorer: Scorer, partner: BTGPreorderer | None = None) -> None:
        """Make one of a trained network, its vocabulary, and an ensemble partner whose orders count, too."""
        self.layers = frozenset(vocabulary.known) - {"words"}
        self._vocabulary = vocabulary
        self._scorer = scorer.to(device()).eval()
        self._partner = partner

    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        return parse(self._scorer, self._input(sentences, threads), threads)

    def kbest(self, sentences: Sequence[Sentence], k: int, threads: int) -> list[list[ScoredTree]]:
        return parse_kbest(self._scorer, self._input(sentences, threads), k, threads)

    def _input(self, sentences: Sequence[Sentence], threads: int) -> Input:
        partner = None if self._partner is None else self._partner.positions(sentences, threads)
        return Input(self._vocabulary(sentences), lengths_of(sentences), partner)

    def fixed_options(self) -> dict[str, Any]:
        lstm = self._scorer.encoder
        partner = "none" if self._partner is None else "perceptron"
        return {"hidden": lstm.hidden_size, "depth": lstm.num_layers, "ensemble": partner}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        lstm = self._scorer.encoder
        values = {"hidden": lstm.hidden_size, "depth": lstm.num_layers, "vocabulary": self._vocabulary.known}
        arrays = weights_of(self._scorer)
        if self._partner is not None:
            values[PARTNER], of_partner = self._partner.state()
            arrays |= add_prefix(f"{PARTNER}.", of_partner)
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> NeuralBTGPreorderer:
        vocabulary = Vocabulary.from_state(values.get("vocabulary"))
        hidden, depth = sizes_of(values, arrays, "hidden", "depth")
        if depth > sum(not name.startswith(f"{PARTNER}.") for name in arrays):  # each layer has some
            raise DataError(f"not a size of the model's network: depth {depth}")
        scorer = network_of(lambda: Scorer(vocabulary.rows, hidden, depth), arrays)
        partner = None
        if PARTNER in values:
            if not isinstance(values[PARTNER], dict):
                raise DataError("not the ensemble partner of a neural BTG model")
            partner = BTGPreorderer.from_state(values[PARTNER], part_with(f"{PARTNER}.", arrays))
        return cls(vocabulary, scorer, partner)

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        options: NeuralBTGOptions,
        held_out: Bitext = NO_LINES,
        checkpoint: Checkpoint = NO_CHECKPOINT,
        initial: NeuralBTGPreorderer | None = None,
    ) -> tuple[NeuralBTGPreorderer, dict[str, Any]]:
        """Learn from sentences with alignments; see :meth:`preorder.methods.base.Preorderer.fit`.

        Layers that any sentence lacks are not used. The same input and options give the same model on the
        same machine. The statistics include those of :func:`preorder.btg.constraint.learnable`; ``weights``
        counts the network's.
        """
        layers = common_layers((*bitext.sentences, *held_out.sentences))
        sentences, constraint, counts = learnable(bitext)
        given = initial and (initial._vocabulary, weights_of(initial._scorer))
        learner = Learner(layers, sentences, constraint, options, given)
        statistics = {"options": without_threads(options), **counts, **learner.train(held_out, checkpoint)}
        partner = None
        if options.ensemble == "perceptron":
            LOGGER.info("training the ensemble partner")
            chosen = PerceptronOptions(seed=options.seed, threads=options.threads)
            partner, _ = BTGPreorderer.fit(bitext, chosen, initial=initial and initial._partner)
        return cls(learner.vocabulary, learner.average, partner), statistics
