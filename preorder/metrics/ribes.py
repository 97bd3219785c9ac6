"""RIBES (Isozaki et al. 2010): a metric of translations that looks at the order of words.

The score of a hypothesis h against a reference r, 0 to 1, is

    normalised Kendall's tau · precision ** 0.25 · brevity penalty ** 0.10

over the words of h that can be aligned to a word of r without ambiguity. A context of a word is the word with
some words after it, or with some before it; it is unambiguous where it occurs once in h and once in r. A word
that has an unambiguous context is aligned by the shortest. The share of aligned words is the precision. The
indices in r of the aligned words, read along h, give tau: the share of pairs that ascend. A single aligned
word scores 0, except against a reference of one word. Of several references the best counts; the score of a
corpus is the mean of its sentences.

Equal to the reference scorer of NTT, version 1.03.1, with its defaults: white space separates tokens, upper
and lower case are the same; sentences without any reference are left out of the mean, as with its option -z.
nltk's ``sentence_ribes`` is another in 3 of 500 sentences, where it breaks ties between contexts otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from preorder.compiled import entry_point
from preorder.metrics import DEFAULTS, MetricOptions, Score
from preorder.metrics.orders import count_pairs
from preorder.metrics.translation import EncodedText, WordMetric, words_of_line

ALPHA = 0.25  # exponent of the precision
BETA = 0.10  # exponent of the brevity penalty


def _mean(totals: np.ndarray) -> np.ndarray:
    return totals[..., 0] / np.where(totals[..., 1] > 0, totals[..., 1], 1)


class Ribes(WordMetric):
    """RIBES against fixed references; see :class:`preorder.metrics.Metric`."""

    name: ClassVar[str] = "ribes"
    scores: ClassVar[tuple[Score, ...]] = (Score("ribes", _mean),)

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions = DEFAULTS) -> None:
        super().__init__(references, options)
        self.signature = (
            f"nrefs:{len(references)}|case:{'mixed' if options.case_sensitive else 'lc'}|tok:{options.words}"
            f"|alpha:{ALPHA}|beta:{BETA}|version:1.03.1"
        )

    def statistics(self, hypotheses: Sequence[str]) -> np.ndarray:
        """Return ``[sentences, 2]``: a sentence's score, and 1; 0 and 0 where no reference has a word."""
        encoded = self._encode_hypotheses(hypotheses)
        best = np.max([_sentence_scores(encoded, reference) for reference in self._references], axis=0)
        counts = np.any([np.diff(boundaries) > 0 for _, boundaries in self._references], axis=0)
        return np.column_stack((best, counts.astype(float)))


@entry_point
def _sentence_scores(hypotheses: EncodedText, references: EncodedText) -> np.ndarray:
    scores = np.zeros(len(hypotheses[1]) - 1)
    for k in range(len(scores)):
        scores[k] = _score(words_of_line(hypotheses, k), words_of_line(references, k))
    return scores


@entry_point
def _score(hypothesis: np.ndarray, reference: np.ndarray) -> float:
    if len(hypothesis) == 0 or len(reference) == 0:
        return 0.0
    indices = word_alignment(hypothesis, reference)
    indices = indices[indices >= 0]
    if len(indices) == 1 and len(reference) == 1:
        order = 1.0
    elif len(indices) < 2:
        return 0.0
    else:
        order = count_pairs(indices)[0] / (len(indices) * (len(indices) - 1) / 2)
    precision = len(indices) / len(hypothesis)
    brevity = min(1.0, np.exp(1 - len(reference) / len(hypothesis)))
    return order * precision**ALPHA * brevity**BETA


@entry_point
def word_alignment(hypothesis: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return for each word of a hypothesis the index of its word in the reference, or -1.

    It is where the shortest unambiguous context stands; of two equally long ones the one to the left counts.
    """
    right_length, right_index = _shortest_unambiguous(hypothesis[::-1], reference[::-1])
    left_length, left_index = _shortest_unambiguous(hypothesis, reference)
    m, n = len(hypothesis), len(reference)
    indices = np.full(m, -1)
    for i in range(m):
        left, right = left_length[i], right_length[m - 1 - i]
        if left and (left <= right or not right):
            indices[i] = left_index[i]
        elif right:
            indices[i] = n - 1 - right_index[m - 1 - i]
    return indices


@entry_point
def _shortest_unambiguous(hypothesis: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the length of each word's shortest unambiguous context to the left, and where it ends in r.

    A context of length c that ends at word i also ends at every index before which the same c
    words stand. So it is unambiguous once it is longer than what i shares with any other index
    of h, and with all but one index of r. Length 0: none is unambiguous.
    """
    m, n = len(hypothesis), len(reference)
    lengths = np.zeros(m, np.int64)
    indices = np.zeros(m, np.int64)
    shared_h = np.zeros(m + 1, np.int64)  # [j + 1]: length of the common ending of the words up to i and j
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
                indices[i] = j - 1
            else:
                ambiguous = max(ambiguous, shared_r[j])
        if ambiguous < longest:
            lengths[i] = ambiguous + 1
    return lengths, indices
