"""Which order each line of a training text is told: the best, one drawn from the model's forest, its own.

A translation model that has seen only the best orders of a preorderer trusts them too much. Other orders,
drawn anew each time a line comes, tell it how sure the preorderer is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from preorder.data.errors import UsageError

MAX_NUMBER = 1 << 63
Features = list[str]


@dataclass(frozen=True)
class Shares:
    """Shares of a training's lines, 0 to 1, that are told another order than the best.

    Raises:
        UsageError: together they are more than all lines.
    """

    sampled: float
    identity: float

    def __post_init__(self) -> None:
        if self.sampled + self.identity > 1 + 1e-9:
            given = f"preorder_sample {self.sampled:g} and preorder_identity {self.identity:g}"
            raise UsageError(f"{given} are shares of the same lines: together at most 1")


def mix(
    lines: Sequence[str],
    best: Callable[[Sequence[str]], list[Features]],
    draw: Callable[[Sequence[str], Sequence[int]], list[Features]],
    shares: Shares,
    generator: np.random.Generator,
) -> list[Features]:
    """Return what each line is told.

    Args:
        lines: words separated by spaces.
        best: gives the positions of lines in their best order.
        draw: gives their positions in a drawn one, by a number of each line's draw.
        shares: of all lines; what a line is told is drawn for it alone.
        generator: decides; it goes on from call to call, so that a line is told something else when it comes
            again.
    """
    kinds, numbers = generator.random(len(lines)), generator.integers(MAX_NUMBER, size=len(lines))
    told = [list(map(str, range(len(line.split(" "))))) for line in lines]  # their own order
    at_best = np.flatnonzero(kinds >= shares.sampled + shares.identity)
    at_drawn = np.flatnonzero(kinds < shares.sampled)
    found = [
        *zip(at_best, best([lines[i] for i in at_best]), strict=True),
        *zip(at_drawn, draw([lines[i] for i in at_drawn], numbers[at_drawn].tolist()), strict=True),
    ]
    for index, features in found:
        told[index] = features
    return told
