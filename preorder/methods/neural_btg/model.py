"""The neural BTG preorderer: training, use, and what is saved.

Training maximises the marginal likelihood of all trees that the alignment allows: the loss of a sentence is
−log of the probability that its tree is one of those whose nodes are all valid, a difference of two
log-partitions. Where links are less than certain, what they ask for is drawn anew in each iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np

from preorder.btg.chart import log_partition
from preorder.btg.constraint import Constraint, learnable
from preorder.btg.nbest import ScoredTree
from preorder.data import Permutation, Sentence
from preorder.errors import DataError, UsageError
from preorder.learning.checkpoint import Arrays, add_prefix, digest, part_with
from preorder.learning.encode import Vocabulary, common_layers, lengths_of
from preorder.learning.loop import LINKS, TrainingStatistics
from preorder.learning.network import (
    NetworkLearner,
    device,
    multiplies_bfloat16,
    network_of,
    sizes_of,
    torch,
    weights_of,
)
from preorder.learning.options import without_threads
from preorder.methods.base import Preorderer, Training, permutations
from preorder.methods.neural_btg.decode import Input, parse, parse_inversions, parse_kbest
from preorder.methods.neural_btg.network import Scorer
from preorder.methods.perceptron_btg.model import BTGPreorderer
from preorder.methods.registry import NeuralBTGOptions, PerceptronOptions
from preorder.progress import LOGGER

MEMBERS = "members"  # key of the states of several networks; the names of their arrays begin with a number
PARTNER = "perceptron"  # key of the ensemble partner in the state, and prefix of its arrays


class ScorerLearner(NetworkLearner[Scorer, torch.Tensor]):
    """A scorer that learns; see :class:`preorder.learning.loop.Trainable`."""

    def __init__(
        self,
        layers: Sequence[str],
        sentences: Sequence[Sentence],
        constraint: Constraint,
        options: NeuralBTGOptions,
        initial: tuple[Vocabulary, Arrays] | None = None,
        pairs: Sequence[int] = (),
    ) -> None:
        """Start from the seed's weights, or those of a trained network, with what :func:`learnable` gives."""
        self.vocabulary, weights = initial or (Vocabulary.of(sentences, layers), None)
        tokens = self.vocabulary(sentences)
        sizes = self.vocabulary.rows, options.hidden, options.depth, options.dropout
        super().__init__(lambda: Scorer(*sizes), tokens[0], lengths_of(sentences), options, weights, pairs)
        self._initial = () if weights is None else tuple(weights.values())
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._tokens = torch.from_numpy(tokens).to(device())
        self._constraint = constraint
        self._groups = torch.empty(0)  # of this iteration
        self._in_bfloat16 = options.bfloat16 == "auto" and multiplies_bfloat16(device().type)

    def key(self) -> str:
        arrays = (self._tokens.cpu().numpy(), *self._constraint, self._lengths, self._pairs, *self._initial)
        return digest([without_threads(self._options), self.vocabulary.known], *arrays)

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> TrainingStatistics:
        draw = np.random.default_rng((self._options.seed, iteration, LINKS))
        groups = self._constraint.drawn(self._lengths, draw)
        self._groups = torch.from_numpy(groups.astype(np.int64)).to(device())
        return super().learn(iteration, advance)

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        given = Input(self.vocabulary(sentences), lengths_of(sentences))
        _, positions = parse([(self.average, given)], self._options.threads)
        return permutations(positions, sentences)

    def _loss(self, minibatch: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        indices = self._starts[minibatch, None] + np.arange(self._lengths[minibatch[0]])
        indices = torch.from_numpy(indices).to(self._tokens.device)
        tokens, groups = self._tokens[:, indices], self._groups[indices]
        self._hide(tokens[0])
        with torch.autocast(tokens.device.type, torch.bfloat16, enabled=self._in_bfloat16):
            parts = self._network(tokens)
        parts = parts.float()
        losses = log_partition(parts) - log_partition(parts, groups)
        return losses.sum() / self._options.minibatch, losses.detach()

    def _statistics(self, results: Sequence[torch.Tensor]) -> TrainingStatistics:
        """Return the mean ``loss``, and the ``errors``: trees that are allowed have less than half of all."""
        loss = torch.cat(tuple(results))
        return {"loss": float(loss.mean()), "errors": int((loss > math.log(2)).sum())}


class Member(NamedTuple):
    """A trained network, its vocabulary, and an ensemble partner whose orders count, too."""

    vocabulary: Vocabulary
    scorer: Scorer
    partner: BTGPreorderer | None = None

    def input(self, sentences: Sequence[Sentence], threads: int) -> Input:
        """Return what the network and its partner read of sentences."""
        partner = None if self.partner is None else self.partner.positions(sentences, threads)
        return Input(self.vocabulary(sentences), lengths_of(sentences), partner)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        lstm = self.scorer.encoder
        values = {"hidden": lstm.hidden_size, "depth": lstm.num_layers, "vocabulary": self.vocabulary.known}
        arrays = weights_of(self.scorer)
        if self.partner is not None:
            values[PARTNER], of_partner = self.partner.state()
            arrays |= add_prefix(f"{PARTNER}.", of_partner)
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> Member:
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


class NeuralBTGPreorderer(Preorderer):
    """One trained network or several; see :class:`preorder.methods.base.Preorderer`."""

    method: ClassVar[str] = "neural-btg"

    def __init__(self, *members: Member) -> None:
        self.members = members
        self.layers = frozenset(chain.from_iterable(one.vocabulary.known for one in members)) - {"words"}
        for member in members:
            member.scorer.to(device()).eval()

    def parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        return parse(self._inputs(sentences, threads), threads)

    def kbest(self, sentences: Sequence[Sentence], k: int, threads: int) -> list[list[ScoredTree]]:
        return parse_kbest(self._inputs(sentences, threads), k, threads)

    def inversions(self, sentences: Sequence[Sentence], threads: int = 1) -> list[list[np.ndarray]]:
        return parse_inversions(self._inputs(sentences, threads), threads)

    def _inputs(self, sentences: Sequence[Sentence], threads: int) -> list[tuple[Scorer, Input]]:
        return [(member.scorer, member.input(sentences, threads)) for member in self.members]

    @property
    def tag_names(self) -> tuple[str, ...]:
        return self.members[0].vocabulary.known.get("tags", ())

    def fixed_options(self) -> dict[str, Any]:
        if len(self.members) > 1:
            raise UsageError("`init`: a model of several members: training begins from a single one")
        lstm = self.members[0].scorer.encoder
        partner = "none" if self.members[0].partner is None else "perceptron"
        return {"hidden": lstm.hidden_size, "depth": lstm.num_layers, "ensemble": partner}

    @classmethod
    def together(cls, models: Sequence[NeuralBTGPreorderer]) -> NeuralBTGPreorderer:
        """Return one model of all their networks."""
        return cls(*chain.from_iterable(model.members for model in models))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        states = [member.state() for member in self.members]
        if len(states) == 1:
            return states[0]
        arrays: Arrays = {}
        for number, (_, of_member) in enumerate(states, 1):
            arrays |= add_prefix(f"{number}.", of_member)
        return {MEMBERS: [values for values, _ in states]}, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> NeuralBTGPreorderer:
        if MEMBERS not in values:
            return cls(Member.from_state(values, arrays))
        states = values[MEMBERS]
        if not isinstance(states, list) or not states or not all(isinstance(one, dict) for one in states):
            raise DataError("not the members of a neural BTG model")
        parts = (part_with(f"{number}.", arrays) for number in range(1, len(states) + 1))
        return cls(*map(Member.from_state, states, parts))

    @classmethod
    def fit(cls, training: Training) -> tuple[NeuralBTGPreorderer, dict[str, Any]]:
        """Learn by the layers that all sentences have; the same model on the same machine."""
        bitext, options, held_out, checkpoint, initial = training
        layers = common_layers((*bitext.sentences, *held_out.sentences), options.word_dropout)
        learned, constraint, counts = learnable(bitext)
        begun = None if initial is None else initial.members[0]
        given = begun and (begun.vocabulary, weights_of(begun.scorer))
        learner = ScorerLearner(layers, learned.sentences, constraint, options, given, learned.pairs)
        statistics = {"options": without_threads(options), **counts, **learner.train(held_out, checkpoint)}
        partner = None
        if options.ensemble == "perceptron":
            LOGGER.info("training the ensemble partner")
            same = {name: getattr(options, name) for name in ("word_dropout", "seed", "threads")}
            chosen = PerceptronOptions(**same)
            partner, _ = BTGPreorderer.fit(Training(bitext, chosen, initial=begun and begun.partner))
        return cls(Member(learner.vocabulary, learner.average, partner)), statistics
