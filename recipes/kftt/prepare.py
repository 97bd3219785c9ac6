"""Prepare KFTT: ``python -m recipes.kftt.prepare --data DIR --out DIR``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from preorder.alignment.tokens import map_links
from preorder.command_line import Parser, execute, options
from preorder.data import Alignment
from preorder.data.formats import format_alignment, parse_tokens, read_alignments
from preorder.errors import DataError
from preorder.io import files
from preorder.io.atomic import atomic_directory
from preorder.progress import LOGGER
from recipes.job import PARTS
from recipes.kftt.parts_of_speech import Tagger, japanese_tagger, joined, tags_of

LANGUAGES = ("en", "ja")
MAX_LENGTH = 80  # tokens a side of a training pair
HAND_TRAIN = 400
DESCRIPTION = """\
Write train, dev and test, and the hand-aligned sentences in two parts: hand-train, to learn from, and
hand-test. Their Japanese is cut into the tokens of the other texts, and the links follow."""

Tokens = tuple[str, ...]
Pair = tuple[str, str]


@dataclass(frozen=True)
class HandAligned:
    """A sentence pair with links that people have set."""

    source: Tokens
    target: Tokens
    links: Alignment


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(prog="python -m recipes.kftt.prepare", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument(
        "--data",
        metavar="DIR",
        required=True,
        help="train.{en,ja} (or .gz), {dev,test,hand}.{en,ja}, hand.align",
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="folder to write")
    options.add_number(parser, "--lines", options.positive, options.MOST, "the first so many pairs of train")
    options.add_number(parser, "--sample", options.positive, options.MOST, "so many pairs of train, drawn")
    options.add_number(parser, "--min-length", options.positive, 1, "fewest tokens a side of a pair of train")
    options.add_number(
        parser, "--max-length", options.positive, MAX_LENGTH, "most tokens a side of a pair of train"
    )
    options.add_number(
        parser, "--hand-train", options.positive, HAND_TRAIN, "hand-aligned sentences to learn from"
    )
    help_tags = "write UniDic's parts of speech of the Japanese too, for each text.ja a text.ja.pos"
    parser.add_argument("--tags", action="store_true", help=help_tags)
    options.add_seed(parser)
    parser.set_defaults(run=_write)
    return execute(parser, argv)


def _write(arguments: argparse.Namespace) -> None:
    """Write all parts into a folder, which appears once it is complete."""
    if Path(arguments.out).exists():
        raise DataError("exists already", arguments.out)
    data, tagger = Path(arguments.data), japanese_tagger()
    hand = read_hand_aligned(data, lambda text: tuple(word.surface for word in tagger(text)))
    random = np.random.default_rng(arguments.seed)
    order = random.permutation(len(hand))
    parts = {
        "hand-train": sorted(order[: arguments.hand_train]),
        "hand-test": sorted(order[arguments.hand_train :]),
    }
    with atomic_directory(arguments.out) as fresh:
        for part, chosen in parts.items():
            _write_hand_aligned(fresh / part, [hand[number] for number in chosen])
        for part in PARTS:
            pairs = read_pairs(data, part)
            if part == "train":
                lengths = range(arguments.min_length, arguments.max_length + 1)
                pairs = islice(pairs_of(pairs, lengths), arguments.lines)
                pairs = drawn(list(pairs), arguments.sample, random)
            columns = zip(*pairs, strict=True)
            for language, lines in zip(LANGUAGES, columns, strict=True):
                files.write_lines(f"{fresh / part}.{language}", lines)
        if arguments.tags:
            for part in (*parts, *PARTS):
                lines = files.read_lines(f"{fresh / part}.ja")
                files.write_lines(f"{fresh / part}.ja.pos", _tagged(f"{part}.ja", lines, tagger))


def _tagged(name: str, lines: Iterable[str], tagger: Tagger) -> Iterator[str]:
    """Yield the parts of speech of each line of a Japanese text; an error calls it by its name."""
    return files.parse_lines(name, lines, lambda line: " ".join(tags_of(parse_tokens(line), tagger)))


def read_pairs(data: Path, part: str) -> Iterator[Pair]:
    """Yield the sentence pairs of a part."""
    paths = [_found(data / f"{part}.{language}") for language in LANGUAGES]
    return files.in_parallel(*((path, files.read_lines(path)) for path in paths))


def pairs_of(pairs: Iterable[Pair], lengths: range) -> Iterator[Pair]:
    """Yield the pairs whose sides both have so many tokens."""
    return (pair for pair in pairs if all(len(parse_tokens(line)) in lengths for line in pair))


def drawn(pairs: Sequence[Pair], number: int, random: np.random.Generator) -> list[Pair]:
    """Return so many of the pairs, or all if they are fewer, in their order."""
    chosen = random.permutation(len(pairs))[:number]
    return [pairs[index] for index in np.sort(chosen)]


def _found(path: Path) -> str:
    compressed = Path(f"{path}.gz")
    return str(compressed if compressed.exists() and not path.exists() else path)


def read_hand_aligned(data: Path, tokenize: Callable[[str], Tokens]) -> list[HandAligned]:
    """Return the hand-aligned sentence pairs, their Japanese in other tokens.

    Some lines of the published files have lost a token, so that links point past the end. What follows the
    gap is linked wrongly, so these lines are left out, and how many they are is said.
    """
    paths = [str(data / f"hand.{language}") for language in LANGUAGES]
    texts = [(path, files.read_parsed(path, parse_tokens)) for path in paths]
    links = str(data / "hand.align")
    kept, lost = [], []
    rows = files.in_parallel(*texts, (links, read_alignments(links)))
    for number, (source, target, alignment) in enumerate(rows, 1):
        try:
            alignment.check_within(len(source), len(target))
        except DataError:
            lost.append(number)
            continue
        tokens = tokenize(joined(target))
        kept.append(HandAligned(tuple(source), tokens, map_links(alignment, None, (target, tokens))))
    LOGGER.info(f"{len(lost)} hand-aligned lines have links past their end and are left out")
    return kept


def _write_hand_aligned(path: Path, pairs: Sequence[HandAligned]) -> None:
    contents = {
        "en": (" ".join(pair.source) for pair in pairs),
        "ja": (" ".join(pair.target) for pair in pairs),
        "align": (format_alignment(pair.links) for pair in pairs),
    }
    for suffix, lines in contents.items():
        files.write_lines(f"{path}.{suffix}", lines)


if __name__ == "__main__":
    sys.exit(main())
