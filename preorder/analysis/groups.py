"""Sentences sorted into groups by a number that each has: its length, or what preordering gained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from preorder.analysis.defaults import GAIN_WIDTH, LAST, WIDTH

NARROW = (1, 2, 3, 4, 5)  # other widths than the usual one
ROUNDING = 1e-9


@dataclass(frozen=True)
class Grouping:
    """Groups in order: for each a label and the indices of its sentences; sentences in none are skipped."""

    axis: str
    groups: tuple[tuple[str, np.ndarray], ...]
    skipped: int


def by_length(lengths: Sequence[int], width: int = WIDTH, last: int = LAST) -> Grouping:
    """Group sentences by their number of tokens: 1–10, 11–20, …, 61+; empty ones are skipped.

    Args:
        lengths: tokens of each source sentence.
        width: lengths in a group; a group that would reach ``last`` ends before it.
        last: the least length of the last group.
    """
    numbers = np.asarray(lengths)
    bins = np.where(numbers >= last, (last - 2) // width + 1, (numbers - 1) // width)
    bins = np.where(numbers > 0, bins, -1)

    def label(index: int) -> str:
        begin, end = index * width + 1, min((index + 1) * width, last - 1)
        if begin > end:
            return f"{last}+"
        return f"{begin}–{end}" if begin < end else str(begin)

    return Grouping("source length (tokens)", tuple(_groups(bins, 0, label)), int(np.sum(numbers < 1)))


def fitting_width(lengths: Sequence[int]) -> tuple[int, int]:
    """Return a width of groups, and where the last begins, so that six of them hold nearly all sentences.

    Where sentences are long, or very long, those are the paper's.
    """
    most = np.percentile(lengths, 99) if len(lengths) else 0
    width = next((width for width in NARROW if 6 * width >= most), WIDTH)
    return width, 6 * width + 1


def by_gain(gains: Sequence[float], width: float = GAIN_WIDTH) -> Grouping:
    """Group sentences by what reordering gained them in tau: losses, none at all, gains.

    Args:
        gains: of each sentence, from -2 to 2; NaN: not known, skipped.
        width: of the groups beside the one of exactly 0; each holds its end that is farther from 0.
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
    return Grouping("gain of the order in tau", tuple(_groups(bins, lowest, label)), int(np.sum(~known)))


def _groups(bins: np.ndarray, lowest: int, label: Callable[[int], str]) -> Iterator[tuple[str, np.ndarray]]:
    for index in range(lowest, int(bins.max(initial=lowest)) + 1):
        members = np.flatnonzero(bins == index)
        if len(members):
            yield label(index), members
