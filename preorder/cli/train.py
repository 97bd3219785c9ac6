"""``preorder train``: learn to preorder from a word-aligned bitext."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from preorder.alignment.eflomal import align
from preorder.alignment.links import DEFAULT_SYMMETRIZATION
from preorder.annotate import stanza as annotation
from preorder.annotate.classes import DEFAULT_CLASSES
from preorder.annotate.options import AnnotatorOptions
from preorder.annotate.stanza import add_layers
from preorder.command_line import options, source
from preorder.command_line.paths import given_paths
from preorder.command_line.source import Pair, Source
from preorder.data import Alignment, Bitext, Permutation, Sentence
from preorder.data.formats import formatted
from preorder.errors import UsageError
from preorder.io import files, storage
from preorder.learning.checkpoint import Checkpoints
from preorder.methods.model_directory import Model, check_replaceable, load_model, save_model
from preorder.methods.registry import (
    METHODS,
    all_options,
    check_able,
    check_trees,
    choose_method,
    method_class,
    summaries,
)
from preorder.methods.train import (
    BOUNDS,
    DEFAULT_HELD_OUT,
    DEFAULT_LIMIT,
    DEFAULT_MAX_LENGTH,
    MAX_SHARE,
    CrossFitting,
    TrainingPlan,
    check_folds,
    train_model,
)
from preorder.progress import LOGGER, progress

EXAMPLES = """\
  preorder train --src train.en --tgt train.ja --model model
  preorder train --method btg --src train.en --tgt train.ja --model model
  preorder train --method btg --init model --src hand.en --align hand.align --model tuned
  preorder train --method btg --src train.en --pos train.en.pos --align train.align --model model
  preorder train --method btg --annot train.annot --align train.align --model model --seed 7
  preorder train --method btg --src train.en --pos stanza --lang en --align train.align --model model
  preorder train --method btg --src ja.en tr.en --align ja.align tr.align --model verb-final
  preorder train --method rvnn --src train.en --trees train.en.trees --align train.align --model model
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder train``."""
    text = f"{summaries()} (default: rvnn with --trees, else neural-btg for long sentences, else btg; "
    text += "btg without torch)"
    parser.add_argument("--method", choices=tuple(METHODS), help=text)
    parser.add_argument("--model", metavar="DIR", required=True, help="directory to write the model to")
    source.add_layer_options(parser, nargs="+")
    links = parser.add_mutually_exclusive_group(required=True)
    text = "target text, which eflomal aligns first. Several language pairs, --src A B --tgt C D, weigh "
    text += "alike, whatever their sizes"
    options.add_files(links, nargs="+", tgt=text)
    options.add_alignment(links, False, "are heeded by --method btg and neural-btg", nargs="+")
    text = "number of word classes to learn, 0 for none, or a file of word<TAB>class lines; without effect "
    text += f"if --annot has classes (default: {DEFAULT_CLASSES}; with --init the model's)"
    parser.add_argument("--classes", metavar="N|F", type=options.classes, help=text)
    text = "begin from this model of the same --method, and keep its vocabulary, word classes, layers and "
    text += "network: continue with hand-made links, or with another language pair"
    options.add_files(parser, "DIR", init=text)
    add_number = partial(options.add_number, parser)
    add_number("--limit", options.positive, DEFAULT_LIMIT, "use at most N sentences, chosen at random")
    text = "use no sentences of more than N tokens"
    add_number("--max-length", options.training_length, DEFAULT_MAX_LENGTH, text)
    text = "hold N sentences out and measure each iteration on them; the model is always that of the last "
    text += f"iteration. 0: learn from all (default: {DEFAULT_HELD_OUT}, but at most {MAX_SHARE:.0%}%)"
    add_number("--held-out", options.natural, None, text)
    text = "also train K models, each on all but one K-th of the lines, and order that K-th with it, as "
    text += "training data of a translation model; --threads of them at a time"
    add_number("--cross-fit", options.at_least_two, None, text, "K")
    options.add_files(parser, cross_fit_out="file of the lines of --cross-fit, as token￨position")
    text = "use the mean of these K models as the model: better orders, K times as slow; only neural-btg"
    options.add_flags(parser, keep_folds=text)
    text = "train N models, with seeds from --seed on, and use their mean: of probabilities with neural-btg "
    text += "(better, N times as slow), of weights with btg (as fast as one)"
    add_number("--members", options.members, 1, text)
    options.add_seed(parser)
    text = "learn from the source in lower case; the model then reads all text in lower case"
    options.add_flags(parser, lowercase=text)
    add_number("--threads", options.workers, 1, "number of threads")
    text = "start anew instead of resuming from DIR.checkpoint of an interrupted training"
    options.add_flags(parser, fresh=text)
    options.add_method_options(parser, all_options())


@dataclass(frozen=True)
class _Job:
    """The options of a training, and its texts."""

    pairs: Sequence[Pair]
    given: Mapping[str, Any]  # options of methods and of their plan, by name
    method: str | None
    init: str | None
    classes: str | None
    cross_fit: int | None
    cross_fit_out: str | None
    keep_folds: bool
    seed: int
    threads: int
    lowercase: bool
    fresh: bool


def run(arguments: argparse.Namespace) -> None:
    """Train a model and write its directory."""
    if (arguments.cross_fit is None) != (arguments.cross_fit_out is None):
        raise UsageError("--cross-fit and --cross-fit-out go together")
    if arguments.cross_fit_out == files.STANDARD:  # a reader that stops would end the training
        raise UsageError("--cross-fit-out: name a file")
    if arguments.keep_folds and arguments.cross_fit is None:
        raise UsageError("--keep-folds needs --cross-fit")
    check_replaceable(arguments.model, given_paths(arguments.parser, arguments))
    name = arguments.model.rstrip("/")
    is_dot = os.path.basename(name) in (".", "..")  # the checkpoint lies beside the folder, not in it
    checkpoints = Checkpoints((storage.absolute(name) if is_dot else name) + ".checkpoint")
    common = options.taken(Source, arguments, src=files.STANDARD, annot=None, pos=None, trees=None)
    pairs = source.given_pairs(common, {name: getattr(arguments, name) for name in source.PAIR})
    with checkpoints.resumption_logged():
        job = options.taken(_Job, arguments, pairs=pairs, given=vars(arguments))
        save_model(_train(job, checkpoints), arguments.model)
        LOGGER.info(f"model saved in {arguments.model}")
        checkpoints.remove()


def _train(job: _Job, checkpoints: Checkpoints) -> Model:
    initial = None if job.init is None else load_model(job.init)
    if len(job.pairs) > 1 and job.cross_fit:
        raise UsageError("--cross-fit: of one pair alone, as the lines of one text are ordered")
    given, stanza = source.for_model(job.pairs[0].source, initial)
    has_trees = given.trees is not None or (stanza is not None and stanza.trees is not None)
    method = job.method or (None if initial is None else initial.preorderer.method)
    plan = None if method is None else _plan(job, method, initial, has_trees)
    classes = DEFAULT_CLASSES if job.classes is None else source.given_classes(job.classes)
    spelled, others, sizes, tagset = source.read_all_pairs(job.pairs, given.tagset)
    lowercases = initial.lowercased if initial else job.lowercase
    if job.lowercase and not lowercases:
        raise UsageError("--lowercase: the model of --init reads capitals")
    sentences = [one.lowercased().interned() for one in spelled] if lowercases else spelled
    if plan is None:
        method, why = choose_method(sentences, has_trees)
        more = "" if stanza or sentences[0].tags else "tags (--pos) and "
        more += "hand-aligned sentences (preorder align --hand-align) would bring more"
        LOGGER.info(f"--method {method}: {why}; {more}")
        plan = _plan(job, method, None, has_trees)
    numbers = [number for number, size in enumerate(sizes) for _ in range(size)] if len(sizes) > 1 else ()
    lines: Sequence[int] = plan.lines(sentences, numbers)
    if job.cross_fit:
        check_folds(lines, job.cross_fit, plan.held_out)
        lines = range(len(sentences))
    if stanza is not None:  # missing models are an error before the texts are aligned
        annotation.prepare(stanza)
    elif initial is not None:
        initial.annotate(sentences[lines[0]])
    if job.pairs[0].alignment is None:
        others = _aligned([sentence.words for sentence in spelled], others, sizes, job.seed)
    if job.fresh:
        checkpoints.remove()
    if stanza is not None:
        sentences = _with_stanza(sentences, lines, stanza, job.threads, checkpoints)
    cross_fitting = None
    if job.cross_fit and job.cross_fit_out:
        write = partial(_write_orders, job.cross_fit_out, spelled)
        cross_fitting = CrossFitting(job.cross_fit, write, job.keep_folds)
    about: dict[str, Any] = {
        "language": given.lang or (initial and initial.language) or (stanza and stanza.language),
        "tagset": stanza.tagset if stanza else tagset,
        "stanza": stanza or (initial and initial.stanza),
    }
    if lowercases:
        about["lowercased"] = True
    return train_model(plan, Bitext(sentences, others, numbers), classes, checkpoints, cross_fitting, **about)


def _plan(job: _Job, method: str, initial: Model | None, has_trees: bool) -> TrainingPlan:
    method_class(method)  # are its packages installed?
    check_trees(method, has_trees)
    if job.keep_folds:
        check_able("keep_folds", method, "keeps_folds")
    if initial is not None and job.classes is not None:
        raise UsageError("--classes: with --init the model's word classes are used")
    given = options.given_method_options(method, all_options(), job.given)
    for name in BOUNDS:
        given[name] = job.given[name]
    return TrainingPlan.of(method, initial=initial, **given)


def _aligned(
    words: Sequence[Any], targets: Sequence[Any], sizes: Sequence[int], seed: int
) -> list[Alignment]:
    """Align language pairs one after another, given the number of lines of each."""
    found: list[Alignment] = []
    for size in sizes:
        lines = slice(len(found), len(found) + size)
        found += align(words[lines], targets[lines], DEFAULT_SYMMETRIZATION, seed)
    return found


def _write_orders(path: str, sentences: Sequence[Sentence], orders: Sequence[Permutation]) -> None:
    files.write_lines(path, formatted(zip(sentences, orders, strict=True), "features"))


def _with_stanza(
    sentences: Sequence[Sentence],
    lines: Sequence[int],
    stanza: AnnotatorOptions,
    workers: int,
    checkpoints: Checkpoints,
) -> list[Sentence]:
    """Add Stanza's layers to some lines; the others stay as they are."""
    sentences = list(sentences)
    added = add_layers((sentences[i] for i in lines), stanza, workers=workers, checkpoints=checkpoints)
    for i, sentence in zip(lines, progress(added, "sentences", len(lines), "annotated"), strict=True):
        sentences[i] = sentence.interned()
    return sentences
