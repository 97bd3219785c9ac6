"""``preorder diagnose``: is word order the problem, and what could an order be worth?"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from preorder.alignment.eflomal import align
from preorder.alignment.links import DEFAULT_SYMMETRIZATION
from preorder.annotate.classes import learn_classes
from preorder.command_line import options, source, translations
from preorder.command_line.output import add_pictures, print_tables, write_pictures
from preorder.command_line.source import STANZA, Pair, Source
from preorder.command_line.translations import Translations
from preorder.data import Bitext
from preorder.errors import UsageError
from preorder.io import files
from preorder.methods.registry import choose_method
from preorder.methods.train import TrainingPlan
from preorder.metrics import DEFAULTS, TOKENIZERS
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from preorder.analysis.results import Curves, Table

DEFAULT_LINES = 20_000
SHARE_HELD = 10  # one line of so many is measured, the others are learned from
PAIR = ("src", "tgt", "align", "pos")
ITERATIONS, CLASSES = 4, 50  # of a quick preorderer

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
    """Add the options of ``preorder diagnose``."""
    options.add_files(
        parser,
        src="source text, a tokenised sentence a line",
        tgt="its translation; eflomal aligns both, without --align",
        pos="POS tags of the source, to learn from and to count by",
    )
    options.add_alignment(parser, required=False, confidences="weigh what it learns from")
    text = f"most lines to look at, drawn by --seed; a {SHARE_HELD}th of them is measured"
    options.add_number(parser, "--lines", options.at_least_two, DEFAULT_LINES, text)
    translations.add_options(parser, required=False)
    text = "tokenizer of references and translations"
    options.add_choice(parser, "--tokenize", TOKENIZERS, DEFAULTS.tokenize, text)
    options.add_flags(parser, case_sensitive="RIBES and counts of words distinguish upper and lower case")
    options.add_seed(parser)
    options.add_json(parser)
    add_pictures(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print how far the languages' orders differ, and what translations could gain."""
    has_pair = arguments.src is not None and (arguments.tgt or arguments.align) is not None
    has_translations = bool(arguments.ref and arguments.hyp)
    some_pair = any(getattr(arguments, name) is not None for name in PAIR)
    some_translations = bool(arguments.ref or arguments.hyp)
    incomplete = some_pair != has_pair or some_translations != has_translations
    if incomplete or not (has_pair or has_translations):
        raise UsageError("give --src with --tgt or --align, or --ref with --hyp, or all of them")
    if arguments.out and has_pair and has_translations:
        raise UsageError("--out draws one picture: that of the languages or that of the translations")
    from preorder.analysis.diagnosis import diagnose_translations, pair_tables, translation_tables
    from preorder.analysis.plots import curves_title, draw_curves
    from preorder.analysis.results import curve_tables

    found: dict = {}
    tables: list[Table] = []
    curves: list[Curves] = []
    data = (
        options.taken(Translations, arguments, metrics=("bleu",), words=DEFAULTS.words).read()
        if has_translations
        else None
    )
    if has_pair:
        (pair, by_length), method, why = _pair(arguments)
        found["pair"] = pair | {"method": method}
        advice = f"preorder train takes --method {method} for such text: {why}."
        tables += pair_tables(pair)
        curves.append(by_length)
    if data is not None:
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

    from preorder.analysis.diagnosis import diagnose_pair

    if arguments.pos == STANZA:
        raise UsageError("--pos: give a file of tags, such as preorder annotate writes")
    sentences, others = source.read_pair(
        Pair(Source(arguments.src, pos=arguments.pos), arguments.tgt, arguments.align)
    )
    chosen = np.sort(np.random.default_rng(arguments.seed).permutation(len(sentences))[: arguments.lines])
    if len(chosen) < 2:
        raise UsageError(f"{len(chosen)} lines are too few")
    others = [others[index] for index in chosen]
    words = [sentences[index].words for index in chosen]
    if arguments.align is None:
        LOGGER.info(f"aligning {len(chosen):,} lines")
        others = align(words, others, DEFAULT_SYMMETRIZATION, arguments.seed)
    held = range(0, len(chosen), SHARE_HELD)
    seen = [index for index in range(len(chosen)) if index not in held]
    LOGGER.info(f"learning from {len(seen):,} lines")
    classes = learn_classes([words[index] for index in seen], CLASSES, arguments.seed)
    bitext = Bitext([classes.add_to(sentences[index]) for index in chosen], others)
    plan = TrainingPlan.of("btg", seed=arguments.seed, iterations=ITERATIONS, held_out=0)
    preorderer, _ = plan.train(bitext.take(seen))
    unseen = bitext.take(held)
    names = [sentence.tags or sentence.words for sentence in unseen.sentences]
    found = diagnose_pair(names, unseen.alignments, preorderer.order(unseen.sentences), arguments.seed)
    return found, *choose_method(sentences, False)
