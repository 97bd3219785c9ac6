"""A training, from annotated sentences to a preorderer: which lines, which method, which options."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from preorder.data import Bitext
from preorder.errors import UsageError
from preorder.learning.checkpoint import NO_CHECKPOINT, Checkpoint
from preorder.learning.held_out import chosen_lines, hold_out
from preorder.learning.options import (
    MAX_TRAINING_LENGTH,
    check_choice,
    check_number,
    checked_options,
    with_fixed,
)
from preorder.methods.base import Preorderer
from preorder.methods.initial import initial_preorderer, initial_statistics
from preorder.methods.model_directory import Model
from preorder.methods.registry import METHODS, all_options, method_class
from preorder.progress import LOGGER

DEFAULT_LIMIT = 100_000
DEFAULT_MAX_LENGTH = 80
BOUNDS = {"limit": (1, 10**9), "max_length": (1, MAX_TRAINING_LENGTH), "held_out": (0, 10**9)}


@dataclass(frozen=True)
class TrainingPlan:
    """What to train, and on which lines.

    Attributes:
        method: a name of :data:`preorder.methods.registry.METHODS`.
        options: the method's own, with ``seed`` and ``threads``.
        limit: train on at most so many sentences, drawn at random.
        max_length: leave out sentences of more tokens.
        held_out: so many of these only measure the model; None: see :func:`hold_out`.
        initial: a model to begin from, of the same method and with all its ``fixed_options``; or None.
    """

    method: str
    options: Any
    limit: int = DEFAULT_LIMIT
    max_length: int = DEFAULT_MAX_LENGTH
    held_out: int | None = None
    initial: Model | None = None

    @classmethod
    def of(cls, method: str, **given: Any) -> TrainingPlan:
        """Make a plan of options by name, the plan's and the method's own.

        Raises:
            UsageError: there is no such method, or it has no such option, or not with such a value; or the
                initial model contradicts.
        """
        options = all_options()[check_choice("method", method, METHODS)]
        names = {field.name for field in fields(options)}
        unknown = given.keys() - names - {field.name for field in fields(cls)[2:]}
        if unknown:
            raise UsageError(f"{min(unknown)} is no option of method {method}")
        chosen = {name: given.pop(name) for name in names & given.keys()}
        if given.get("initial") is not None:
            begun = initial_preorderer(given["initial"], method)
            chosen = with_fixed(chosen, begun.fixed_options())
        for name in BOUNDS.keys() & given.keys():
            if name != "held_out" or given[name] is not None:
                given[name] = check_number(name, given[name], *BOUNDS[name])
        return cls(method, checked_options(options, chosen), **given)

    def lines(self, bitext: Bitext) -> list[int]:
        """Return the indices of the lines to train on, ascending; a UsageError says that there are none."""
        return chosen_lines(bitext, self.limit, self.max_length, self.options.seed)

    def fit(
        self, bitext: Bitext, checkpoint: Checkpoint = NO_CHECKPOINT
    ) -> tuple[Preorderer, dict[str, Any]]:
        """Learn from all lines of a bitext but the held-out ones.

        Returns:
            The preorderer, and statistics of its training.

        Raises:
            UsageError: no line is left to learn from, or the checkpoint is of another training; or the lines
                lack a layer that the initial model needs, or training cannot begin from it.
        """
        begun = {}
        if self.initial is not None:
            begun["initial"] = initial_preorderer(self.initial, self.method)
            bitext = replace(bitext, sentences=list(map(self.initial.annotate, bitext.sentences)))
        learned, held_out = hold_out(bitext, self.held_out, self.options.seed)
        LOGGER.info(f"training {self.method} on {len(learned):,} lines; {len(held_out):,} are held out")
        fit = method_class(self.method).fit
        return fit(learned, self.options, held_out, checkpoint, **begun)

    def train(
        self, bitext: Bitext, checkpoint: Checkpoint = NO_CHECKPOINT
    ) -> tuple[Preorderer, dict[str, Any]]:
        """Learn from the plan's lines; returns and raises what :meth:`fit` does, the lines counted too."""
        used = bitext.take(self.lines(bitext))
        preorderer, statistics = self.fit(used, checkpoint)
        counts = {"lines": len(bitext), "sentences": len(used), "seed": self.options.seed}
        if self.initial is not None:
            counts["init"] = initial_statistics(self.initial)
        return preorderer, counts | statistics
