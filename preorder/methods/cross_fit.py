"""Which lines to learn from and which to hold out; cross-fitting: orders by models that have not seen a line.

A model applied to its own training lines preorders them better than it ever will a
new line; a translation model trained on such positions would trust them too much.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from preorder.data.errors import UsageError
from preorder.data.types import Bitext, Permutation
from preorder.methods.base import Preorderer

HELD_OUT = 1000
"""Lines held out where nothing else is said, but at most ``HELD_OUT_SHARE`` of them."""

HELD_OUT_SHARE = 0.05

Fit = Callable[[Bitext, str], Preorderer]
"""Trains on a part of a bitext that goes by a name."""


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


def hold_out(bitext: Bitext, lines: int | None, seed: int) -> tuple[Bitext, Bitext]:
    """Divide a bitext into the lines to learn from and those to measure on, drawn at random.

    Args:
        bitext: what there is.
        lines: how many to hold out; None: ``HELD_OUT``, but at most ``HELD_OUT_SHARE`` of all.
        seed: the same seed holds out the same lines.

    Raises:
        UsageError: no line is left to learn from.
    """
    if lines is None:
        lines = min(HELD_OUT, int(HELD_OUT_SHARE * len(bitext)))
    if lines >= len(bitext):
        raise UsageError(f"--held-out {lines}: no line of {len(bitext)} is left to learn from")
    held = set(random.Random(seed).sample(range(len(bitext)), lines))
    return bitext.take(i for i in range(len(bitext)) if i not in held), bitext.take(sorted(held))


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
        seen = bitext.take(i for i in chosen if i % folds != fold)
        preorderer = fit(seen, f"fold-{fold + 1}-of-{folds}")
        held = range(fold, len(bitext), folds)
        orders = preorderer.order([bitext.sentences[i] for i in held], threads)
        for i, permutation in zip(held, orders, strict=True):
            permutations[i] = permutation
    return permutations  # type: ignore[return-value]  # every line lies in one fold
