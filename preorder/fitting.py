"""Training by iterations, the same for every method: held-out lines, early stopping, going on after an end.

After each iteration the model is measured on lines that it does not learn from. The best iteration's
model is what training gives, and training stops once some iterations have brought nothing better.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tqdm import tqdm

from preorder.checkpoint import Arrays, Checkpoint
from preorder.metrics.preordering import mean_scores, order_statistics
from preorder.target_groups import target_groups
from preorder.types import Bitext, Permutation, Sentence

TAU = "tau_nakagawa"
ERRORS = "errors"

Figures = dict[str, float]


class Trainee(Protocol):
    """What learns. The same data, options and iterations leave it in the same state, to the last bit."""

    def key(self) -> str:
        """Return the :func:`preorder.checkpoint.digest` of data and options."""

    def __len__(self) -> int:
        """Return how many sentences an iteration learns from."""

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> Figures:
        """Learn from every sentence once.

        Args:
            iteration: from 1; what is drawn at random may depend on nothing but it and the seed.
            advance: to be called now and then with the number of sentences done since.

        Returns:
            Figures of the iteration, among them ``errors``; 0 of them end the training.
        """

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        """Return the reordering of each sentence by the model as it is now."""

    def model(self) -> Arrays:
        """Return all that the model as it is now consists of; later learning must not change it."""

    def state(self) -> Arrays:
        """Return all that further iterations depend on; it is written before learning goes on."""

    def restore(self, arrays: Arrays) -> None:
        """Put a new trainee into a :meth:`state`."""


class HeldOut:
    """Lines to measure a model on while it learns; those whose alignment asks for no order are left out."""

    def __init__(self, bitext: Bitext) -> None:
        pairs = zip(bitext.sentences, bitext.alignments, strict=True)
        groups = [(s, target_groups(a, len(s))) for s, a in pairs if len(s) > 1]
        self.sentences = [sentence for sentence, keys in groups if keys is not None]
        self.keys = [keys for _, keys in groups if keys is not None]

    def __len__(self) -> int:
        return len(self.sentences)

    def tau(self, permutations: Sequence[Permutation]) -> float:
        """Return the mean tau_nakagawa of the lines' reorderings; about 2 µs a token."""
        return mean_scores(order_statistics(self.keys, [p.positions for p in permutations])).tau_nakagawa


def fit(
    trainee: Trainee, iterations: int, patience: int, held_out: HeldOut, checkpoint: Checkpoint
) -> tuple[Arrays, dict[str, Any]]:
    """Train, and return the best iteration's model and figures of the training.

    Training ends after ``iterations``, after an iteration without errors, or once ``patience``
    iterations have not raised the tau on the held-out lines; without such lines the last iteration
    is the best. A training that was interrupted goes on from its checkpoint, to the same end.

    Returns:
        The :meth:`Trainee.model`; ``history``, the figures of each iteration, with ``tau_nakagawa`` on
        the held-out lines; ``best_iteration``, from 1; ``held_out``, how many lines were measured.

    Raises:
        UsageError: the checkpoint is of other data or options.
        DataError: the checkpoint cannot be read or written.
    """
    key = trainee.key()
    history: list[Figures] = []
    best: Arrays = {}
    saved = checkpoint.load(key)
    if saved is not None:
        history, best = saved[0]["history"], _part(saved[1], "best.")
        print(f"an interrupted training goes on after iteration {len(history)}", file=sys.stderr)
        if not saved[0]["finished"]:
            trainee.restore(_part(saved[1], "state."))
        del saved
    with tqdm(
        total=iterations * len(trainee),
        initial=len(history) * len(trainee),
        unit=" sentences",
        unit_scale=True,
        disable=None,
    ) as bar:
        while not _ended(history, iterations, patience):
            bar.set_description(f"iteration {len(history) + 1}/{iterations}")
            figures = trainee.learn(len(history) + 1, bar.update)
            if len(held_out):
                figures[TAU] = held_out.tau(trainee.order(held_out.sentences))
            history.append(figures)
            bar.set_postfix(figures)
            if _best(history) == len(history) and (len(held_out) or _ended(history, iterations, patience)):
                best = trainee.model()
            if checkpoint.due and not _ended(history, iterations, patience):
                arrays = {f"best.{k}": v for k, v in best.items()}
                arrays |= {f"state.{k}": v for k, v in trainee.state().items()}
                checkpoint.save(key, {"history": history, "finished": False}, arrays)
    checkpoint.save(key, {"history": history, "finished": True}, {f"best.{k}": v for k, v in best.items()})
    return best, {"history": history, "best_iteration": _best(history), "held_out": len(held_out)}


def _ended(history: list[Figures], iterations: int, patience: int) -> bool:
    if not history:
        return False
    return len(history) >= iterations or history[-1][ERRORS] == 0 or len(history) - _best(history) >= patience


def _best(history: list[Figures]) -> int:
    """Return the first iteration of the highest tau, from 1; the last one where no tau was measured."""
    if TAU not in history[-1]:
        return len(history)
    return max(range(len(history)), key=lambda i: history[i][TAU]) + 1


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
