"""``preorder show``: show what preordering does to one sentence."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from preorder.analysis.show.sentence import SentenceView, crossings, hard_attention
from preorder.annotate.stanza import add_layers
from preorder.cli import options, source
from preorder.cli.pictures import add_pictures, write_pictures
from preorder.cli.table import visible
from preorder.data import files, formats
from preorder.data.errors import DataError
from preorder.data.types import BinaryTree, Permutation, Sentence
from preorder.methods.model_directory import load_model

T = TypeVar("T")

EXAMPLES = """\
  preorder show --model model --src test.en --pos test.en.pos --line 7
  preorder show --model model --src test.en --tgt test.ja --align test.align --out sentence.svg
  preorder show --src test.en --positions test.positions --tgt hyp.ja --attention hyp.attention --out s.png

A line of --attention is JSON, a list with a row for each target token, which has the weights, 0 to 1,
of the source tokens: [[0.9, 0.1], [0.2, 0.8]]; or links as in alignments: 0-0 1-1.
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(
        subparsers, "show", run, "show what preordering does to one sentence", EXAMPLES
    )
    source.add_layer_options(parser, f"{source.STANZA}, and so for trees, if the model was trained so")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--model", metavar="DIR", help="model directory: show the order and tree that it predicts"
    )
    options.add_orders(what, "any system's order: {}", metavar="F")
    parser.add_argument("--tgt", metavar="F", help="target text, tokenised")
    parser.add_argument("--align", metavar="F", help="word alignment of source and target")
    parser.add_argument(
        "--attention", metavar="F", help="attention of each target token to the source tokens"
    )
    options.add_number(parser, "--line", options.positive, 1, "line number of the sentence")
    add_pictures(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    from preorder.analysis.show.picture import draw_sentence, sentence_title
    from preorder.analysis.show.text import text_lines

    view = _read(arguments)
    write_pictures(partial(draw_sentence, view), sentence_title(view), arguments.out)
    if arguments.json:
        files.write_json(files.STANDARD, _summary(view))
    elif not arguments.out:
        files.write_lines(files.STANDARD, text_lines(_visible(view)))


def _read(arguments: argparse.Namespace) -> SentenceView:
    """Return the sentence with everything that the files tell of it."""
    sentence = _nth(source.source_name(arguments), source.read_sentences(arguments), arguments.line)
    permutation, tree = _order(arguments, sentence)
    target = alignment = attention = None
    if arguments.tgt is not None:
        target = _nth(arguments.tgt, files.read_parsed(arguments.tgt, formats.parse_tokens), arguments.line)
    if arguments.align is not None:
        alignment = _nth(arguments.align, formats.read_alignments(arguments.align), arguments.line)
    if arguments.attention is not None:
        attention = _nth(arguments.attention, files.read_lines(arguments.attention), arguments.line)
    try:
        matrix = None if attention is None else _attention(attention, len(sentence), len(target or ()))
        return SentenceView(sentence.words, permutation, tree, target, alignment, matrix)
    except DataError as error:
        raise error.at(files.display_name(source.source_name(arguments)), arguments.line) from None


def _order(arguments: argparse.Namespace, sentence: Sentence) -> tuple[Permutation, BinaryTree | None]:
    """Return the order, and a tree that gives it (a model's own if there is a model), or None."""
    if arguments.model is not None:
        return _predicted(arguments, sentence)
    permutation = _nth(*options.read_order(arguments), arguments.line)
    try:
        return permutation, BinaryTree.from_permutation(permutation)
    except DataError:  # few orders of long sentences have one
        return permutation, None


def _predicted(arguments: argparse.Namespace, sentence: Sentence) -> tuple[Permutation, BinaryTree]:
    model = load_model(arguments.model)
    stanza = source.stanza_options(arguments, model.stanza, model.language)
    source.warn_of_unused(arguments, model.preorderer.layers, stanza)
    if stanza is not None:
        (sentence,) = add_layers(iter([sentence]), stanza)
    (tree,) = model.preorderer.trees([model.annotate(sentence)])
    return tree.permutation, tree


def _attention(line: str, source_length: int, target_length: int) -> formats.Matrix:
    if line.startswith("["):
        return formats.parse_attention(line)
    return hard_attention(formats.parse_alignment(line), source_length, target_length)


def _nth(path: str, items: Iterable[T], line: int) -> T:
    """Return the item of a line."""
    for item in islice(items, line - 1, None):
        return item
    raise DataError("the file has no such line", files.display_name(path), line)


def _visible(view: SentenceView) -> SentenceView:
    """Return the sentence with its control characters written out."""
    target = None if view.target is None else tuple(map(visible, view.target))
    return replace(view, words=tuple(map(visible, view.words)), target=target)


def _summary(view: SentenceView) -> dict[str, Any]:
    """Return the JSON object; what is not known is null."""
    known = view.alignment is not None
    return {
        "source": list(view.words),
        "preordered": list(view.permutation.apply(view.words)),
        "positions": list(view.permutation.positions),
        "order": list(view.permutation.order),
        "tree": None if view.tree is None else formats.format_tree(view.words, view.tree),
        "target": None if view.target is None else list(view.target),
        "crossings": crossings(view.links) if known else None,
        "crossings_preordered": crossings(view.reordered().links) if known else None,
    }
