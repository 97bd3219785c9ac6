"""``preorder map``: map word alignments to other tokens of the same text."""

from __future__ import annotations

import argparse

from preorder.alignment.tokens import NewTokens, map_links, overlapping
from preorder.command_line import options
from preorder.data.formats import format_alignment, parse_tokens, read_alignments
from preorder.data.sentence import Alignment
from preorder.data.texts import read_tokens
from preorder.errors import UsageError
from preorder.io import files

SIDES = ("src", "tgt")

EXAMPLES = """\
  preorder map --align hand.align --tgt hand.ja --new-tgt hand.unidic.ja --out hand.unidic.align
  preorder map --align en-ja.align --reverse --out ja-en.align
  preorder map --align gold.from-one --first-index 1 --out gold.align
  preorder map --align en-ja.align --min-confidence 0.5 --out en-ja.sure.align
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder map``."""
    options.add_alignment(parser, confidences="are kept")
    for side, name in zip(SIDES, ("source", "target"), strict=True):
        texts = f"{name} with the tokens that are aligned", f"the same {name} in other tokens or subwords"
        options.add_files(parser, **{side: texts[0], f"new-{side}": texts[1]})
    options.add_flags(parser, reverse="write target-source links, for translation the other way")
    text = "leave out links of less confidence"
    options.add_number(parser, "--min-confidence", options.confidence, None, text, "P")
    options.add_first_index(parser, "--first-index", "--align", 0)
    options.add_output(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the links of each sentence pair on the new tokens."""
    sides = {}
    for side in SIDES:
        old, new = (getattr(arguments, name) for name in (side, f"new_{side}"))
        if (old is None) != (new is None):
            raise UsageError(f"--{side} and --new-{side} belong together")
        if old is not None:
            texts = ((path, read_tokens(path, parse_tokens)) for path in (old, new))
            sides[side] = new, files.map_parallel(overlapping, new, *texts)
    if not any((sides, arguments.reverse, arguments.min_confidence, arguments.first_index)):
        raise UsageError("nothing to do: name the texts, --tgt and --new-tgt, or --src and --new-src")

    def mapped(alignment: Alignment, *given: NewTokens) -> Alignment:
        new = dict(zip(sides, given, strict=True))
        links = map_links(alignment, *map(new.get, SIDES))
        if arguments.min_confidence:
            links = links.at_least(arguments.min_confidence)
        return links.reversed() if arguments.reverse else links

    alignments = (arguments.align, read_alignments(arguments.align, arguments.first_index))
    links = files.map_parallel(mapped, arguments.align, alignments, *sides.values())
    files.write_lines(arguments.out, map(format_alignment, links))
