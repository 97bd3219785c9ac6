"""Training by iterations, the same for every method, which resumes after an interruption.

Held-out lines choose nothing: the model is that of the last iteration, which on other lines is as good as the
best one or better (docs/benchmarks.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from preorder.alignment.gold import trusted_groups
from preorder.data import Bitext, Permutation, Sentence
from preorder.learning.checkpoint import Arrays, Checkpoint, digest
from preorder.progress import LOGGER, progress_bar

TAU = "tau_nakagawa"
ERRORS = "errors"
LINKS, WORDS, LINES = 1, 2, 3
"""Random streams of an iteration: added to its seed. The stream without a number shuffles the sentences."""

TrainingStatistics = dict[str, float]  # numbers measured in one iteration, by name


class HeldOutLines:
    """Lines to measure a model on: those of two tokens or more whose alignment says where they belong."""

    def __init__(self, bitext: Bitext) -> None:
        lines = zip(bitext.sentences, bitext.alignments, bitext.pairs or (0,) * len(bitext), strict=True)
        grouped = [
            (s, trusted, pair)
            for s, a, pair in lines
            if len(s) > 1 and (trusted := trusted_groups(a, len(s)))
        ]
        self.sentences = [sentence for sentence, *_ in grouped]
        self.groups = [groups for _, (groups, _), _ in grouped]
        self._lines_of: dict[int, list[int]] = {}
        for line, (*_, pair) in enumerate(grouped):
            self._lines_of.setdefault(pair, []).append(line)

    def __len__(self) -> int:
        return len(self.sentences)

    def taus(self, permutations: Sequence[Permutation]) -> TrainingStatistics:
        """Return the mean tau_nakagawa of one reordering of each sentence; about 2 µs a token.

        Of several language pairs that of each follows: ``tau_nakagawa_1``, …
        """
        from preorder.metrics.orders import TAU_NAKAGAWA, sentence_scores  # imports numba

        if not permutations:
            return {}
        scores = sentence_scores(self.groups, [p.positions for p in permutations])
        found = scores[:, TAU_NAKAGAWA]
        taus = {TAU: float(found.mean())}
        if len(self._lines_of) > 1:
            for pair, lines in sorted(self._lines_of.items()):
                taus[f"{TAU}_{pair + 1}"] = float(found[lines].mean())
        return taus


class Trainable(Protocol):
    """What learns. The same data, options and iterations leave it in the same state, to the last bit.

    Its length is the number of sentences. Iterations count from 1; random numbers depend on this and the seed
    alone. ``advance`` is called with the number of sentences done since the last call.
    """

    def __len__(self) -> int: ...
    def key(self) -> str:
        """Return the digest of data and options."""

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> TrainingStatistics:
        """Learn from an iteration's sentences; return statistics. Training ends where ``errors`` are 0."""

    def order(self, sentences: Sequence[Sentence]) -> list[Permutation]:
        """Order sentences by the model as it is now."""

    def model(self) -> Arrays:
        """Return the model as it is now; later learning may change these arrays, and those of the state."""

    def state(self) -> Arrays:
        """Return all that further iterations depend on."""

    def restore(self, arrays: Arrays) -> None:
        """Take the arrays of a :meth:`state`."""


def train(
    trainable: Trainable, iterations: int, held_out: HeldOutLines, checkpoint: Checkpoint
) -> tuple[Arrays, dict[str, Any]]:
    """Train, or go on with a training that was interrupted, to the same end.

    Returns the last :meth:`Trainable.model`; and ``history``, the statistics of each iteration,
    ``iteration``, that of the model, from 1, and ``held_out``, how many lines were measured.
    """
    sentences = [sentence.words for sentence in held_out.sentences]
    key = digest([trainable.key(), iterations, sentences, held_out.groups])
    history, model = [], None
    if (saved := checkpoint.load(key)) is not None:
        values, arrays = saved
        history = values["history"]
        LOGGER.info(f"an interrupted training goes on after iteration {len(history)}")
        if values["finished"]:
            model = arrays
        else:
            trainable.restore(arrays)
    total, initial = (len(trainable) * count for count in (iterations, len(history)))
    with progress_bar("sentences", total, done=initial) as add:
        while model is None:
            start = time.monotonic()
            add(0, f"iteration {len(history) + 1}/{iterations}")
            statistics = trainable.learn(len(history) + 1, add)
            if len(held_out):
                statistics |= held_out.taus(trainable.order(held_out.sentences))
            history.append(statistics)
            parts = []
            for name, value in sorted(statistics.items(), key=lambda item: item[0] != TAU):
                text = f"{name} {value:.4f}" if isinstance(value, float) else f"{name} {value:,}"
                parts.append(text + f" on {len(held_out):,} held-out lines" * (name == TAU))
            done, seconds = f"iteration {len(history)} of {iterations}", time.monotonic() - start
            LOGGER.info(f"{done}: {', '.join(parts)} ({seconds:.1f} s)")
            if len(history) >= iterations or statistics[ERRORS] == 0:
                model = trainable.model()
                checkpoint.save(key, {"history": history, "finished": True}, model)
            elif checkpoint.due:
                checkpoint.save(key, {"history": history, "finished": False}, trainable.state())
    LOGGER.info(f"training ends: the model is that of iteration {len(history)}")
    return model, {"history": history, "iteration": len(history), "held_out": len(held_out)}
