"""How probable each link is, learnt from a few hand-aligned sentences that are aligned with the corpus.

A classifier (gradient boosting, scikit-learn) sees for each possible link how many samplers drew it and its
neighbours, how often its words are linked in the whole corpus, what rivals it has and how frequent its words
are. It learns which tokens people link at all, and that they link whole groups of tokens, where a sampler
links one token of each. A possible link is one that a sampler drew, or next to one that many drew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from preorder.alignment.links import NEIGHBOURS, Link, Samples
from preorder.data.alignment import Alignment
from preorder.errors import UsageError

MIN_HAND_ALIGNED = 20
"""Fewer hand-aligned sentences teach nothing."""

_ITERATIONS = 80
_LEARNING_RATE = 0.1
_NEAR = 0.3  # share of the samplers that drew a link whose neighbours are possible, too
_BLOCK = 1000  # sentence pairs that are classified at once
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Corpus:
    """A bitext, what samplers drew for it, and how often they linked each pair of words.

    Attributes:
        words: the words of each source and of each target sentence, as numbers.
        frequencies: for the numbers of the source and of the target words, how often each occurs.
        samples: the links that were drawn.
        keys, counts: the linked pairs of words, each as one number, ascending; and in how many places the
            samplers linked them, a place counting by the share of the samplers that did.
    """

    words: tuple[Sequence[np.ndarray], Sequence[np.ndarray]]
    frequencies: tuple[np.ndarray, np.ndarray]
    samples: Samples
    keys: np.ndarray
    counts: np.ndarray

    @classmethod
    def build(
        cls, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], samples: Samples
    ) -> Corpus:
        """Count the words and their links. O(tokens + links log links)."""
        words, frequencies = zip(*map(_numbered, (sources, targets)), strict=True)
        flat = [np.concatenate(side) for side in words]
        starts = [np.cumsum([0, *map(len, side)]) for side in words]
        keys, counts = np.array([-1]), np.zeros(1)  # of no words: so that there is a key
        for links in chain.from_iterable(samples.draws):
            pairs = np.repeat(np.arange(len(samples)), np.diff(links.starts))
            source = flat[0][starts[0][pairs] + links.sources]
            target = flat[1][starts[1][pairs] + links.targets]
            found, times = np.unique(source * len(frequencies[1]) + target, return_counts=True)
            keys, places = np.unique(np.concatenate((keys, found)), return_inverse=True)
            counts = np.bincount(places, np.concatenate((counts, times / (2 * len(samples.draws)))))
        return cls(words, frequencies, samples, keys, counts)

    def linked(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return in how many places of the corpus the samplers link pairs of words. O(log links) each."""
        wanted = sources * len(self.frequencies[1]) + targets
        found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[found] == wanted, self.counts[found], 0)


def _numbered(sentences: Sequence[Sequence[str]]) -> tuple[list[np.ndarray], np.ndarray]:
    vocabulary: dict[str, int] = {}
    numbered = [
        np.array([vocabulary.setdefault(word, len(vocabulary)) for word in sentence], np.int64)
        for sentence in sentences
    ]
    return numbered, np.bincount(np.concatenate(numbered), minlength=len(vocabulary))


@dataclass(frozen=True, slots=True)
class Candidates:
    """The possible links of a sentence pair.

    Attributes:
        shape: the lengths of source and target.
        sources, targets: shape (links): the indices of their tokens.
        features: shape (links, features).
    """

    shape: tuple[int, int]
    sources: np.ndarray
    targets: np.ndarray
    features: np.ndarray

    def are_in(self, links: Set[Link]) -> np.ndarray:
        """Return for each possible link whether it is one of ``links``."""
        each = zip(self.sources.tolist(), self.targets.tolist(), strict=True)
        return np.array([link in links for link in each], bool)

    def confidences(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the probabilities as a matrix (source length, target length)."""
        matrix = np.zeros(self.shape, np.float32)
        matrix[self.sources, self.targets] = probabilities
        return matrix


def candidates(corpus: Corpus, pair: int) -> Candidates:
    """Return the possible links of a sentence pair with their features. O(source length · target length)."""
    shares = corpus.samples.shares(pair)
    votes = shares.mean(axis=0)
    near = _neighbours(votes)
    i, j = np.nonzero((votes > 0) | (near.max(axis=0) >= _NEAR))
    vote = votes[i, j]
    source_words, target_words = (side[pair] for side in corpus.words)
    source_count, target_count = (
        counts[words] for counts, words in zip(corpus.frequencies, (source_words, target_words), strict=True)
    )
    elsewhere = np.maximum(corpus.linked(source_words[i], target_words[j]) - vote, 0)
    features = (
        *shares[:, i, j],
        elsewhere / (source_count[i] + 1),
        elsewhere / (target_count[j] + 1),
        votes.max(axis=1, initial=0)[i],
        votes.max(axis=0, initial=0)[j],
        votes.sum(axis=1)[i],
        votes.sum(axis=0)[j],
        np.abs(i / max(1, votes.shape[0]) - j / max(1, votes.shape[1])),
        source_count[i],
        target_count[j],
        *near[:, i, j],
    )
    return Candidates(votes.shape, i, j, np.stack(features, axis=1).astype(np.float32))


def _neighbours(votes: np.ndarray) -> np.ndarray:
    """Return the votes for the eight neighbours of each link: shape (8, source length, target length)."""
    padded = np.pad(votes, 1)
    rows, columns = votes.shape
    return np.stack([padded[1 + di : 1 + di + rows, 1 + dj : 1 + dj + columns] for di, dj in NEIGHBOURS])


@dataclass(frozen=True, slots=True)
class LinkClassifier:
    """Tells how probable links are."""

    boosting: HistGradientBoostingClassifier

    @classmethod
    def learn(cls, known: Sequence[tuple[Candidates, Set[Link]]], seed: int) -> LinkClassifier:
        """Learn from the possible links of hand-aligned sentences, and which of them are right."""
        right = np.concatenate([found.are_in(links) for found, links in known])
        if right.all() or not right.any():
            raise UsageError("the hand alignments fit the text nowhere: are they of these sentences?")
        boosting = HistGradientBoostingClassifier(
            max_iter=_ITERATIONS, learning_rate=_LEARNING_RATE, early_stopping=False, random_state=seed
        )
        return cls(boosting.fit(np.concatenate([found.features for found, _ in known]), right))

    def confidences(self, found: Sequence[Candidates]) -> Iterator[np.ndarray]:
        """Yield for each sentence pair the probabilities of all links, 0 for those that are not possible."""
        features = np.concatenate([each.features for each in found])
        probabilities = self.boosting.predict_proba(features)[:, 1] if len(features) else np.zeros(0)
        for each, part in zip(found, np.split(probabilities, _ends(found)), strict=True):
            yield each.confidences(part)


def _ends(found: Sequence[Candidates]) -> np.ndarray:
    return np.cumsum([len(each.sources) for each in found])[:-1]


def check_enough(count: int) -> None:
    """Check the number of hand-aligned sentence pairs."""
    if count < MIN_HAND_ALIGNED:
        raise UsageError(
            f"{count} hand-aligned sentences are too few to learn from: {MIN_HAND_ALIGNED} at least"
        )


def known_candidates(corpus: Corpus, hand: Mapping[int, Alignment]) -> list[tuple[Candidates, Set[Link]]]:
    """Return the possible links of the hand-aligned sentence pairs beside the right ones."""
    return [(candidates(corpus, pair), links.links) for pair, links in hand.items()]


def rescored(corpus: Corpus, classifier: LinkClassifier, pairs: Sequence[int]) -> Iterator[np.ndarray]:
    """Yield for each of these sentence pairs how probable its links are: (source length, target length)."""
    for first in range(0, len(pairs), _BLOCK):
        yield from classifier.confidences(
            [candidates(corpus, pair) for pair in pairs[first : first + _BLOCK]]
        )


def cross_validated(known: Sequence[tuple[Candidates, Set[Link]]], seed: int) -> list[np.ndarray]:
    """Return how probable the links of hand-aligned sentences are, learnt from the other four fifths."""
    order = np.random.default_rng(seed).permutation(len(known))
    found: dict[int, np.ndarray] = {}
    for fold in range(_FOLDS):
        held_out = order[fold::_FOLDS]
        classifier = LinkClassifier.learn([known[n] for n in np.setdiff1d(order, held_out)], seed)
        found |= zip(held_out.tolist(), classifier.confidences([known[n][0] for n in held_out]), strict=True)
    return [found[n] for n in range(len(known))]
