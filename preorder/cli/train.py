"""``preorder train``: learn to preorder from a word-aligned bitext."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from preorder.alignment.eflomal import align
from preorder.annotate.classes import DEFAULT_CLASSES, WordClasses
from preorder.annotate.stanza import add_layers
from preorder.annotate.stanza_models import StanzaOptions
from preorder.cli import options, source
from preorder.cli.align import DEFAULT_SYMMETRIZATION
from preorder.cli.classes import read_or_learn
from preorder.cli.output import formatted
from preorder.data import files
from preorder.data.errors import UsageError
from preorder.data.formats import parse_tokens, read_alignments
from preorder.data.types import Alignment, Bitext, Sentence
from preorder.learning import options as method_options
from preorder.learning.checkpoint import Checkpoints
from preorder.learning.held_out import DEFAULT_HELD_OUT, MAX_SHARE, chosen_lines, hold_out
from preorder.methods.base import Preorderer
from preorder.methods.cross_fit import cross_fit
from preorder.methods.model_directory import Model, save_model
from preorder.methods.registry import METHODS, all_options, method_class

DEFAULT_LIMIT = 100_000
DEFAULT_MAX_LENGTH = 80

EXAMPLES = """\
  preorder train --method btg --src train.en --tgt train.ja --model model
  preorder train --method btg --src train.en --pos train.en.pos --align train.align --model model \\
      --cross-fit 5 --cross-fit-out train.features
  preorder train --method btg --annot train.annot --align train.align --model model --seed 7
  preorder train --method btg --src train.en --pos stanza --lang en --align train.align --model model
  preorder train --method rvnn --src train.en --trees train.en.trees --align train.align --model model
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(
        subparsers, "train", run, "learn to preorder from a word-aligned bitext", EXAMPLES
    )
    parser.add_argument(
        "--method",
        choices=tuple(METHODS),
        required=True,
        help="btg: find the best binary tree over the words by the scores of a perceptron; neural-btg: by "
        "those of a network; swap-logistic, rvnn, swap-lstm: decide for each node of a syntax tree (--trees) "
        "whether to swap its children",
    )
    parser.add_argument("--model", metavar="DIR", required=True, help="directory to write the model to")
    source.add_layers(parser)
    links = parser.add_mutually_exclusive_group(required=True)
    links.add_argument("--tgt", metavar="F", help="target text: it is aligned first")
    links.add_argument("--align", metavar="F", help="word alignment, in Pharaoh's or lader's format")
    parser.add_argument(
        "--classes",
        metavar="N|F",
        default=str(DEFAULT_CLASSES),
        help="number of word classes to learn from the source, 0 for none; or a file with lines of "
        "word<TAB>class (default: %(default)s, or the classes of --annot)",
    )
    parser.add_argument(
        "--attach",
        action="store_true",
        help="also learn to predict which tokens have no link, and put these beside their nearest linked "
        "neighbour: the orders get better over all tokens, and a little worse over the linked ones",
    )
    _add_selection(parser)
    options.add_seed(parser)
    options.add_threads(parser)
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="start anew; without it, an interrupted training goes on from DIR.checkpoint, to the same model",
    )
    method_options.add_options(parser, all_options())


def _add_selection(parser: argparse.ArgumentParser) -> None:
    for name, default, text in (
        ("--limit", DEFAULT_LIMIT, "train on at most N sentences, drawn at random"),
        ("--max-length", DEFAULT_MAX_LENGTH, "do not train on sentences of more than N tokens"),
    ):
        parser.add_argument(
            name, metavar="N", type=options.positive, default=default, help=f"{text} (default: %(default)s)"
        )
    parser.add_argument(
        "--held-out",
        metavar="N",
        type=options.natural,
        help="hold out N of these sentences, which only decide when to stop (see --patience); 0: learn from "
        f"all, and stop after --iterations (default: {DEFAULT_HELD_OUT}, at most {MAX_SHARE:.0%}% of them)",
    )
    parser.add_argument(
        "--cross-fit",
        metavar="K",
        type=options.at_least_two,
        help="also train K models, each without a K-th of the lines, and order every line by the model that "
        "has not seen it: translation models should be trained on these orders",
    )
    parser.add_argument(
        "--cross-fit-out", metavar="F", help="file that --cross-fit writes the lines to, as token￨position"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    if (arguments.cross_fit is None) != (arguments.cross_fit_out is None):
        raise UsageError("--cross-fit and --cross-fit-out go together")
    stanza = source.stanza_options(arguments)
    bitext, classes = _with_classes(_read(arguments), arguments)
    chosen = chosen_lines(bitext, arguments.limit, arguments.max_length, arguments.seed)
    method = method_class(arguments.method)
    settings = method_options.options_of(arguments.method, all_options(), arguments)
    checkpoints = Checkpoints(arguments.model.rstrip("/") + ".checkpoint")
    if arguments.fresh:
        checkpoints.remove()
    if stanza is not None:
        lines = range(len(bitext)) if arguments.cross_fit else chosen
        bitext = _with_stanza(bitext, lines, stanza, arguments.threads, checkpoints)

    def fit(part: Bitext, name: str) -> tuple[Preorderer, dict[str, Any]]:
        learned, held = hold_out(part, arguments.held_out, arguments.seed)
        preorderer, statistics = method.fit(learned, settings, held, checkpoints.part(name))
        if arguments.attach:
            from preorder.methods.unaligned.preorderer import AttachingPreorderer  # compiled: slow to import

            preorderer = AttachingPreorderer.fit(preorderer, part, arguments.seed)
        return preorderer, statistics

    if arguments.cross_fit:
        permutations = cross_fit(
            bitext, chosen, arguments.cross_fit, lambda *part: fit(*part)[0], arguments.threads
        )
        pairs = zip(bitext.sentences, permutations, strict=True)
        files.write_lines(arguments.cross_fit_out, formatted(pairs, "features"))
    used = bitext.take(chosen)
    preorderer, statistics = fit(used, "all")
    training = {"lines": len(bitext), "sentences": len(used), "seed": arguments.seed, **statistics}
    save_model(Model(preorderer, classes, arguments.lang, training, stanza), arguments.model)
    checkpoints.remove()


def _read(arguments: argparse.Namespace) -> Bitext:
    name = source.source_name(arguments)
    if arguments.align is None:
        return _aligned(name, arguments)
    pairs = files.not_empty(name, _pairs(name, arguments))
    return Bitext(*map(list, zip(*pairs, strict=True)))


def _pairs(name: str, arguments: argparse.Namespace) -> Iterator[tuple[Sentence, Alignment]]:
    """Yield sentences with their alignments, whose links are checked."""

    def checked(sentence: Sentence, alignment: Alignment) -> tuple[Sentence, Alignment]:
        alignment.check_within(len(sentence))
        return sentence.interned(), alignment

    sentences = (name, source.read_sentences(arguments))
    alignments = (arguments.align, read_alignments(arguments.align))
    return files.map_parallel(checked, arguments.align, sentences, alignments)


def _aligned(name: str, arguments: argparse.Namespace) -> Bitext:
    """Read both sides and align them."""
    targets = files.read_parsed(arguments.tgt, parse_tokens)
    lines = files.in_parallel((name, source.read_sentences(arguments)), (arguments.tgt, targets))
    pairs = ((sentence.interned(), tuple(map(sys.intern, target))) for sentence, target in lines)
    sentences, targets = zip(*files.not_empty(name, pairs), strict=True)
    words = [sentence.words for sentence in sentences]
    return Bitext(sentences, align(words, targets, DEFAULT_SYMMETRIZATION, arguments.seed))


def _with_classes(bitext: Bitext, arguments: argparse.Namespace) -> tuple[Bitext, WordClasses | None]:
    """Add word classes to the sentences; return them too, unless the input has them already."""
    if bitext.sentences[0].classes is not None:
        return bitext, None
    words = [sentence.words for sentence in bitext.sentences]
    classes = read_or_learn(arguments.classes, words, arguments.seed)
    if classes is None:
        return bitext, None
    sentences = [replace(sentence, classes=classes.of(sentence.words)) for sentence in bitext.sentences]
    return Bitext(sentences, bitext.alignments), classes


def _with_stanza(
    bitext: Bitext, lines: Sequence[int], stanza: StanzaOptions, workers: int, checkpoints: Checkpoints
) -> Bitext:
    """Have Stanza add its layers to the lines of some indices; the others stay as they were."""
    sentences = list(bitext.sentences)
    added = add_layers((sentences[i] for i in lines), stanza, workers=workers, checkpoints=checkpoints)
    bar = tqdm(added, "Stanza", len(lines), unit=" sentences", disable=None)
    for i, sentence in zip(lines, bar, strict=True):
        sentences[i] = sentence.interned()
    return Bitext(sentences, bitext.alignments)
