"""``preorder diagnose``: is word order the problem, and what could an order be worth?"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from preorder.alignment.eflomal import align
from preorder.alignment.links import DEFAULT_SYMMETRIZATION
from preorder.cli import score
from preorder.cli.output import add_pictures, print_tables, write_pictures
from preorder.command_line import options
from preorder.data import Alignment, Permutation
from preorder.data.formats import format_alignment, parse_tokens, read_alignments, read_plain
from preorder.errors import DataError, UsageError
from preorder.io import files
from preorder.methods.train import choose_method
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from preorder.analysis.results import Curves, Table

DEFAULT_LINES = 20_000
SHARE_HELD = 10
"""One line of so many is measured, the others are learned from."""
PAIR = ("src", "tgt", "align", "pos")
"""Options of the two languages."""

QUICK = {"method": "btg", "iterations": 4, "classes": 50, "held_out": 0}
"""The quick preorderer."""

EXAMPLES = """\
  preorder diagnose --src train.en --tgt train.ja
  preorder diagnose --src train.en --tgt train.ja --align train.align --pos train.en.pos
  preorder diagnose --ref test.ja --hyp base=base.ja ours=ours.ja --tokenize none --out headroom.svg

--src and --tgt: how far the order of the two languages is from the same, how much of that a quick
preorderer predicts on lines that it has not seen, and for which words (or tags) most remains.
--ref and --hyp: what the translations would score if their words stood in the best order, or in the
best order that a BTG tree allows; and what is then left: words missing, too many, or others.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    options.add_files(
        parser,
        src="source text, a tokenised sentence a line",
        tgt="its translation; eflomal aligns both, without --align",
        pos="POS tags of the source, to learn from and to count by",
    )
    options.add_alignment(parser, required=False)
    text = f"most lines to look at, drawn by --seed; a {SHARE_HELD}th of them is measured"
    options.add_number(parser, "--lines", options.at_least_two, DEFAULT_LINES, text)
    score.add_translations(parser, required=False)
    score.add_metric_options(parser)
    options.add_seed(parser)
    options.add_json(parser)
    add_pictures(parser)
    parser.set_defaults(metrics=())


def run(arguments: argparse.Namespace) -> None:
    has_pair = arguments.src is not None and (arguments.tgt or arguments.align) is not None
    has_translations = bool(arguments.ref and arguments.hyp)
    some_pair = any(getattr(arguments, name) is not None for name in PAIR)
    some_translations = bool(arguments.ref or arguments.hyp)
    incomplete = some_pair != has_pair or some_translations != has_translations
    if incomplete or not (has_pair or has_translations):
        raise UsageError("give --src with --tgt or --align, or --ref with --hyp, or all of them")
    from preorder.analysis.diagnosis import diagnose_translations, pair_tables, translation_tables
    from preorder.analysis.plots import curves_title, draw_curves
    from preorder.analysis.results import curve_tables

    found: dict = {}
    tables: list[Table] = []
    curves: list[Curves] = []
    if has_pair:
        (pair, by_length), method, why = _pair(arguments)
        found["pair"] = pair | {"method": method}
        advice = f"preorder train takes --method {method} for such text: {why}."
        tables += pair_tables(pair)
        curves.append(by_length)
    if has_translations:
        data = score.read_data(arguments)
        headroom, by_length = diagnose_translations(
            data.references, data.systems, data.options, arguments.seed
        )
        found["systems"] = headroom
        tables += translation_tables(headroom)
        curves.append(by_length)
    write_pictures(partial(draw_curves, curves[-1]), curves_title(curves[-1]), arguments.out)
    if arguments.json:
        files.write_json(files.STANDARD, found)
    else:
        print_tables([*tables, *(table for one in curves for table in curve_tables(one))])
        if has_pair:
            print(advice)


def _pair(arguments: argparse.Namespace) -> tuple[tuple[dict[str, Any], Curves], str, str]:
    """Align, learn from nine tenths of the lines, measure the rest; return also a method to take, and why."""
    import numpy as np

    import preorder
    from preorder.analysis.diagnosis import diagnose_pair

    paths = {name: getattr(arguments, name) for name in PAIR}
    paths = {name: path for name, path in paths.items() if path is not None}
    if "align" in paths:
        paths.pop("tgt", None)
    readers = {name: partial(read_plain, parse=parse_tokens) for name in ("src", "tgt", "pos")}
    readers["align"] = read_alignments
    columns = files.read_columns(*((path, readers[name](path)) for name, path in paths.items()))
    texts = dict(zip(paths, columns, strict=True))
    for name in [name for name in ("align", "pos") if name in paths]:
        rows = (paths["src"], texts["src"]), (paths[name], texts[name])
        collections.deque(files.map_parallel(_check, paths[name], *rows), maxlen=0)
    random = np.random.default_rng(arguments.seed)
    chosen = np.sort(random.permutation(len(texts["src"]))[: arguments.lines])
    texts = {name: [rows[index] for index in chosen] for name, rows in texts.items()}
    if "align" not in texts:
        LOGGER.info(f"aligning {len(chosen):,} lines")
        texts["align"] = align(texts["src"], texts["tgt"], DEFAULT_SYMMETRIZATION, arguments.seed)
    held = np.arange(len(chosen)) % SHARE_HELD == 0
    if held.all():
        raise UsageError(f"{len(chosen)} lines are too few")
    seen, unseen = (
        {name: [rows[index] for index in np.flatnonzero(part)] for name, rows in texts.items()}
        for part in (~held, held)
    )
    LOGGER.info(f"learning from {len(seen['src']):,} lines")
    links = list(map(format_alignment, seen["align"]))
    model = preorder.train(seen["src"], links, tags=seen.get("pos"), seed=arguments.seed, **QUICK)
    layers = {"tags": unseen["pos"]} if "pos" in unseen else {}
    predicted = [Permutation(order) for order in model.positions(unseen["src"], **layers)]
    found = diagnose_pair(unseen.get("pos", unseen["src"]), unseen["align"], predicted, arguments.seed)
    return found, *choose_method(texts["src"], False)


def _check(tokens: Sequence[str], given: Alignment | Sequence[str]) -> None:
    if isinstance(given, Alignment):
        given.check_within(len(tokens))
    elif len(given) != len(tokens):
        raise DataError(f"{len(given)} tags for {len(tokens)} tokens")
