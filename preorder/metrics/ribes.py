"""RIBES (Isozaki et al. 2010): a translation measure that looks at the order of words.

The score of a hypothesis h against a reference r, 0 to 1, is

    normalised Kendall's tau · precision ** 0.25 · brevity penalty ** 0.10

over the words of h that can be aligned to a word of r beyond doubt: a word is, whose
shortest unambiguous context is. A context is the word with some words after it, or with
some before it; it is unambiguous where it occurs once in h and once in r. The share of
aligned words is the precision, their places in r, read along h, give tau: the share of
pairs that go up. One word has no pair and scores 0, except against a reference of one word.
Of several references the best counts; a corpus scores the mean of its sentences.

Equal to the reference scorer of NTT, version 1.03.1, its defaults included: tokens are
what white space separates, upper and lower case are not told apart. Sentences without any
reference are left out of the mean, as under its option for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numba
import numpy as np

from preorder.metrics.kendall import count_pairs
from preorder.metrics.metric import DEFAULTS, Figure, MetricOptions
from preorder.metrics.words import WordMetric

ALPHA = 0.25  # exponent of the precision
BETA = 0.10  # exponent of the brevity penalty


def _mean(totals: np.ndarray) -> np.ndarray:
    """Return the mean over the sentences that ``totals[..., 1]`` counts; 0 where there are none."""
    return totals[..., 0] / np.where(totals[..., 1] > 0, totals[..., 1], 1)


class Ribes(WordMetric):
    """RIBES against fixed references; see :class:`preorder.metrics.metric.Metric`."""

    name: ClassVar[str] = "ribes"
    figures: ClassVar[tuple[Figure, ...]] = (Figure("ribes", _mean),)

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:
        """Take the references: each a text of one line for each sentence.

        Raises:
            UsageError: the tokenizer needs a package that is not installed.
        """
        super().__init__(references, options)
        self.signature = (
            f"nrefs:{len(references)}|case:{'mixed' if options.case_sensitive else 'lc'}|tok:{options.words}"
            f"|alpha:{ALPHA}|beta:{BETA}|version:1.03.1"
        )

    def statistics(self, hypotheses: Sequence[str]) -> np.ndarray:
        """Return ``[sentences, 2]``: a sentence's score, and 1; 0 and 0 where no reference has a word."""
        flat = self._flat(hypotheses)
        best = np.max([sentence_scores(*flat, *reference) for reference in self._references], axis=0)
        counts = np.any([np.diff(begins) > 0 for _, begins in self._references], axis=0)
        return np.column_stack((best, counts.astype(float)))


@numba.njit(cache=True, nogil=True)
def sentence_scores(
    hypotheses: np.ndarray,
    hypothesis_begins: np.ndarray,
    references: np.ndarray,
    reference_begins: np.ndarray,
) -> np.ndarray:
    """Return the score of each hypothesis against its reference.

    Compiled; O(m (m + n)) for m words against n.

    Args:
        hypotheses, references: words as integers, all sentences joined.
        hypothesis_begins, reference_begins: where each sentence begins, and the last ends.
    """
    scores = np.zeros(len(hypothesis_begins) - 1)
    for k in range(len(scores)):
        hypothesis = hypotheses[hypothesis_begins[k] : hypothesis_begins[k + 1]]
        reference = references[reference_begins[k] : reference_begins[k + 1]]
        scores[k] = _score(hypothesis, reference)
    return scores


@numba.njit(cache=True, nogil=True)
def _score(hypothesis: np.ndarray, reference: np.ndarray) -> float:
    if len(hypothesis) == 0 or len(reference) == 0:
        return 0.0
    places = word_alignment(hypothesis, reference)
    places = places[places >= 0]
    if len(places) == 1 and len(reference) == 1:
        order = 1.0
    elif len(places) < 2:
        return 0.0
    else:
        order = count_pairs(places, len(reference))[0] / (len(places) * (len(places) - 1) / 2)
    precision = len(places) / len(hypothesis)
    brevity = min(1.0, np.exp(1 - len(reference) / len(hypothesis)))
    return order * precision**ALPHA * brevity**BETA


@numba.njit(cache=True, nogil=True)
def word_alignment(hypothesis: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return for each word of a hypothesis its place in the reference, or -1.

    It is the place of its shortest unambiguous context; of two equally long ones that
    which goes to the left (Isozaki et al. 2010 with contexts of any length, as version 1.03).
    """
    right_length, right_place = _shortest_unambiguous(hypothesis[::-1], reference[::-1])
    left_length, left_place = _shortest_unambiguous(hypothesis, reference)
    m, n = len(hypothesis), len(reference)
    places = np.full(m, -1)
    for i in range(m):
        left, right = left_length[i], right_length[m - 1 - i]
        if left and (left <= right or not right):
            places[i] = left_place[i]
        elif right:
            places[i] = n - 1 - right_place[m - 1 - i]
    return places


@numba.njit(cache=True, nogil=True)
def _shortest_unambiguous(hypothesis: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the length and place of each word's shortest unambiguous context to the left.

    A context of length c that ends at word i occurs wherever c words before and up to
    that place are the same; so it is alone once it is longer than what any other place of
    h, and all but one place of r, share with i. Length 0: none is unambiguous.
    """
    m, n = len(hypothesis), len(reference)
    lengths = np.zeros(m, np.int64)
    places = np.zeros(m, np.int64)
    shared_h = np.zeros(m + 1, np.int64)  # [j + 1]: words that the texts up to i and up to j end in alike
    shared_r = np.zeros(n + 1, np.int64)
    for i in range(m):
        ambiguous = 0  # the longest context that also occurs elsewhere
        for j in range(m, 0, -1):
            shared_h[j] = shared_h[j - 1] + 1 if hypothesis[i] == hypothesis[j - 1] else 0
            if j - 1 != i:
                ambiguous = max(ambiguous, shared_h[j])
        longest = 0  # the longest context that occurs in r
        for j in range(n, 0, -1):
            shared_r[j] = shared_r[j - 1] + 1 if hypothesis[i] == reference[j - 1] else 0
            if shared_r[j] > longest:
                ambiguous = max(ambiguous, longest)
                longest = shared_r[j]
                places[i] = j - 1
            else:
                ambiguous = max(ambiguous, shared_r[j])
        if ambiguous < longest:
            lengths[i] = ambiguous + 1
    return lengths, places
