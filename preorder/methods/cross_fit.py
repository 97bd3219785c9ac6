"""Cross-fitting: every line is ordered by a model that has not seen it.

A model applied to its own training lines preorders them better than it ever will a new line; a translation
model trained on such positions would trust them too much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from preorder.data.errors import UsageError
from preorder.data.types import Bitext, Permutation
from preorder.methods.base import Preorderer
from preorder.progress import LOGGER

Fit = Callable[[Bitext, str], Preorderer]
"""Trains on a part of a bitext; the name of the part tells its checkpoint from others."""


def cross_fit(bitext: Bitext, chosen: Sequence[int], folds: int, fit: Fit, threads: int) -> list[Permutation]:
    """Order every line by a model trained on the chosen lines of all folds but its own.

    Line i belongs to fold ``i % folds``. Costs ``folds`` trainings on a ``(folds - 1) / folds`` share of the
    chosen lines, which are given by their indices; the threads order the lines of a fold.

    Raises:
        UsageError: there are fewer chosen lines than folds.
    """
    if len({i % folds for i in chosen}) < folds:
        raise UsageError(f"too few lines to train on for {folds} folds")
    permutations: list[Permutation | None] = [None] * len(bitext)
    for fold in range(folds):
        LOGGER.info(f"cross-fitting: model {fold + 1} of {folds}")
        seen = bitext.take(i for i in chosen if i % folds != fold)
        preorderer = fit(seen, f"fold-{fold + 1}-of-{folds}")
        held = range(fold, len(bitext), folds)
        orders = preorderer.order([bitext.sentences[i] for i in held], threads)
        for i, permutation in zip(held, orders, strict=True):
            permutations[i] = permutation
    return permutations  # type: ignore[return-value]  # every line lies in one fold
