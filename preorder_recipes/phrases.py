"""List what phrases become what phrases in translations of NPMT (Huang et al. 2018, Tables 2, 8 and 9).

Every target word comes from one source word, as onmt_translate -align_output says. A phrase is
a source word that emits something, with those before it that emit nothing, and what it emits.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from preorder.command_line import print_table
from preorder.data import Alignment
from preorder.data.formats import parse_tokens, read_alignments
from preorder.errors import DataError
from preorder.io import files
from preorder_recipes.commands import execute, make_parser

UNKNOWN = "<unk>"
ROWS = 10


Phrase = tuple[tuple[str, ...], tuple[str, ...]]
"""Words of the source, and those of the translation that they became."""


def phrases_of(source: Sequence[str], target: Sequence[str], alignment: Alignment) -> Iterator[Phrase]:
    """Yield the phrases of a translation, in the order of the source."""
    emitters = dict(sorted((j, i) for i, j in alignment.links))
    if len(emitters) != len(alignment.links) or list(emitters) != list(range(len(target))):
        raise DataError("not one link for each word of the translation: NPMT alone has such alignments")
    alignment.check_within(len(source))
    start = 0
    for i in range(len(source)):
        emitted = tuple(word for j, word in enumerate(target) if emitters[j] == i)
        if emitted:
            yield tuple(source[start : i + 1]), emitted
            start = i + 1


KINDS = {
    "one → one": lambda source, target: len(source) == len(target) == 1,
    "one → many": lambda source, target: len(source) == 1 < len(target),
    "many → one": lambda source, target: len(source) > 1 == len(target),
    "many → many": lambda source, target: min(len(source), len(target)) > 1,
    f"many → many without {UNKNOWN}": lambda source, target: (
        min(len(source), len(target)) > 1 and UNKNOWN not in target
    ),
    "3 → 3": lambda source, target: len(source) == len(target) == 3,
    "4 → 4": lambda source, target: len(source) == len(target) == 4,
}
"""Columns: the categories of Tables 8 and 9."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_print)
    add = parser.add_argument
    add("--src", metavar="F", required=True, help="source, one sentence a line")
    add("--hyp", metavar="F", required=True, help="its translation")
    add("--align", metavar="F", required=True, help="links that onmt_translate has written")
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    texts = [(path, map(parse_tokens, files.read_lines(path))) for path in (arguments.src, arguments.hyp)]
    streams = (*texts, (arguments.align, read_alignments(arguments.align)))
    sentences = files.map_parallel(lambda *given: list(phrases_of(*given)), arguments.align, *streams)
    found = list(chain.from_iterable(sentences))
    columns = []
    for is_kind in KINDS.values():
        common = Counter(phrase for phrase in found if is_kind(*phrase)).most_common(ROWS)
        columns.append([f"{' '.join(source)} → {' '.join(target)}" for (source, target), _ in common])
    print_table(None, list(KINDS), zip_longest(*columns, fillvalue=""))
    words = sum(len(target) for _, target in found)
    print(f"{len(found)} phrases, {words / max(1, len(found)):.2f} words of the translation in each")


if __name__ == "__main__":
    sys.exit(main())
