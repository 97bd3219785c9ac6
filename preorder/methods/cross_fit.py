"""Cross-fitting: every line is ordered by a model that has not seen it.

A model applied to its own training lines preorders them better than it ever will a new line; a translation
model trained on such positions would trust them too much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from preorder.data import Bitext, Permutation, Sentence
from preorder.errors import UsageError
from preorder.methods.base import Preorderer
from preorder.progress import LOGGER, named
from preorder.workers import in_processes

Fit = Callable[[Bitext, str, int], Preorderer]
"""Trains on a part of a bitext, on so many threads; the name of the part tells its checkpoint from others."""


def cross_fit(bitext: Bitext, chosen: Sequence[int], folds: int, fit: Fit, threads: int) -> list[Permutation]:
    """Order every line by a model trained on the chosen lines of all folds but its own.

    Line i belongs to fold ``i % folds``. Costs ``folds`` trainings on a ``(folds - 1) / folds`` share of the
    chosen lines. With several threads as many of them run at a time, each in a process that gets the lines of
    its own fold and those that it learns from.

    Args:
        bitext: to be ordered.
        chosen: indices of the lines to learn from.
        folds: their number.
        fit: can be pickled, if there are several threads; what it trains does not depend on its threads.
        threads: of all processes together.

    Raises:
        UsageError: there are fewer chosen lines than folds, or a process died.
    """
    if len({i % folds for i in chosen}) < folds:
        raise UsageError(f"too few lines to train on for {folds} folds")
    permutations: list[Permutation | None] = [None] * len(bitext)
    workers = min(threads, folds)
    order = partial(_order_fold, fit, folds, threads // workers)
    parts = (
        _Part(fold, bitext.take(i for i in chosen if i % folds != fold), bitext.sentences[fold::folds])
        for fold in range(folds)
    )
    LOGGER.info(f"cross-fitting: {folds} models")
    for part, orders in in_processes(order, parts, workers if workers > 1 else 0):
        permutations[part.fold :: folds] = orders
    return permutations  # type: ignore[return-value]  # every line lies in one fold


class _Part(NamedTuple):
    fold: int
    seen: Bitext
    held: Sequence[Sentence]


def _order_fold(fit: Fit, folds: int, threads: int, part: _Part) -> list[Permutation]:
    with named(f"model {part.fold + 1} of {folds}"):
        preorderer = fit(part.seen, f"fold-{part.fold + 1}-of-{folds}", threads)
        return preorderer.order(part.held, threads)
