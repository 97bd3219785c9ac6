"""A training, from annotated sentences to a preorderer: which lines, which method, which options.

Cross-fitting: every line is ordered by a model that has not seen it. Orders of seen lines are too good, and
a translation model would trust them too much.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from preorder.annotate.classes import DEFAULT_CLASSES, WordClasses, word_classes
from preorder.data import Bitext, Permutation, Sentence
from preorder.errors import UsageError
from preorder.learning.checkpoint import NO_CHECKPOINT, NO_CHECKPOINTS, Checkpoint, Checkpoints, digest
from preorder.learning.options import (
    MAX_TRAINING_LENGTH,
    check_choice,
    check_number,
    checked_options,
    without_threads,
)
from preorder.learning.pairs import limited
from preorder.methods.base import Preorderer, Training
from preorder.methods.model_directory import Model, is_lowercased
from preorder.methods.registry import METHODS, all_options, check_able, method_class
from preorder.processes import in_processes
from preorder.progress import LOGGER, counted, named

DEFAULT_LIMIT = 100_000
DEFAULT_MAX_LENGTH = 80
DEFAULT_HELD_OUT = 1000  # lines, but at most MAX_SHARE of all
MAX_SHARE = 0.05
Trained = tuple[Preorderer, dict[str, Any]]  # with the statistics of the training
BOUNDS = {
    "limit": (1, 10**9),
    "max_length": (1, MAX_TRAINING_LENGTH),
    "held_out": (0, 10**9),
    "members": (1, 100),
}


@dataclass(frozen=True)
class TrainingPlan:
    """What to train, and on which lines."""

    method: str  # a name of METHODS
    options: Any  # the method's own, with seed and threads
    limit: int = DEFAULT_LIMIT  # most sentences to train on, chosen at random
    max_length: int = DEFAULT_MAX_LENGTH  # in tokens; longer sentences are left out
    held_out: int | None = None  # sentences that only measure the model; None: see hold_out
    members: int = 1  # models to train, with seeds from the options' on; the model is their mean
    initial: Model | None = None  # to begin from, of the same method and with its fixed_options

    def __post_init__(self) -> None:
        if self.members > 1:
            check_able("members", self.method, "averages")

    @classmethod
    def of(cls, method: str, **given: Any) -> TrainingPlan:
        """Make a plan of options by name, the plan's and the method's own, which are checked."""
        options = all_options()[check_choice("method", method, METHODS)]
        names = {field.name for field in fields(options)}
        unknown = given.keys() - names - {field.name for field in fields(cls)[2:]}
        if unknown:
            raise UsageError(f"{min(unknown)} is no option of method {method}")
        chosen = {name: given.pop(name) for name in names & given.keys()}
        if (initial := given.get("initial")) is not None:
            if initial.preorderer.method != method:
                raise UsageError(f"`init`: the model is of method {initial.preorderer.method}, not {method}")
            for name, value in initial.preorderer.fixed_options().items():
                if chosen.setdefault(name, value) != value:
                    raise UsageError(f"`{name}` {chosen[name]}: the model of `init` has {value}")
        for name in BOUNDS.keys() & given.keys():
            if name != "held_out" or given[name] is not None:
                given[name] = check_number(name, given[name], *BOUNDS[name])
        return cls(method, checked_options(options, chosen), **given)

    def lines(self, sentences: Sequence[Sized], pairs: Sequence[int] = ()) -> list[int]:
        """Return the indices of the lines to train on, ascending: ``limit`` of those of a fitting length."""
        fitting = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= self.max_length]
        missing = set(pairs or (0,)) - {pairs[i] if pairs else 0 for i in fitting}
        if missing:
            of_pair = f" in pair {min(missing) + 1}" if pairs else ""
            raise UsageError(f"no sentence of 1 to {self.max_length} tokens to train on{of_pair}")
        chosen = limited(fitting, pairs, self.limit, self.options.seed)
        held_out_lines(len(chosen), self.held_out)
        return chosen

    def read(self, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
        """Return sentences as the initial model reads them, if there is one."""
        return sentences if self.initial is None else list(map(self.initial.annotate, sentences))

    def fit(self, bitext: Bitext, checkpoint: Checkpoint = NO_CHECKPOINT) -> Trained:
        """Learn from all lines but the held-out ones; return the preorderer, and training statistics."""
        initial = None if self.initial is None else self.initial.preorderer
        bitext = replace(bitext, sentences=self.read(bitext.sentences))
        learned, held_out = hold_out(bitext, self.held_out, self.options.seed)
        LOGGER.info(f"training {self.method} on {counted(len(learned), 'line')}; {len(held_out):,} held out")
        trained, found = method_class(self.method), []
        training = Training(learned, self.options, held_out, checkpoint, initial)
        if self.members == 1:
            return trained.fit(training)
        for number in range(1, self.members + 1):
            options = replace(self.options, seed=self.options.seed + number - 1)
            with named(f"member {number} of {self.members}"):
                of_member = checkpoint.member(number)
                found.append(trained.fit(training._replace(options=options, checkpoint=of_member)))
        models, statistics = zip(*found, strict=True)
        statistics[0].pop("weights", None)  # another number than the mean's
        return trained.together(models), statistics[0] | {"members": self.members}

    def train(self, bitext: Bitext, checkpoint: Checkpoint = NO_CHECKPOINT) -> Trained:
        """Learn from the plan's lines as :meth:`fit` does, and count the lines."""
        chosen = bitext.take(self.lines(bitext.sentences, bitext.pairs))
        preorderer, statistics = self.fit(chosen, checkpoint)
        of_pairs = [count for _, count in sorted(Counter(chosen.pairs).items())]
        counts = self.counts(len(bitext), len(chosen)) | ({"pairs": of_pairs} if of_pairs else {})
        return preorderer, counts | statistics

    def together(self, models: Sequence[Preorderer], bitext: Bitext) -> Trained:
        """Return the mean of the models of all folds of a bitext, and statistics."""
        counts = self.counts(len(bitext), len(self.lines(bitext.sentences)))
        statistics = counts | {"options": without_threads(self.options), "folds": len(models)}
        return method_class(self.method).together(models), statistics

    def counts(self, lines: int, used: int) -> dict[str, Any]:
        """Return what the statistics of a training say of its lines, how many are used, and its begin."""
        counts = {"lines": lines, "sentences": used, "seed": self.options.seed}
        if self.initial is not None:
            _, arrays = self.initial.preorderer.state()
            weights = digest(sorted(arrays), *(arrays[name] for name in sorted(arrays)))
            counts["init"] = {"weights": weights, "training": self.initial.training}
        return counts


@dataclass(frozen=True)
class CrossFitting:
    """A training that also orders each of so many folds of the lines by a model of all other folds."""

    folds: int
    write: Callable[[Sequence[Permutation]], None]  # takes the order of each line
    keeps: bool = False  # the model is the mean of those of the folds


def train_model(
    plan: TrainingPlan,
    bitext: Bitext,
    classes: int | WordClasses = DEFAULT_CLASSES,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    cross_fitting: CrossFitting | None = None,
    **about: Any,
) -> Model:
    """Train a model, with word classes, or so many that are learned, unless the plan or the text has some.

    ``about``: fields of the model; the others are as in the plan's initial model, if there is one.
    """
    initial, sentences = plan.initial, bitext.sentences
    found = None if initial is None else initial.classes
    if initial is None and sentences[0].classes is None:
        found = word_classes(classes, sentences, plan.options.seed)
    if found is not None:
        bitext = replace(bitext, sentences=list(map(found.add_to, sentences)))
    models: list[Preorderer] = []
    if cross_fitting is not None:
        orders, models = cross_fit(plan, bitext, cross_fitting.folds, cross_fitting.keeps, checkpoints)
        cross_fitting.write(orders)
        LOGGER.info("cross-fitting is done" + ("" if models else "; the model itself follows"))
    trained = plan.together(models, bitext) if models else plan.train(bitext, checkpoints.part("all"))
    model = initial or Model(trained[0], found, lowercased=is_lowercased(sentences))
    return replace(model, preorderer=trained[0], training=trained[1], **about)


def held_out_lines(lines: int, count: int | None) -> int:
    """Return how many of so many lines are held out if ``count`` are wanted; None: the usual share."""
    if count is None:
        return min(DEFAULT_HELD_OUT, int(MAX_SHARE * lines))
    if count >= lines:
        raise UsageError(f"`held_out` {count}: no line of {lines} is left to learn from")
    return count


def hold_out(bitext: Bitext, count: int | None, seed: int) -> tuple[Bitext, Bitext]:
    """Divide a bitext into the lines to learn from and ``count`` to measure on, drawn by the seed."""
    held = set(random.Random(seed).sample(range(len(bitext)), held_out_lines(len(bitext), count)))
    return bitext.take(i for i in range(len(bitext)) if i not in held), bitext.take(sorted(held))


def check_folds(chosen: Sequence[int], folds: int, held_out: int | None) -> None:
    """Refuse a fold without a line, and one beside which all lines are held out."""
    sizes = Counter(i % folds for i in chosen)
    if len(sizes) < folds:
        raise UsageError(f"too few lines to train on for {folds} folds")
    held_out_lines(len(chosen) - max(sizes.values()), held_out)


def cross_fit(
    plan: TrainingPlan,
    bitext: Bitext,
    folds: int,
    keeps: bool = False,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> tuple[list[Permutation], list[Preorderer]]:
    """Order every line by a model trained on the plan's lines of all folds but its own.

    Returns the models, too, if it ``keeps`` them. Line i belongs to fold ``i % folds``. With several threads
    as many trainings run at a time, each in a process of its own.
    """
    chosen = plan.lines(bitext.sentences, bitext.pairs)
    check_folds(chosen, folds, plan.held_out)
    permutations: list[Any] = [None] * len(bitext)
    models = []
    workers = min(plan.options.threads, folds)
    of_fold = replace(plan, options=replace(plan.options, threads=plan.options.threads // workers))
    work = partial(_fold, of_fold, checkpoints, folds, keeps)
    parts = (
        (fold, bitext.take(i for i in chosen if i % folds != fold), bitext.sentences[fold::folds])
        for fold in range(folds)
    )
    LOGGER.info(f"cross-fitting: {folds} models")
    for (fold, *_), (orders, model) in in_processes(work, parts, workers if workers > 1 else 0):
        permutations[fold::folds] = orders
        models.append(model)
    return permutations, [model for model in models if model is not None]


_Part = tuple[int, Bitext, Sequence[Sentence]]  # a fold, what a model learns from for it, and its lines


def _fold(
    plan: TrainingPlan, checkpoints: Checkpoints, folds: int, keeps: bool, part: _Part
) -> tuple[list[Permutation], Preorderer | None]:
    fold, seen, held = part
    with named(f"model {fold + 1} of {folds}"):
        model, _ = plan.fit(seen, checkpoints.part(f"fold-{fold + 1}-of-{folds}"))
        return model.order(plan.read(held), plan.options.threads), model if keeps else None
