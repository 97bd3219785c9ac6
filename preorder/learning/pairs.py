"""Several language pairs in one training, all of the same weight, whatever their numbers of lines.

Each iteration reads as many lines as there are, the same number of each pair. The lines of a small pair are
read several times, those of a large one in turn: drawn anew for each iteration.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from preorder.learning.loop import LINES


def lines_of_iteration(pairs: np.ndarray, seed: int, iteration: int) -> np.ndarray:
    """Return the lines that an iteration reads: int64, ascending; ``pairs`` has the pair of each line.

    Each pair has the same share of them, and its lines are read equally often, but for one time.
    Pairs of the same size are read as one text, each line once.
    """
    generator = np.random.default_rng((seed, iteration, LINES))
    numbers = np.unique(pairs)
    read = []
    for number, part in zip(numbers, np.array_split(pairs, numbers.size), strict=True):
        lines = np.flatnonzero(pairs == number)
        times, rest = divmod(part.size, lines.size)
        read += [np.repeat(lines, times), generator.choice(lines, rest, replace=False)]
    return np.sort(np.concatenate(read))


def pair_numbers(pairs: Sequence[int], lines: int) -> np.ndarray:
    """Return the pair of each line as an array, where none are given: all lines are of one."""
    return np.array(pairs, np.int64) if len(pairs) else np.zeros(lines, np.int64)


def limited(lines: Sequence[int], pairs: Sequence[int], limit: int, seed: int) -> list[int]:
    """Return at most ``limit`` of some lines, drawn and ascending, as many of each pair as it has and may.

    ``pairs`` has the pair of each line. What a small pair leaves is shared by the others.
    """
    of_pair: dict[int, list[int]] = {}
    for line in lines:
        of_pair.setdefault(pairs[line] if pairs else 0, []).append(line)
    generator = random.Random(seed)
    chosen: list[int] = []
    for left, group in zip(range(len(of_pair), 0, -1), sorted(of_pair.values(), key=len), strict=True):
        most = (limit - len(chosen)) // left
        chosen += group if len(group) <= most else generator.sample(group, most)
    return sorted(chosen)
