"""Learn the probability of links from a few hand-aligned sentences that are aligned with the corpus.

A classifier (gradient boosting, scikit-learn) sees for each possible link how many samplers drew it and its
neighbours, how often its words are linked in the corpus, its rivals, and the frequency of its words. A link
is possible if a sampler drew it, or many drew a neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from preorder.alignment.eflomal import Side
from preorder.alignment.links import NEIGHBOURS, Samples
from preorder.data.sentence import Alignment, Link
from preorder.errors import UsageError

_LEAST = 20  # fewer hand-aligned sentences teach nothing
_ITERATIONS = 80
_LEARNING_RATE = 0.1
_NEAR = 0.3  # share of samplers that drew a link, from which its neighbours are possible
_BLOCK = 1000  # sentence pairs that are classified at once
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Corpus:
    """A bitext, the links of samplers, and how often they link each pair of words."""

    sides: tuple[Side, Side]
    frequencies: tuple[np.ndarray, ...]  # of the words of either side
    samples: Samples
    keys: np.ndarray  # the linked pairs of words, each as one number, ascending
    counts: np.ndarray  # places where they are linked, each weighted by the share of samplers

    @classmethod
    def build(
        cls, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], samples: Samples
    ) -> Corpus:
        """Count the words and their links. O(tokens + links log links)."""
        sides = Side.of(sources), Side.of(targets)
        frequencies = tuple(np.bincount(side.tokens, minlength=len(side.vocabulary)) for side in sides)
        keys = np.array([-1])  # of no words: there is always a key
        counts: np.ndarray = np.zeros(1)
        for links in chain.from_iterable(samples.draws):
            pairs = np.repeat(np.arange(len(samples)), np.diff(links.starts))
            ends = zip(sides, (links.sources, links.targets), strict=True)
            source, target = (side.tokens[side.starts[pairs] + at].astype(np.int64) for side, at in ends)
            found, times = np.unique(source * len(frequencies[1]) + target, return_counts=True)
            keys, places = np.unique(np.concatenate((keys, found)), return_inverse=True)
            counts = np.bincount(places, np.concatenate((counts, times / (2 * len(samples.draws)))))
        return cls(sides, frequencies, samples, keys, counts)

    def words(self, pair: int) -> list[np.ndarray]:
        """Return the words of a sentence pair as numbers, source and target."""
        bounds = ((side.tokens, slice(*side.starts[pair : pair + 2])) for side in self.sides)
        return [tokens[bound].astype(np.int64) for tokens, bound in bounds]

    def linked(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return how often the samplers link pairs of words in the corpus. O(log links) each."""
        wanted = sources * len(self.frequencies[1]) + targets
        found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[found] == wanted, self.counts[found], 0)


class Candidates(NamedTuple):
    """The possible links of a sentence pair."""

    shape: tuple[int, int]  # lengths of source and target
    sources: np.ndarray  # (links), the indices of their tokens
    targets: np.ndarray
    features: np.ndarray  # (links, features)


Known = Sequence[tuple[Candidates, Set[Link]]]  # possible and right links of hand-aligned pairs


def candidates(corpus: Corpus, pair: int) -> Candidates:
    """Return the possible links of a sentence pair with their features. O(source length · target length)."""
    shares = corpus.samples.shares(pair)
    votes = shares.mean(axis=0)
    rows, columns = votes.shape
    padded = np.pad(votes, 1)
    near = np.stack([padded[1 + di : 1 + di + rows, 1 + dj : 1 + dj + columns] for di, dj in NEIGHBOURS])
    i, j = np.nonzero((votes > 0) | (near.max(axis=0) >= _NEAR))
    source_words, target_words = corpus.words(pair)
    source_count, target_count = corpus.frequencies[0][source_words], corpus.frequencies[1][target_words]
    elsewhere = np.maximum(corpus.linked(source_words[i], target_words[j]) - votes[i, j], 0)
    features = (
        *shares[:, i, j],
        elsewhere / (source_count[i] + 1),
        elsewhere / (target_count[j] + 1),
        votes.max(axis=1, initial=0)[i],
        votes.max(axis=0, initial=0)[j],
        votes.sum(axis=1)[i],
        votes.sum(axis=0)[j],
        np.abs(i / max(1, rows) - j / max(1, columns)),
        source_count[i],
        target_count[j],
        *near[:, i, j],
    )
    return Candidates(votes.shape, i, j, np.stack(features, axis=1).astype(np.float32))


def check_enough(count: int) -> None:
    """Check the number of hand-aligned sentence pairs."""
    if count < _LEAST:
        raise UsageError(f"{count} hand-aligned sentences are too few to learn from: {_LEAST} at least")


def known_candidates(corpus: Corpus, hand: Mapping[int, Alignment]) -> Known:
    """Return the possible and the right links of hand-aligned sentence pairs."""
    return [(candidates(corpus, pair), alignment.links) for pair, alignment in hand.items()]


def learn(known: Known, seed: int) -> HistGradientBoostingClassifier:
    """Learn which possible links of hand-aligned sentences are right."""
    pairs = ((zip(each.sources.tolist(), each.targets.tolist(), strict=True), links) for each, links in known)
    right = np.array([link in links for found, links in pairs for link in found])
    if right.all() or not right.any():
        raise UsageError("the hand alignments fit the text nowhere: are they of these sentences?")
    classifier = HistGradientBoostingClassifier(
        max_iter=_ITERATIONS, learning_rate=_LEARNING_RATE, early_stopping=False, random_state=seed
    )
    return classifier.fit(np.concatenate([found.features for found, _ in known]), right)


def _confidences(
    classifier: HistGradientBoostingClassifier, found: Sequence[Candidates]
) -> Iterator[np.ndarray]:
    """Yield for each sentence pair the probabilities of all links; impossible ones have 0."""
    features = np.concatenate([each.features for each in found])
    probabilities = classifier.predict_proba(features)[:, 1] if len(features) else np.zeros(0)
    ends = np.cumsum([len(each.sources) for each in found])[:-1]
    for each, part in zip(found, np.split(probabilities, ends), strict=True):
        matrix = np.zeros(each.shape, np.float32)
        matrix[each.sources, each.targets] = part
        yield matrix


def rescored(
    corpus: Corpus, classifier: HistGradientBoostingClassifier, pairs: Sequence[int]
) -> Iterator[np.ndarray]:
    """Yield the probabilities of links for each of these sentence pairs: ``[source, target]``."""
    for first in range(0, len(pairs), _BLOCK):
        block = pairs[first : first + _BLOCK]
        yield from _confidences(classifier, [candidates(corpus, pair) for pair in block])


def cross_validated(known: Known, seed: int) -> list[np.ndarray]:
    """Return the probabilities of links of hand-aligned sentences, learnt from the other four fifths."""
    order = np.random.default_rng(seed).permutation(len(known))
    found: dict[int, np.ndarray] = {}
    for fold in range(_FOLDS):
        held_out = order[fold::_FOLDS].tolist()
        classifier = learn([known[n] for n in np.setdiff1d(order, held_out)], seed)
        found |= zip(held_out, _confidences(classifier, [known[n][0] for n in held_out]), strict=True)
    return [found[n] for n in range(len(known))]
