"""Training by iterations, the same for every method: held-out lines, early stopping, interruptions.

After each iteration the model is measured on lines that it does not learn from, and training stops
once some iterations have brought nothing better.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from tqdm import tqdm

from preorder.alignment.target_groups import target_groups
from preorder.data.types import Bitext, Permutation, Sentence
from preorder.learning.checkpoint import Arrays, Checkpoint, digest
from preorder.metrics.preordering import mean_scores, order_statistics

TAU = "tau_nakagawa"
ERRORS = "errors"

Figures = dict[str, float]


class Trainee(Protocol):
    """What learns. The same data, options and iterations leave it in the same state, to the last bit."""

    def key(self) -> str:
        """Return the :func:`preorder.learning.checkpoint.digest` of data and options."""

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


@dataclass(frozen=True)
class Schedule:
    """When training ends, and what it gives.

    Attributes:
        iterations: at most so many; an iteration without errors is the last, too.
        patience: stop once so many iterations have not raised the tau on the held-out lines.
        keep_best: give the model of the iteration with the highest tau, not of the last. For a method
            whose models differ more than the tau of the held-out lines is uncertain.
    """

    iterations: int
    patience: int
    keep_best: bool = True


def fit(
    trainee: Trainee, schedule: Schedule, held_out: HeldOut, checkpoint: Checkpoint
) -> tuple[Arrays, dict[str, Any]]:
    """Train, and return the model of the best or last iteration, and figures of the training.

    A training that was interrupted goes on from its checkpoint, to the same end.

    Returns:
        The :meth:`Trainee.model`; ``history``, the figures of each iteration, with ``tau_nakagawa`` on
        the held-out lines; ``iteration``, from 1, that of the model; ``held_out``, the lines measured.

    Raises:
        UsageError: the checkpoint is of other data or options.
        DataError: the checkpoint cannot be read or written.
    """
    key = digest([trainee.key(), asdict(schedule), [s.words for s in held_out.sentences], held_out.keys])
    history: list[Figures] = []
    kept: Arrays = {}
    saved = checkpoint.load(key)
    if saved is not None:
        history, kept = saved[0]["history"], _part(saved[1], "kept.")
        print(f"an interrupted training goes on after iteration {len(history)}", file=sys.stderr)
        if not saved[0]["finished"]:
            trainee.restore(_part(saved[1], "state."))
        del saved
    with tqdm(
        total=schedule.iterations * len(trainee),
        initial=len(history) * len(trainee),
        unit=" sentences",
        unit_scale=True,
        disable=None,
    ) as bar:
        while not _ended(history, schedule):
            bar.set_description(f"iteration {len(history) + 1}/{schedule.iterations}")
            figures = trainee.learn(len(history) + 1, bar.update)
            if len(held_out):
                figures[TAU] = held_out.tau(trainee.order(held_out.sentences))
            history.append(figures)
            bar.set_postfix({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in figures.items()})
            ended = _ended(history, schedule)
            if _kept(history, schedule) == len(history) and (schedule.keep_best or ended):
                kept = trainee.model()
            if checkpoint.due and not ended:
                arrays = _named("kept.", kept) | _named("state.", trainee.state())
                checkpoint.save(key, {"history": history, "finished": False}, arrays)
    checkpoint.save(key, {"history": history, "finished": True}, _named("kept.", kept))
    return kept, {"history": history, "iteration": _kept(history, schedule), "held_out": len(held_out)}


def _ended(history: list[Figures], schedule: Schedule) -> bool:
    if not history:
        return False
    waited = len(history) - _best(history) >= schedule.patience
    return waited or len(history) >= schedule.iterations or history[-1][ERRORS] == 0


def _kept(history: list[Figures], schedule: Schedule) -> int:
    return _best(history) if schedule.keep_best else len(history)


def _best(history: list[Figures]) -> int:
    """Return the first iteration of the highest tau, from 1; the last one where no tau was measured."""
    if TAU not in history[-1]:
        return len(history)
    return max(range(len(history)), key=lambda i: history[i][TAU]) + 1


def _named(prefix: str, arrays: Arrays) -> Arrays:
    return {prefix + name: array for name, array in arrays.items()}


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
