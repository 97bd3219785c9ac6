"""List what phrases become what phrases in translations of NPMT (Huang et al. 2018, Tables 2, 8 and 9).

Every target word comes from one source word, as onmt_translate -align_output says. A phrase is
a source word that emits something, with those before it that emit nothing, and what it emits.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from preorder.command_line import Parser, execute, print_table
from preorder.command_line.options import add_number, positive
from preorder.data import Alignment
from preorder.data.formats import parse_tokens, read_alignments
from preorder.errors import DataError
from preorder.io import files

UNKNOWN = "<unk>"


@dataclass(frozen=True)
class Phrase:
    """Words of the source, and those of the translation that they became."""

    source: tuple[str, ...]
    target: tuple[str, ...]


def phrases_of(source: Sequence[str], target: Sequence[str], alignment: Alignment) -> Iterator[Phrase]:
    """Yield the phrases of a translation, in the order of the source."""
    emitters = dict(sorted((j, i) for i, j in alignment.links))
    if len(emitters) != len(alignment.links) or list(emitters) != list(range(len(target))):
        raise DataError("not one link for each word of the translation: NPMT alone has such alignments")
    start = 0
    for i in range(len(source)):
        emitted = tuple(word for j, word in enumerate(target) if emitters[j] == i)
        if emitted:
            yield Phrase(tuple(source[start : i + 1]), emitted)
            start = i + 1


KINDS = {
    "one → one": lambda phrase: len(phrase.source) == len(phrase.target) == 1,
    "one → many": lambda phrase: len(phrase.source) == 1 < len(phrase.target),
    "many → one": lambda phrase: len(phrase.source) > 1 == len(phrase.target),
    "many → many": lambda phrase: min(len(phrase.source), len(phrase.target)) > 1,
    f"many → many without {UNKNOWN}": lambda phrase: (
        min(len(phrase.source), len(phrase.target)) > 1 and UNKNOWN not in phrase.target
    ),
    "3 → 3": lambda phrase: len(phrase.source) == len(phrase.target) == 3,
    "4 → 4": lambda phrase: len(phrase.source) == len(phrase.target) == 4,
}
"""Columns: the categories of Tables 8 and 9."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0 done, 2 bad input or usage."""
    parser = Parser(prog="python -m preorder_recipes.phrases", description=__doc__)
    parser.add_argument("--src", metavar="F", required=True, help="source, one sentence a line")
    parser.add_argument("--hyp", metavar="F", required=True, help="its translation")
    parser.add_argument("--align", metavar="F", required=True, help="links that onmt_translate has written")
    add_number(parser, "--count", positive, 10, "rows")
    parser.set_defaults(run=_print)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    texts = [(path, map(parse_tokens, files.read_lines(path))) for path in (arguments.src, arguments.hyp)]
    streams = (*texts, (arguments.align, read_alignments(arguments.align)))
    found = [
        phrase
        for of_sentence in files.map_parallel(_list_phrases, arguments.align, *streams)
        for phrase in of_sentence
    ]
    columns = [
        [f"{' '.join(phrase.source)} → {' '.join(phrase.target)}" for phrase, _ in common]
        for is_kind in KINDS.values()
        for common in [Counter(filter(is_kind, found)).most_common(arguments.count)]
    ]
    rows = [[column[k] if k < len(column) else "" for column in columns] for k in range(arguments.count)]
    print_table(None, list(KINDS), rows)
    words = sum(len(phrase.target) for phrase in found)
    print(f"{len(found)} phrases, {words / max(1, len(found)):.2f} words of the translation in each")


def _list_phrases(source: Sequence[str], target: Sequence[str], alignment: Alignment) -> list[Phrase]:
    return list(phrases_of(source, target, alignment))


if __name__ == "__main__":
    sys.exit(main())
