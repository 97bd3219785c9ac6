"""Prepare the sources: align; where a system reads the predicted order, train the preorderer and apply it.

A given preorderer is applied as it is, or trained further. Nothing is aligned that no step reads.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from preorder.learning.options import MAX_THREADS
from preorder.methods.model_directory import load_model
from preorder.methods.registry import NEED_TREES
from preorder_recipes.configuration import FEATURES, GOLD, KEPT, PREDICTED, TEXT, System
from preorder_recipes.pipeline.job import DATA, HAND, PARTS, Job
from preorder_recipes.pipeline.runner import processors
from preorder_recipes.pipeline.steps import Phase, Step

MODEL = "preorderer"
DEFAULT_METHOD = "btg"


def prepare(
    job: Job, aligner: tuple[str, ...] | None, cross_fit: int, options: tuple[str, ...]
) -> list[Phase]:
    """Return the phases that make all that training and scoring read; the job's texts are there.

    Args:
        aligner: further options of ``preorder align``; None: the data come with alignments, or need none.
        cross_fit: number of folds, where a system reads the training text in the order of a preorderer that
            learns from it; 0: one model orders the text from which it has learned.
        options: further options of ``preorder train``.
    """
    links = [] if aligner is None else [_aligned(job, "align", job.alignment, *aligner)]
    if any(one.supervision == KEPT for system in job.systems for one in job.chain(system)):
        links += _source_links(job, aligner is not None)
    ordered = ordered_parts(job)
    trains = bool(ordered) and job.trains_preorderer
    folds = cross_fit if trains and "train" in ordered else 0
    training = [[train_preorderer(job, folds, options)]] if trains else []
    read = {step.name: step for system in job.systems for step in source_steps(job, system)}
    gold = [step for step in read.values() if step.command[1] == "gold"]
    texts = [step for step in read.values() if step not in gold]
    evaluations = []
    if job.has_links:
        gold.insert(0, _gold(job, "test", "positions"))
        predicted = [_convert(job, "test", "positions"), _evaluation(job, PREDICTED)]
        evaluations = [predicted if "test" in ordered else [], [_evaluation(job, GOLD)]]
    phases = [
        links,
        [*training, *([step] for step in gold)],
        [[_apply(job, part, options)] for part in ordered if not (folds and part == "train")],
        [*([step] for step in texts), *evaluations],
    ]
    return [phase for phase in phases if phase]


def needs_links(job: Job) -> bool:
    """Say whether a step of the job reads word alignments, other than to evaluate an order."""
    if job.trains_preorderer:
        return True
    chains = [one for system in job.systems for one in job.chain(system)]
    return any(
        one.order == GOLD or one.supervision == KEPT or (one.options | job.changes).get("lambda_align")
        for one in chains
    )


def ordered_parts(job: Job) -> list[str]:
    """Return the parts whose predicted order a system reads."""
    chains = [one for system in job.systems for one in job.chain(system)]
    learnt = [one.supervision or one.order for one in chains if not one.trained_as]
    orders = {"train": learnt, "dev": learnt, "test": [one.order for one in chains]}
    return [part for part in PARTS if PREDICTED in orders[part]]


def hand_options(job: Job, least: float) -> tuple[str, ...]:
    """Return the options by which hand-aligned sentences teach ``preorder align``."""
    source, target = (job.text(HAND, side) for side in (job.source, job.target))
    return (
        *("--hand-src", source, "--hand-tgt", target, "--hand-align", job.alignment(HAND)),
        *("--min-confidence", f"{least:g}"),
    )


def _source_links(job: Job, align: bool) -> list[list[Step]]:
    """Link every source word (Chen et al. 2020), by one direction alone: half the time of two.

    Alignments that come with the data are taken as they are.
    """
    if align:
        return [_aligned(job, "align-source", job.source_links, "--symmetrize", "reverse")]
    copies = {part: (job.alignment(part), job.source_links(part)) for part in PARTS}
    return [
        [Step(f"align-source-{part}", ("cp", *pair), pair[:1], pair[1:])] for part, pair in copies.items()
    ]


def _aligned(job: Job, name: str, path_of: Callable[[str], str], *options: str) -> list[Step]:
    """Align all parts as one text, then cut the alignment into parts; ``path_of`` names the files."""
    whole, sides = path_of("all"), [job.text("all", side) for side in (job.source, job.target)]
    command = ("preorder", "align", "--src", sides[0], "--tgt", sides[1], *options, "--out", whole)
    reads = [*sides, *(option for option in options if option.startswith(f"{DATA}/"))]
    steps = [Step(name, command, tuple(reads), (whole,))]
    first = 1
    for part in PARTS:
        last = first + (job.folder / job.text(part, job.target)).read_bytes().count(b"\n") - 1
        out = path_of(part)
        cut = ("sed", "-n", f"{first},{last}p", whole)
        steps.append(Step(f"{name}-{part}", cut, (whole,), (out,), output=out))
        first = last + 1
    return steps


def train_preorderer(job: Job, cross_fit: int, options: tuple[str, ...]) -> Step:
    """Return the step that trains the preorderer; the arguments are those of :func:`prepare`."""
    source, alignment = job.text("train", job.source), job.alignment("train")
    layers = _layers(job, "train", options)
    method = () if "--method" in options else ("--method", DEFAULT_METHOD)
    begin = method if job.preorderer is None else ("--init", job.preorderer)
    command = ["preorder", "train", *begin, "--lang", job.source, "--model", MODEL]
    command += ["--src", source, "--align", alignment, *layers, *options]
    makes = [MODEL]
    if cross_fit:
        makes.append(job.reordered("train", PREDICTED, FEATURES))
        command += ["--cross-fit", str(cross_fit), "--cross-fit-out", makes[-1]]
    threads = () if "--threads" in options else ("--threads", str(min(processors(), MAX_THREADS)))
    given = (word for option, word in pairwise((*begin, *options)) if option in ("--init", "--classes"))
    reads = (source, alignment, *layers[1::2], *(word for word in given if not word.isdecimal()))
    return Step("preorder-train", tuple(command), reads, tuple(makes), aside=threads)  # nothing else is long


def source_steps(job: Job, system: System) -> list[Step]:
    """Return the steps that make what a system and those before it in its chain read.

    That is beyond the aligned and preordered text.
    """
    steps = []
    for one in job.chain(system):
        parts = PARTS[-1:] if one.trained_as else PARTS
        if (one.order, one.form) == (PREDICTED, TEXT):
            steps += [_convert(job, part, TEXT) for part in parts]
        if one.order == GOLD:
            steps += [_gold(job, part, one.form) for part in parts]
        if one.supervision == KEPT:
            steps += [_gold(job, part, FEATURES, KEPT) for part in PARTS]
    return steps


def _apply(job: Job, part: str, options: tuple[str, ...]) -> Step:
    source, out = job.text(part, job.source), job.reordered(part, PREDICTED, FEATURES)
    layers = _layers(job, part, options)
    model = MODEL if job.trains_preorderer else str(job.preorderer)
    command = ("preorder", "apply", "--model", model, "--src", source, *layers, "--out", out)
    return Step(f"preorder-apply-{part}", command, (model, source, *layers[1::2]), (out,))


def _layers(job: Job, part: str, options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options of a part's tags and trees, where the preorderer reads them; Stanza's have none."""
    if job.preorderer is not None:
        wanted = needed_layers(job.preorderer)
    else:
        wanted = ("pos", "trees") if any(method in options for method in NEED_TREES) else ("pos",)
    return tuple(word for name in wanted if f"--{name}" not in options for word in job.layer(name, part))


def needed_layers(preorderer: str) -> tuple[str, ...]:
    """Return which of the data's layers a trained preorderer reads: those that Stanza does not add for it."""
    model = load_model(preorderer)
    layers, stanza = model.preorderer.layers, model.stanza
    reads_tags = stanza.tagged if stanza else "tags" in layers
    reads_trees = {"constituency", "dependency"} & layers and not (stanza and stanza.trees)
    return (*(("pos",) if reads_tags else ()), *(("trees",) if reads_trees else ()))


def _gold(job: Job, part: str, form: str, order: str = GOLD) -> Step:
    source, out = job.text(part, job.source), job.reordered(part, order, form)
    alignment = job.source_links(part) if order == KEPT else job.alignment(part)
    command = ("preorder", "gold", "--src", source, "--align", alignment, "--format", form, "--out", out)
    unaligned = ("--unaligned", "keep") if order == KEPT else ()
    name = f"preorder-{order}-{part}-{form}"
    return Step(name, (*command, *unaligned), (source, alignment), (out,))


def _convert(job: Job, part: str, form: str) -> Step:
    """Write predicted features in another format."""
    features, out = job.reordered(part, PREDICTED, FEATURES), job.reordered(part, PREDICTED, form)
    command = ("python", "-m", "preorder_recipes.pipeline.convert", "--features", features, "--format", form)
    return Step(f"convert-{part}-{form}", (*command, "--out", out), (features,), (out,))


def _evaluation(job: Job, order: str) -> Step:
    alignment, positions = job.alignment("test"), job.reordered("test", order, "positions")
    command = ("preorder", "evaluate", "--align", alignment, "--positions", positions, "--json")
    out = job.evaluation(order)
    return Step(f"evaluate-{order}", command, (alignment, positions), (out,), output=out)
