"""How well a word alignment agrees with a gold one (Och and Ney 2003).

A gold alignment has sure links S and possible links P, which include S. Links A have

- precision |A ∩ P| / |A|: a possible link is no error;
- recall |A ∩ S| / |S|: only sure links have to be found;
- alignment error rate 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), 0 to 1, less is better.

All are of a corpus: sums are divided, not sentences' scores averaged. Where there is nothing
to divide by, nothing was wrong: precision and recall are 1, the error rate 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from preorder.data import Alignment
from preorder.errors import DataError


@dataclass(frozen=True)
class AlignmentScores:
    """Agreement of a corpus's links with a gold alignment's; rates from 0 to 1, then counts."""

    aer: float
    precision: float
    recall: float
    f1: float
    sentences: int
    links: int
    sure: int
    possible: int  # without the sure ones
    sure_found: int
    possible_found: int


def alignment_counts(alignment: Alignment, gold: Alignment) -> tuple[int, ...]:
    """Return a sentence's links, sure and possible gold links, and how many of either it has."""
    if alignment.possible:
        raise DataError("possible links (i?j) in an alignment to be judged: only a gold one has them")
    found = alignment.links & gold.links, alignment.links & gold.possible
    return tuple(map(len, (alignment.links, gold.links, gold.possible, *found)))


def alignment_scores(counts: Sequence[tuple[int, ...]]) -> AlignmentScores:
    """Return the scores of a corpus from each sentence's :func:`alignment_counts`."""
    totals = list(map(sum, zip(*counts, strict=True)))
    links, sure, _, sure_found, possible_found = totals
    allowed = sure_found + possible_found
    aer = 1 - _share(sure_found + allowed, links + sure)
    precision, recall = _share(allowed, links), _share(sure_found, sure)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return AlignmentScores(aer, precision, recall, f1, len(counts), *totals)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
