"""``preorder gold``: put source words in the order that a word alignment asks for."""

from __future__ import annotations

import argparse

from preorder.alignment.gold import gold_permutation
from preorder.command_line import options
from preorder.data import Alignment, Permutation, Sentence
from preorder.data.formats import formatted, parse_source, read_alignments
from preorder.data.texts import read_tokens
from preorder.io import files

EXAMPLES = """\
  preorder gold --src test.en --align test.align --out test.gold
  preorder gold --src test.en --align test.align --format text | head
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder gold``."""
    options.add_source(parser)
    options.add_alignment(parser)
    options.add_output(parser)
    options.add_format(parser, options.ORDER_FORMATS)
    options.add_unaligned(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the gold order of each sentence."""

    def pair(sentence: Sentence, alignment: Alignment) -> tuple[Sentence, Permutation]:
        return sentence, gold_permutation(alignment, len(sentence), arguments.unaligned, arguments.statistic)

    sentences = (arguments.src, read_tokens(arguments.src, parse_source))
    alignments = (arguments.align, read_alignments(arguments.align))
    pairs = files.map_parallel(pair, arguments.align, sentences, alignments)
    files.write_lines(arguments.out, formatted(pairs, arguments.format))
