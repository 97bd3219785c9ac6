"""Sentences sorted into groups by a number: the length of each, or what preordering gained it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from preorder.analysis.defaults import GAIN_WIDTH, LAST_LENGTH, LENGTH_WIDTH

NARROW_WIDTHS = (1, 2, 3, 4, 5)  # for short sentences
ROUNDING = 1e-9  # gains may be off by this


@dataclass(frozen=True)
class SentenceGroups:
    """Groups of sentences.

    Attributes:
        axis: what distinguishes them, with its unit.
        groups: in order, of each a label and the indices of its sentences.
        skipped: how many sentences are in no group.
    """

    axis: str
    groups: tuple[tuple[str, np.ndarray], ...]
    skipped: int


def by_length(lengths: Sequence[int], width: int = LENGTH_WIDTH, last: int = LAST_LENGTH) -> SentenceGroups:
    """Group sentences by their number of tokens: 1–10, 11–20, …, 61+; empty ones are skipped.

    A group has ``width`` lengths; one that would reach ``last``, the least length of the last group, ends
    before it.
    """
    numbers = np.asarray(lengths)
    bins = np.where(numbers >= last, (last - 2) // width + 1, (numbers - 1) // width)
    bins = np.where(numbers > 0, bins, -1)

    def label(index: int) -> str:
        begin, end = index * width + 1, min((index + 1) * width, last - 1)
        if begin > end:
            return f"{last}+"
        return f"{begin}–{end}" if begin < end else str(begin)

    return SentenceGroups("source length (tokens)", tuple(_groups(bins, 0, label)), int(np.sum(numbers < 1)))


def fitting_width(lengths: Sequence[int]) -> tuple[int, int]:
    """Return a width of groups such that six hold nearly all sentences, and the least length of the last.

    Where sentences are long, these are the widths of Kawara et al. 2021.
    """
    longest = np.percentile(lengths, 99) if len(lengths) else 0
    width = next((width for width in NARROW_WIDTHS if 6 * width >= longest), LENGTH_WIDTH)
    return width, 6 * width + 1


def by_gain(gains: Sequence[float], width: float = GAIN_WIDTH) -> SentenceGroups:
    """Group sentences by how much reordering raised their tau: losses, no change, gains.

    Args:
        gains: of each sentence, from -2 to 2; NaN, not known, is skipped.
        width: of all groups but that of exactly 0; each includes its end that is farther from 0.
    """
    numbers = np.asarray(gains, float)
    known = ~np.isnan(numbers)
    steps = np.ceil(np.abs(np.where(known, numbers, 0)) / width - ROUNDING)
    bins = (np.sign(np.where(known, numbers, 0)) * steps).astype(int)
    lowest = int(bins.min(initial=0))

    def label(index: int) -> str:
        if index == 0:
            return "0"
        ends = sorted((index * width, (index - np.sign(index)) * width))
        return " to ".join(f"{end:g}".replace("-", "−") for end in ends)

    bins = np.where(known, bins, lowest - 1)
    groups = tuple(_groups(bins, lowest, label))
    return SentenceGroups("gain of the order in tau", groups, int(np.sum(~known)))


def _groups(bins: np.ndarray, lowest: int, label: Callable[[int], str]) -> Iterator[tuple[str, np.ndarray]]:
    for index in range(lowest, int(bins.max(initial=lowest)) + 1):
        members = np.flatnonzero(bins == index)
        if len(members):
            yield label(index), members
