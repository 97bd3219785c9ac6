"""``preorder show``: what preordering does to one sentence."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeVar

from preorder.analysis.show.sentence import Shown, crossings, hard_attention
from preorder.annotate.stanza import add_layers
from preorder.cli import options, results, source
from preorder.data import files
from preorder.data.errors import DataError
from preorder.data.formats import (
    Matrix,
    format_tree,
    parse_alignment,
    parse_attention,
    parse_order,
    parse_positions,
    parse_tokens,
    read_alignments,
)
from preorder.data.types import BinaryTree, Permutation, Sentence
from preorder.methods.model_directory import load_model

T = TypeVar("T")

EXAMPLES = """\
  preorder show --model model --src test.en --pos test.en.pos --line 7
  preorder show --model model --src test.en --tgt test.ja --align test.align --out sentence.svg
  preorder show --src test.en --positions test.positions --tgt hyp.ja --attention hyp.attention --out s.png

A line of attention is JSON, a list with a row for each target token of the weights, 0 to 1, of
each source token: [[0.9, 0.1], [0.2, 0.8]]; or links, as in alignments: 0-0 1-1.
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(subparsers, "show", run, "draw one sentence", EXAMPLES)
    source.add_layers(parser, f"{source.STANZA}, and so for trees, if the model was trained so")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--model", metavar="DIR", help="model directory, whose order and tree are shown")
    what.add_argument("--positions", metavar="F", help="where each token goes; any system's")
    what.add_argument("--order", metavar="F", help="which token stands at each place; any system's")
    parser.add_argument("--tgt", metavar="F", help="target text, tokenised")
    parser.add_argument("--align", metavar="F", help="word alignment of source and target")
    parser.add_argument("--attention", metavar="F", help="of each target token to the source tokens")
    parser.add_argument(
        "--line", metavar="N", type=options.positive, default=1, help="which sentence (default: %(default)s)"
    )
    results.add_pictures(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    from preorder.analysis.show.text import text_lines

    shown = _read(arguments)
    for path in arguments.out:
        _draw(shown, path)
    if arguments.json:
        files.write_json(files.STANDARD, _summary(shown))
    elif not arguments.out:
        files.write_lines(files.STANDARD, text_lines(shown))


def _read(arguments: argparse.Namespace) -> Shown:
    """Return the sentence with all that the files say of it.

    Raises:
        PreorderError: a file has no such line, or what it has there does not fit.
    """
    sentence = _nth(source.source_name(arguments), source.read_sentences(arguments), arguments.line)
    permutation, tree = _order(arguments, sentence)
    target = alignment = attention = None
    if arguments.tgt is not None:
        target = _nth(arguments.tgt, files.read_parsed(arguments.tgt, parse_tokens), arguments.line)
    if arguments.align is not None:
        alignment = _nth(arguments.align, read_alignments(arguments.align), arguments.line)
    if arguments.attention is not None:
        attention = _nth(arguments.attention, files.read_lines(arguments.attention), arguments.line)
    try:
        matrix = None if attention is None else _attention(attention, len(sentence), len(target or ()))
        return Shown(sentence.words, permutation, tree, target, alignment, matrix)
    except DataError as error:
        raise error.at(files.display_name(source.source_name(arguments)), arguments.line) from None


def _order(arguments: argparse.Namespace, sentence: Sentence) -> tuple[Permutation, BinaryTree | None]:
    """Return the order to show, and the tree behind it: a model's own, or one that gives the order."""
    if arguments.model is not None:
        return _predicted(arguments, sentence)
    path, parse = arguments.positions, parse_positions
    if path is None:
        path, parse = arguments.order, parse_order
    permutation = _nth(path, files.read_parsed(path, parse), arguments.line)
    try:
        return permutation, BinaryTree.of(permutation)
    except DataError:  # few orders of long sentences have one
        return permutation, None


def _predicted(arguments: argparse.Namespace, sentence: Sentence) -> tuple[Permutation, BinaryTree]:
    model = load_model(arguments.model)
    stanza = source.stanza_options(arguments, model.stanza, model.language)
    if stanza is not None:
        (sentence,) = add_layers(iter([sentence]), stanza)
    (tree,) = model.preorderer.trees([model.annotate(sentence)])
    return tree.permutation, tree


def _attention(line: str, source_length: int, target_length: int) -> Matrix:
    if line.startswith("["):
        return parse_attention(line)
    return hard_attention(parse_alignment(line), source_length, target_length)


def _nth(path: str, items: Iterable[T], line: int) -> T:
    """Return the item of a line.

    Raises:
        DataError: the file ends before it.
    """
    for item in islice(items, line - 1, None):
        return item
    raise DataError("the file has no such line", files.display_name(path), line)


def _draw(shown: Shown, path: str) -> None:
    from preorder.analysis.show.layout import draw
    from preorder.analysis.show.png import png
    from preorder.analysis.show.svg import svg

    drawing = draw(shown)
    if path.endswith(".svg"):
        files.write_lines(path, [svg(drawing)])
    else:
        results.write_picture(path, png(drawing))


def _summary(shown: Shown) -> dict[str, Any]:
    """Return what is shown, for JSON; what is not known is null."""
    known = shown.alignment is not None
    return {
        "source": list(shown.words),
        "preordered": list(shown.permutation.apply(shown.words)),
        "positions": list(shown.permutation.positions),
        "order": list(shown.permutation.order),
        "tree": None if shown.tree is None else format_tree(shown.words, shown.tree),
        "target": None if shown.target is None else list(shown.target),
        "crossings": crossings(shown.links) if known else None,
        "crossings_preordered": crossings(shown.reordered().links) if known else None,
    }
