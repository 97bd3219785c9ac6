"""Which lines to learn from, and cross-fitting: each line ordered by a model that has not seen it.

A model applied to its own training lines preorders them better than it ever will a
new line; a translation model trained on such positions would trust them too much.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from preorder.errors import UsageError
from preorder.preorderer import Preorderer
from preorder.types import Alignment, Permutation, Sentence


@dataclass(frozen=True)
class Bitext:
    """Annotated source sentences and their alignments, equally many."""

    sentences: Sequence[Sentence]
    alignments: Sequence[Alignment]

    def __len__(self) -> int:
        return len(self.sentences)

    def take(self, indices: Sequence[int]) -> Bitext:
        """Return the pairs at the given indices."""
        return Bitext([self.sentences[i] for i in indices], [self.alignments[i] for i in indices])


Fit = Callable[[Bitext], Preorderer]


def chosen_lines(bitext: Bitext, limit: int, max_length: int, seed: int) -> list[int]:
    """Return the indices of the lines to train on, ascending: at most ``limit``, drawn at random.

    Raises:
        UsageError: no line has 1 to ``max_length`` tokens.
    """
    fitting = [i for i, sentence in enumerate(bitext.sentences) if 0 < len(sentence) <= max_length]
    if not fitting:
        raise UsageError(f"no sentence of 1 to {max_length} tokens to train on")
    if len(fitting) <= limit:
        return fitting
    return sorted(random.Random(seed).sample(fitting, limit))


def cross_fit(bitext: Bitext, chosen: Sequence[int], folds: int, fit: Fit, threads: int) -> list[Permutation]:
    """Order every line by a model trained on the chosen lines of all folds but its own.

    Line i belongs to fold ``i % folds``. Costs ``folds`` trainings on a
    ``(folds - 1) / folds`` share of the lines.

    Raises:
        UsageError: there are fewer chosen lines than folds.
    """
    if len({i % folds for i in chosen}) < folds:
        raise UsageError(f"too few lines to train on for {folds} folds")
    permutations: list[Permutation | None] = [None] * len(bitext)
    for fold in range(folds):
        preorderer = fit(bitext.take([i for i in chosen if i % folds != fold]))
        held = range(fold, len(bitext), folds)
        orders = preorderer.order([bitext.sentences[i] for i in held], threads)
        for i, permutation in zip(held, orders, strict=True):
            permutations[i] = permutation
    return permutations  # type: ignore[return-value]  # every line lies in one fold
