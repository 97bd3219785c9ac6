"""``preorder show``: show what preordering does to a sentence, or to several."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, tee
from pathlib import Path
from typing import Any

from preorder.analysis import PAGE, PICTURES
from preorder.analysis.sentence_view import (
    Gallery,
    Numbered,
    SentenceView,
    greatest,
    sample,
    taus,
)
from preorder.annotate.options import AnnotatorOptions
from preorder.command_line import options, source, visible
from preorder.command_line.source import Source
from preorder.data import Alignment, BinaryTree, Permutation, Sentence, formats, texts
from preorder.errors import DataError, UsageError, errors_in
from preorder.io import files
from preorder.methods.model_directory import Model, load_model
from preorder.methods.ordering import confident, orders

BATCH = 5_000  # tokens that a model orders at once
MOST_DRAWN = 100
CHOICES = {
    "sample": "show N sentences, chosen at random by --seed",
    "gain": "show the N sentences whose tau_nakagawa rises most, the greatest rise first",
    "worst": "show the N sentences with the least tau_nakagawa once they are preordered, the least first",
}

EXAMPLES = """\
  preorder show --model model --src test.en --pos test.en.pos --lines 7
  preorder show --model model --src test.en --tgt test.ja --align test.align --out sentence.svg
  preorder show --src test.en --positions test.positions --tgt test.ja --align test.align \\
      --sample 10 --min-length 5 --max-length 40 --out gallery.html

An .html holds all sentences, a picture and a row of a table for each, and needs no other file; .svg,
.png and .pdf draw them one below the other.
E[tau], -1 to 1, is the tau that a model of btg or neural-btg expects of its order.
tau_nakagawa, 0 to 1, is that of preorder evaluate, over the aligned tokens.
With several sentences the tree is left out of pictures that have links.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder show``."""
    source.add_layer_options(parser, source.TAGS_OF_MODEL)
    what = parser.add_mutually_exclusive_group(required=True)
    options.add_files(what, "DIR", model="model directory: show the orders and trees that it predicts")
    options.add_orders(what, "any system's order: {}", metavar="F")
    options.add_files(parser, tgt="target text, tokenised", align="word alignment of source and target")
    text = "line numbers of the sentences, from 1 (default: 1; with --sample, --gain or --worst all lines)"
    parser.add_argument("--lines", "--line", metavar="N,A-B,…", type=options.line_numbers, help=text)
    choice = parser.add_mutually_exclusive_group()
    for name, text in CHOICES.items():
        options.add_number(choice, f"--{name}", options.positive, None, text)
    text = "leave out sentences of {} than N tokens, source or target"
    options.add_number(parser, "--min-length", options.natural, 0, text.format("fewer"))
    options.add_number(parser, "--max-length", options.positive, options.MOST, text.format("more"))
    options.add_seed(parser)
    options.add_pictures(parser, (*PICTURES, PAGE))
    options.add_json(parser)


@dataclass(frozen=True)
class _Job:
    """The sentences to show, and their orders."""

    source: Source
    model: str | None
    order: str | None
    positions: str | None
    tgt: str | None
    align: str | None
    lines: tuple[range, ...] | None  # None: all
    choice: str | None  # of CHOICES, and how many of them
    count: int
    min_length: int
    max_length: int
    seed: int


def run(arguments: argparse.Namespace) -> None:
    """Print the sentences, or write pictures of them."""
    if arguments.model is None:
        options.refuse(arguments, source.SYNTAX, "without --model")
    choice = next((name for name in CHOICES if getattr(arguments, name) is not None), None)
    if choice in ("gain", "worst") and (arguments.align is None or arguments.tgt is None):
        raise UsageError(f"--{choice} measures orders by links: it needs --align and --tgt")
    if arguments.align is not None and arguments.tgt is None:
        raise UsageError("--align links the source to a target: give --tgt, too")
    if choice is None and arguments.lines is None:
        arguments.lines = (range(1, 2),)
    given = options.taken(Source, arguments)
    chosen = {"choice": choice, "count": getattr(arguments, choice or "", 0)}
    gallery = _gallery(options.taken(_Job, arguments, source=given, **chosen))
    count = len(gallery.sentences)
    if count > MOST_DRAWN and arguments.out:
        raise UsageError(f"{count} sentences: a picture holds at most {MOST_DRAWN}; choose some (--sample)")
    for path in arguments.out:
        from preorder.analysis.gallery import write_gallery

        name = Path(files.display_name(given.name)).name
        write_gallery(gallery, f"{name}, before and after preordering", path)
    if arguments.json:
        files.write_json(files.STANDARD, gallery.as_json())
    elif not arguments.out:
        files.write_lines(files.STANDARD, map(visible, gallery.lines()))


def _gallery(job: _Job) -> Gallery:
    model = None if job.model is None else load_model(job.model)
    given, stanza = source.for_model(job.source, model)
    rows: Iterable[_Row] = _read_rows(replace(job, source=given))
    total = 0
    if job.choice == "sample":
        rows, total = sample((row for row in rows if len(row.sentence)), job.count, job.seed)
    ordered = job.order or job.positions or given.name
    views: Iterable[Numbered] = _read_views(files.display_name(ordered), rows, model, stanza)
    if job.choice in ("gain", "worst"):
        measured = ((one, taus(one.view)) for one in views)  # None: the links cannot be sorted
        is_worst = job.choice == "worst"
        numbers = ((-t[1] if is_worst else t[1] - t[0], one) for one, t in measured if t is not None)
        views, total = greatest(numbers, job.count)
    sentences = tuple(views)
    if not sentences:
        raise DataError("no sentence is left to be shown", files.display_name(given.name))
    is_single = job.choice is None and sum(len(part) for part in job.lines or ()) == 1
    return Gallery(_chosen(job, len(sentences), total), sentences, is_single)


def _chosen(job: _Job, count: int, total: int) -> str:
    shortest, longest = job.min_length, job.max_length
    bounds = [f"at least {shortest}"] * (shortest > 0) + [f"at most {longest}"] * (longest < options.MOST)
    sentences = f"sentences of {' and '.join(bounds)} tokens" if bounds else "sentences"
    if job.choice is None:
        return f"{count} {sentences}, chosen by their lines"
    if job.choice == "sample":
        return f"{count} of {total} {sentences}, chosen at random, seed {job.seed}"
    rises = job.choice == "gain"
    what = "whose tau_nakagawa rises most" if rises else "with the least tau_nakagawa, preordered"
    return f"the {count} of {total} {sentences} {what}"


@dataclass(frozen=True)
class _Row:
    """A sentence with its line number, from 1, and what files say of it."""

    line: int
    sentence: Sentence
    order: Permutation | None = None
    tgt: tuple[str, ...] | None = None
    align: Alignment | None = None


def _read_rows(job: _Job) -> Iterator[_Row]:
    """Yield the sentences of ``--lines``, or of all lines, except those that are too short or too long."""
    sentences = job.source.name, source.read_sentences(job.source)
    streams: dict[str, tuple[str, Iterator[Any]]] = {"sentence": sentences}
    if job.model is None:
        streams["order"] = options.read_order(order=job.order, positions=job.positions)
    if job.tgt is not None:
        streams["tgt"] = job.tgt, texts.read_tokens(job.tgt, formats.parse_tokens)
    if job.align is not None:
        streams["align"] = job.align, formats.read_alignments(job.align)
    lines = job.lines
    last = None if lines is None else max(part.stop for part in lines) - 1
    number = 0
    for number, items in enumerate(islice(files.in_parallel(*streams.values()), last), 1):
        row = _Row(number, **dict(zip(streams, items, strict=True)))
        if job.align is not None and row.align is not None and row.tgt is not None:
            with errors_in(files.display_name(job.align), number):
                row.align.check_within(len(row.sentence), len(row.tgt))
        wanted = lines is None or any(number in part for part in lines)
        lengths = [len(side) for side in (row.sentence, row.tgt) if side is not None]
        if wanted and all(job.min_length <= n <= job.max_length for n in lengths):
            yield row
    if lines is not None and last is not None and number < last:
        missing = min(max(number + 1, part.start) for part in lines if part.stop > number + 1)
        raise DataError("the file has no such line", files.display_name(job.source.name), missing)


def _read_views(
    name: str, rows: Iterable[_Row], model: Model | None, stanza: AnnotatorOptions | None
) -> Iterator[Numbered]:
    """Yield each sentence with the order of a file or of the model."""
    rows, twins = tee(rows)
    found: Iterable[tuple[Permutation, BinaryTree | None, Any]]
    if model is None:
        found = ((row.order, _tree(row.order), None) for row in twins if row.order is not None)
    else:
        find = partial(confident, model.preorderer, model.preorderer.trees)
        ordered = orders(model, (row.sentence for row in twins), find, stanza, 1, BATCH)
        found = ((tree.permutation, tree, confidence) for tree, confidence in ordered)
    for row, (order, tree, confidence) in zip(rows, found, strict=True):
        with errors_in(name, row.line):
            view = SentenceView(row.sentence.words, order, tree, row.tgt, row.align, confidence)
        yield Numbered(row.line, view)


def _tree(order: Permutation) -> BinaryTree | None:
    try:
        return BinaryTree.from_permutation(order)
    except DataError:  # few orders of long sentences have a tree
        return None
