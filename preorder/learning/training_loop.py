"""Training by iterations, the same for every method: early stopping, and going on after an interruption.

After each iteration the model is measured on held-out lines; training stops when some bring nothing better.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from preorder.data.types import Permutation, Sentence
from preorder.learning.checkpoint import Arrays, Checkpoint, add_prefix, digest, part_with
from preorder.learning.held_out import HeldOutLines
from preorder.progress import LOGGER, progress_bar

TAU = "tau_nakagawa"
ERRORS = "errors"

TrainingStatistics = dict[str, float]
"""Numbers measured in one iteration, by name."""


class Trainable(Protocol):
    """What learns. The same data, options and iterations leave it in the same state, to the last bit."""

    def key(self) -> str:
        """Return the :func:`preorder.learning.checkpoint.digest` of data and options."""

    def __len__(self) -> int:
        """Return how many sentences it learns from in an iteration."""

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> TrainingStatistics:
        """Learn from every sentence once.

        Args:
            iteration: from 1; random numbers depend on it and the seed alone.
            advance: for a progress bar; called with the number of sentences done since the last call.

        Returns:
            Statistics of the iteration, among them ``errors``; training ends where that is 0.
        """

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        """Return the reordering of each sentence by the model as it is now."""

    def model(self) -> Arrays:
        """Return the model as it is now; later learning may change these arrays."""

    def state(self) -> Arrays:
        """Return all that further iterations depend on; later learning may change these arrays."""

    def restore(self, arrays: Arrays) -> None:
        """Go back to a :meth:`state`."""


@dataclass(frozen=True)
class Schedule:
    """When training ends, and which iteration's model it gives.

    Attributes:
        iterations: the maximum; training also ends after an iteration without errors.
        patience: stop once so many iterations have not raised the tau on the held-out lines.
        keep_best: give the model of the iteration with the highest tau, else that of the last, which suits
            a method whose models differ by less than the tau of the held-out lines is uncertain.
    """

    iterations: int
    patience: int
    keep_best: bool = True


def train(
    trainable: Trainable, schedule: Schedule, held_out: HeldOutLines, checkpoint: Checkpoint
) -> tuple[Arrays, dict[str, Any]]:
    """Train, or go on with a training that was interrupted, to the same end.

    Returns:
        The :meth:`Trainable.model` of the best or last iteration; and of the training: ``history``, the
        statistics of each iteration, with ``tau_nakagawa`` on the held-out lines; ``iteration``, from 1,
        that of the model; ``held_out``, how many lines were measured.

    Raises:
        UsageError: the checkpoint is of other data or options.
        DataError: the checkpoint cannot be read or written.
    """
    sentences = [sentence.words for sentence in held_out.sentences]
    key = digest([trainable.key(), asdict(schedule), sentences, held_out.groups])
    history, kept = _resume(trainable, key, checkpoint)
    total, initial = (len(trainable) * count for count in (schedule.iterations, len(history)))
    with progress_bar(total=total, initial=initial, unit=" sentences", unit_scale=True) as bar:
        while not _ended(history, schedule):
            start = time.monotonic()
            bar.set_description(f"iteration {len(history) + 1}/{schedule.iterations}")
            statistics = trainable.learn(len(history) + 1, bar.update)
            if len(held_out):
                statistics[TAU] = held_out.tau(trainable.order(held_out.sentences))
            history.append(statistics)
            _say(history, schedule, len(held_out), time.monotonic() - start)
            ended = _ended(history, schedule)
            if _kept(history, schedule) == len(history) and (schedule.keep_best or ended):
                kept = trainable.model() if ended else _copied(trainable.model())
            if checkpoint.due and not ended:
                arrays = add_prefix("kept.", kept) | add_prefix("state.", trainable.state())
                checkpoint.save(key, {"history": history, "finished": False}, arrays)
    LOGGER.info(f"training ends: the model is that of iteration {_kept(history, schedule)}")
    checkpoint.save(key, {"history": history, "finished": True}, add_prefix("kept.", kept))
    return kept, {"history": history, "iteration": _kept(history, schedule), "held_out": len(held_out)}


def _resume(
    trainable: Trainable, key: str, checkpoint: Checkpoint
) -> tuple[list[TrainingStatistics], Arrays]:
    """Return the history and the model that a checkpoint holds, or nothing, and restore its state."""
    saved = checkpoint.load(key)
    if saved is None:
        return [], {}
    values, arrays = saved
    LOGGER.info(f"an interrupted training goes on after iteration {len(values['history'])}")
    if not values["finished"]:
        trainable.restore(part_with("state.", arrays))
    return values["history"], part_with("kept.", arrays)


def _copied(arrays: Arrays) -> Arrays:
    return {name: array.copy() for name, array in arrays.items()}


def _say(history: list[TrainingStatistics], schedule: Schedule, held_out: int, seconds: float) -> None:
    """Tell what the last iteration has brought."""
    statistics = dict(history[-1])
    parts = []
    if TAU in statistics:
        parts.append(f"{TAU} {statistics.pop(TAU):.4f} on {held_out:,} held-out lines")
    parts.extend(f"{name} {_shown(value)}" for name, value in statistics.items())
    LOGGER.info(f"iteration {len(history)} of {schedule.iterations}: {', '.join(parts)} ({seconds:.1f} s)")


def _shown(value: float) -> str:
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}"


def _ended(history: list[TrainingStatistics], schedule: Schedule) -> bool:
    if not history:
        return False
    waited = len(history) - _best(history) >= schedule.patience
    return waited or len(history) >= schedule.iterations or history[-1][ERRORS] == 0


def _kept(history: list[TrainingStatistics], schedule: Schedule) -> int:
    return _best(history) if schedule.keep_best else len(history)


def _best(history: list[TrainingStatistics]) -> int:
    """Return the first iteration of the highest tau, from 1; the last one where no tau was measured."""
    if TAU not in history[-1]:
        return len(history)
    return max(range(len(history)), key=lambda i: history[i][TAU]) + 1
