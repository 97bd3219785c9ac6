"""Write sentence pairs of an SVO language (svo) and an SOV language (sov), train, dev and test.

They come with gold alignments, and tags and trees of the source. No source sentence occurs twice.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple, cast

from preorder.command_line import options
from preorder.data import Alignment
from preorder.data.formats import format_alignment
from preorder.errors import DataError
from preorder.io.atomic import atomic_directory
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.pipeline.data import write_columns
from preorder_recipes.synthetic.rules import LEXICON, RULES

SUFFIXES = ("svo", "sov", "svo.pos", "svo.trees", "align")
START = "ROOT"
_RULE = re.compile(r"(\S+) -> (.+?) += (.+?) +: ([0-9]+)")
_PART = re.compile(r"[0-9]+(\+[0-9]+)*")


class Piece(NamedTuple):
    """A stretch of a sentence pair.

    Attributes:
        tree: PTB bracketing of the source.
        words, tags: the source.
        target: target words, each with the 0-based source words it translates.
    """

    tree: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    target: tuple[tuple[str, frozenset[int]], ...]

    def lines(self) -> tuple[str, ...]:
        """Return the lines for the files of :data:`SUFFIXES`."""
        links = frozenset((i, j) for j, (_, sources) in enumerate(self.target) for i in sources)
        texts = (self.words, (word for word, _ in self.target), self.tags)
        return (*map(" ".join, texts), self.tree, format_alignment(Alignment(links)))


class Rule(NamedTuple):
    """How a category is made of parts, in both languages.

    ``VP/core -> VBD/take NP/thing = 1 o 0`` over the pieces *found → mitsuketa* and *the book → hon* gives
    *found the book → hon o mitsuketa*, links ``0-2 2-0``: *the* and *o* translate nothing.

    Attributes:
        parts: categories, in the source's order.
        target: what stands in the target: a particle, or the indices of the part that is
            put there and of those that are translated with it.
    """

    parts: tuple[str, ...]
    target: tuple[str | tuple[int, ...], ...]


Grammar = dict[str, tuple[list[Any], list[float]]]
"""``(choices, weights)`` of each category; a choice is a rule, or a word with its translations."""


def load() -> Grammar:
    """Parse the rules and the lexicon; a word's weight falls with its rank, as 1 / (rank + 3)."""
    grammar: Grammar = defaultdict(lambda: ([], []))
    for line in filter(None, RULES.strip().splitlines()):
        category, parts, target, weight = cast(re.Match[str], _RULE.fullmatch(line)).groups()
        items = (
            tuple(map(int, item.split("+"))) if _PART.fullmatch(item) else item for item in target.split()
        )
        choices, weights = grammar[category]
        choices.append(Rule(tuple(parts.split()), tuple(items)))
        weights.append(float(weight))
    for line in LEXICON.strip().splitlines():
        category, *entries = line.split()
        pairs = (entry.partition("=") for entry in entries)
        choices = [(word, translations.split("|")) for word, _, translations in pairs]
        grammar[category] = (choices, [1 / (rank + 3) for rank in range(len(choices))])
    return dict(grammar)


def sample(grammar: Grammar, generator: random.Random, category: str = START) -> Piece:
    """Sample one sentence pair, or the piece of one that a category makes."""
    label, (rule,) = category.partition("/")[0], generator.choices(*grammar[category])
    if not isinstance(rule, Rule):
        word, translations = rule
        words = filter(None, generator.choice(translations).split("_"))
        translated = tuple((translation, frozenset([0])) for translation in words)
        return Piece(f"({label} {word})", (word,), (label,), translated)
    pieces = [sample(grammar, generator, part) for part in rule.parts]
    starts = list(accumulate((len(piece.words) for piece in pieces), initial=0))
    target: list[tuple[str, frozenset[int]]] = []
    for item in rule.target:
        if isinstance(item, str):
            target.append((item, frozenset()))
            continue
        placed, *joined = item
        also = {i for k in joined for i in range(starts[k], starts[k + 1])}
        for word, sources in pieces[placed].target:
            target.append((word, frozenset({starts[placed] + i for i in sources} | also)))
    return Piece(
        f"({label} {' '.join(piece.tree for piece in pieces)})",
        tuple(word for piece in pieces for word in piece.words),
        tuple(tag for piece in pieces for tag in piece.tags),
        tuple(target),
    )


def sentence_pairs(seed: int, shortest: int = 6, longest: int = 40) -> Iterator[Piece]:
    """Yield sentence pairs for ever, no source sentence twice, of a length in source words."""
    grammar, generator, seen = load(), random.Random(seed), set()
    while True:
        piece = sample(grammar, generator)
        if shortest <= len(piece.words) <= longest and piece.words not in seen:
            seen.add(piece.words)
            yield piece


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_write)
    parser.add_argument("--out", metavar="DIR", required=True, help="folder to write")
    options.add_number(parser, "--pairs", options.sentence_pairs, 6000, "training pairs")
    options.add_number(parser, "--held", options.sentence_pairs, 500, "dev and test pairs each")
    options.add_seed(parser)
    return execute(parser, argv)


def _write(arguments: argparse.Namespace) -> None:
    """Write the three parts into a folder, which appears once it is complete."""
    if Path(arguments.out).exists():
        raise DataError("exists already", arguments.out)
    stream = sentence_pairs(arguments.seed)
    sizes = {"test": arguments.held, "dev": arguments.held, "train": arguments.pairs}
    with atomic_directory(arguments.out) as fresh:
        for part, size in sizes.items():
            columns = zip(*(piece.lines() for piece in islice(stream, size)), strict=True)
            write_columns(fresh, part, SUFFIXES, columns)


if __name__ == "__main__":
    sys.exit(main())
