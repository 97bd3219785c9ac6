"""``preorder train``: learn to preorder from a word-aligned bitext."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from preorder.alignment.eflomal import align
from preorder.alignment.links import DEFAULT_SYMMETRIZATION
from preorder.annotate import stanza as annotation
from preorder.annotate.classes import DEFAULT_CLASSES
from preorder.annotate.stanza import StanzaOptions, add_layers
from preorder.cli import source
from preorder.command_line import options
from preorder.command_line.paths import given_paths
from preorder.data import Alignment, Bitext
from preorder.data.formats import formatted
from preorder.errors import UsageError
from preorder.io import files, storage
from preorder.learning import options as method_options
from preorder.learning.checkpoint import Checkpoints
from preorder.methods.base import Preorderer
from preorder.methods.model_directory import Model, check_replaceable, is_lowercased, load_model, save_model
from preorder.methods.registry import METHODS, all_options, check_able, check_trees, method_class
from preorder.methods.train import (
    DEFAULT_HELD_OUT,
    DEFAULT_LIMIT,
    DEFAULT_MAX_LENGTH,
    MAX_SHARE,
    TrainingPlan,
    check_folds,
    choose_method,
    cross_fit,
    together,
)
from preorder.progress import LOGGER, progress

EXAMPLES = """\
  preorder train --src train.en --tgt train.ja --model model
  preorder train --method btg --src train.en --tgt train.ja --model model
  preorder train --method btg --src train.en --pos train.en.pos --align train.align --model model
  preorder train --method btg --annot train.annot --align train.align --model model --seed 7
  preorder train --method btg --src train.en --pos stanza --lang en --align train.align --model model
  preorder train --method btg --init model --src hand.en --align hand.align --model tuned
  preorder train --method btg --src ja.en tr.en --align ja.align tr.align --model verb-final
  preorder train --method rvnn --src train.en --trees train.en.trees --align train.align --model model
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder train``."""
    text = "btg: find the best binary tree over the words by the scores of a perceptron; neural-btg: by "
    text += "those of a network; rvnn, swap-lstm: decide for each node of a syntax tree (--trees) whether to "
    text += "swap its children (default: by the text: rvnn with --trees, neural-btg for long sentences, else "
    text += "btg; btg without torch)"
    parser.add_argument("--method", choices=tuple(METHODS), help=text)
    parser.add_argument("--model", metavar="DIR", required=True, help="directory to write the model to")
    source.add_layer_options(parser, nargs="+")
    links = parser.add_mutually_exclusive_group(required=True)
    text = (
        "target text, which is aligned first, by eflomal. Of several language pairs, give all files in one "
    )
    text += "order: --src A B --tgt C D; the pairs weigh alike, whatever their sizes"
    options.add_files(links, nargs="+", tgt=text)
    options.add_alignment(links, False, "are heeded by --method btg and neural-btg", nargs="+")
    text = "number of word classes to learn from the source, 0 for none, or a file of word<TAB>class lines; "
    text += f"without effect if --annot has classes (default: {DEFAULT_CLASSES}; with --init the model's)"
    options.add_files(parser, "N|F", classes=text)
    text = "begin from this model of the same --method, with its vocabulary, word classes, layers and "
    text += "network: to go on with hand-made links after automatic ones, or with the text of another pair"
    options.add_files(parser, "DIR", init=text)
    add_number = partial(options.add_number, parser)
    add_number("--limit", options.positive, DEFAULT_LIMIT, "use at most N sentences, chosen at random")
    text = "use no sentences of more than N tokens"
    add_number("--max-length", options.training_length, DEFAULT_MAX_LENGTH, text)
    text = "measure each iteration on N of these sentences, from which nothing is learned. The model is that "
    text += "of the last iteration, whatever they say. The tau of 100 sentences has a standard error "
    text += f"of about 0.014, that of 1,000 of 0.004. 0: learn from all (default: {DEFAULT_HELD_OUT}, but at "
    text += f"most {MAX_SHARE:.0%}%)"
    add_number("--held-out", options.natural, None, text)
    text = "also train K models, each without one K-th of the lines, and order that part with it, for a "
    text += "translation model that learns with predicted orders; --threads of them at a time"
    add_number("--cross-fit", options.at_least_two, None, text, "K")
    options.add_files(parser, cross_fit_out="the lines so ordered, as token￨position")
    text = "the model is the mean of these K models, instead of one more that learns from all lines: better "
    text += "orders, K times the time of preordering; neural-btg alone"
    options.add_flags(parser, keep_folds=text)
    text = "train N models, with seeds from --seed on, and order by their mean: of the probabilities of "
    text += "neural-btg, better and N times as slow; or of the weights of btg, as fast as one"
    add_number("--members", options.members, 1, text)
    options.add_seed(parser)
    text = "learn from the source in lower case, in which the model then reads all text"
    options.add_flags(parser, lowercase=text)
    add_number("--threads", options.workers, 1, "number of threads")
    text = "start anew, instead of going on from DIR.checkpoint, which an interrupted training left"
    options.add_flags(parser, fresh=text)
    method_options.add_options(parser, all_options())


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
    with checkpoints.resumption_logged():
        _train(arguments, checkpoints)


def _train(arguments: argparse.Namespace, checkpoints: Checkpoints) -> None:
    initial = None if arguments.init is None else load_model(arguments.init)
    pairs = source.given_pairs(arguments)
    if len(pairs) > 1 and arguments.cross_fit:
        raise UsageError("--cross-fit: of one pair alone, as the lines of one text are ordered")
    given, stanza = source.for_model(pairs[0].source, initial)
    method = arguments.method or (initial and initial.preorderer.method)
    has_trees = arguments.trees is not None or (stanza is not None and stanza.trees is not None)
    plan = method and _plan(arguments, method, initial, has_trees)
    spelled, others, sizes, tagset = source.read_all_pairs(pairs, given.tagset)
    lowercases = initial.lowercased if initial else arguments.lowercase
    if arguments.lowercase and not lowercases:
        raise UsageError("--lowercase: the model of --init reads capitals")
    sentences = [one.lowercased().interned() for one in spelled] if lowercases else spelled
    if plan is None:
        method, why = choose_method(sentences, has_trees)
        more = "" if stanza or sentences[0].tags else "tags (--pos) and "
        more += "hand-aligned sentences (preorder align --hand-align) would bring more"
        LOGGER.info(f"--method {method}: {why}; {more}")
        plan = _plan(arguments, method, None, has_trees)
    numbers = [number for number, size in enumerate(sizes) for _ in range(size)] if len(pairs) > 1 else ()
    lines = plan.lines(sentences, numbers)
    if arguments.cross_fit:
        check_folds(lines, arguments.cross_fit, arguments.held_out)
    classes = initial and initial.classes
    if initial is None and sentences[0].classes is None:
        wanted = str(DEFAULT_CLASSES) if arguments.classes is None else arguments.classes
        classes = source.read_or_learn_classes(wanted, sentences, arguments.seed)
    if classes is not None:
        sentences = list(map(classes.add_to, sentences))
    if stanza is not None:  # what is missing is told before the texts are aligned
        annotation.prepare(stanza)
    elif initial is not None:
        initial.annotate(sentences[lines[0]])
    if arguments.align is None:
        others = _aligned([sentence.words for sentence in spelled], others, sizes, arguments.seed)
    bitext = Bitext(sentences, others, numbers)
    if arguments.fresh:
        checkpoints.remove()
    if stanza is not None:
        wanted = range(len(bitext)) if arguments.cross_fit else lines
        bitext = _with_stanza(bitext, wanted, stanza, arguments.threads, checkpoints)
    if arguments.cross_fit:
        fit = partial(_fit, plan, checkpoints)
        threads, keeps = arguments.threads, arguments.keep_folds
        orders, models = cross_fit(bitext, lines, arguments.cross_fit, fit, threads, keeps)
        files.write_lines(arguments.cross_fit_out, formatted(zip(spelled, orders, strict=True), "features"))
        LOGGER.info("cross-fitting is done" + ("" if keeps else "; the model itself follows"))
    if arguments.keep_folds:
        preorderer, training = together(plan, models, bitext)
    else:
        preorderer, training = plan.train(bitext, checkpoints.part("all"))
    language = given.lang or (initial and initial.language) or (stanza and stanza.language)
    tagset = stanza.tagset if stanza else tagset
    stanza = stanza or (initial and initial.stanza)
    lowercased = lowercases or (initial is None and is_lowercased(sentences))
    model = Model(preorderer, classes, language, training, stanza, tagset, lowercased)
    save_model(model, arguments.model)
    LOGGER.info(f"model saved in {arguments.model}")
    checkpoints.remove()


def _aligned(
    words: Sequence[Any], targets: Sequence[Any], sizes: Sequence[int], seed: int
) -> list[Alignment]:
    """Align pairs of so many lines each, one pair after another."""
    found: list[Alignment] = []
    for size in sizes:
        lines = slice(len(found), len(found) + size)
        found += align(words[lines], targets[lines], DEFAULT_SYMMETRIZATION, seed)
    return found


def _fit(plan: TrainingPlan, checkpoints: Checkpoints, part: Bitext, name: str, threads: int) -> Preorderer:
    plan = replace(plan, options=replace(plan.options, threads=threads))
    return plan.fit(part, checkpoints.part(name))[0]


def _plan(arguments: argparse.Namespace, method: str, initial: Model | None, has_trees: bool) -> TrainingPlan:
    method_class(method)  # are its packages installed?
    check_trees(method, has_trees)
    if arguments.keep_folds:
        check_able("--keep-folds", method, "keeps_folds")
    if initial is not None and arguments.classes is not None:
        raise UsageError("--classes: with --init the model's word classes are used")
    given = method_options.given_options(method, all_options(), vars(arguments))
    for name in ("limit", "max_length", "held_out", "members"):
        given[name] = getattr(arguments, name)
    return TrainingPlan.of(method, initial=initial, **given)


def _with_stanza(
    bitext: Bitext, lines: Sequence[int], stanza: StanzaOptions, workers: int, checkpoints: Checkpoints
) -> Bitext:
    """Add Stanza's layers to some lines; the others stay as they are."""
    sentences = list(bitext.sentences)
    added = add_layers((sentences[i] for i in lines), stanza, workers=workers, checkpoints=checkpoints)
    for i, sentence in zip(lines, progress(added, "sentences", len(lines), "annotated"), strict=True):
        sentences[i] = sentence.interned()
    return replace(bitext, sentences=sentences)
