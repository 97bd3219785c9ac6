"""Prepare KFTT: write train, dev and test, and the hand-aligned sentences in two parts.

These are hand-train, to learn from, and hand-test. Their Japanese is cut into the tokens of the other texts,
and the links follow.
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from preorder.alignment.tokens import map_links, overlapping
from preorder.command_line import options
from preorder.data.formats import format_alignment, parse_tokens, read_alignments
from preorder.errors import DataError, require
from preorder.io import files
from preorder.io.atomic import atomic_directory
from preorder.progress import LOGGER
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.pipeline.data import write_columns
from preorder_recipes.pipeline.job import PARTS

LANGUAGES = ("en", "ja")
MAX_LENGTH = 80  # tokens a side of a training pair
HAND_TRAIN = 400
INFLECTED = ("動詞", "形容詞", "助動詞")  # verbs, adjectives, auxiliaries

Pair = tuple[str, str]


Tagger = Callable[[str], list[tuple[str, str]]]
"""Cuts a text into words, each with UniDic's tag."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_write)
    add, number = parser.add_argument, options.add_number
    files_there = "train.{en,ja} (or .gz), {dev,test,hand}.{en,ja}, hand.align"
    add("--data", metavar="DIR", required=True, help=files_there)
    add("--out", metavar="DIR", required=True, help="folder to write")
    number(parser, "--sample", options.positive, options.MOST, "so many pairs of train, sampled")
    number(parser, "--min-length", options.positive, 1, "fewest tokens a side of a pair of train")
    number(parser, "--max-length", options.positive, MAX_LENGTH, "most tokens a side of a pair of train")
    tags = "write UniDic's parts of speech of the Japanese too, for each text.ja a text.ja.pos"
    add("--tags", action="store_true", help=tags)
    options.add_seed(parser)
    return execute(parser, argv)


def _write(arguments: argparse.Namespace) -> None:
    """Write all parts into a folder, which appears once it is complete."""
    if Path(arguments.out).exists():
        raise DataError("exists already", arguments.out)
    data, tagger = Path(arguments.data), japanese_tagger()
    hand = read_hand_aligned(data, tagger)
    if len(hand) <= HAND_TRAIN:
        raise DataError(f"{len(hand)} sentences; {HAND_TRAIN} serve to learn from", str(data / "hand.align"))
    random = np.random.default_rng(arguments.seed)
    order = random.permutation(len(hand))
    parts = {"hand-train": order[:HAND_TRAIN], "hand-test": order[HAND_TRAIN:]}
    with atomic_directory(arguments.out) as fresh:
        for part, chosen in parts.items():
            columns = zip(*(hand[index] for index in sorted(chosen)), strict=True)
            write_columns(fresh, part, (*LANGUAGES, "align"), columns)
        for part in PARTS:
            pairs = read_pairs(data, part)
            if part == "train":
                lengths = range(arguments.min_length, arguments.max_length + 1)
                fit = [pair for pair in pairs if all(len(parse_tokens(line)) in lengths for line in pair)]
                if not fit:
                    which = f"{arguments.min_length} to {arguments.max_length} tokens a side"
                    raise DataError(f"no pair of {which}", str(data / "train.ja"))
                sampled = np.sort(random.permutation(len(fit))[: arguments.sample])
                pairs = [fit[index] for index in sampled]
            write_columns(fresh, part, LANGUAGES, zip(*pairs, strict=True))
        for part in (*parts, *PARTS) if arguments.tags else ():
            lines = files.read_lines(f"{fresh / part}.ja")
            tags = files.parse_lines(f"{part}.ja", lines, lambda line: tags_of(parse_tokens(line), tagger))
            files.write_lines(f"{fresh / part}.ja.pos", map(" ".join, tags))


def read_pairs(data: Path, part: str) -> list[Pair]:
    """Return the sentence pairs of a part, plain or in ``.gz``."""
    plain = [f"{data / part}.{language}" for language in LANGUAGES]
    paths = [path if Path(path).exists() else f"{path}.gz" for path in plain]
    return files.not_empty(paths[0], files.in_parallel(*((path, files.read_lines(path)) for path in paths)))


def read_hand_aligned(data: Path, tagger: Tagger) -> list[tuple[str, str, str]]:
    """Return lines of the hand-aligned sentence pairs and their links, the Japanese in the tagger's tokens.

    Some lines of the published files have lost a token, so that links point past the end. What follows the
    gap is linked wrongly, so these lines are left out and counted.
    """
    paths = [str(data / f"hand.{language}") for language in LANGUAGES]
    texts = [(path, files.read_parsed(path, parse_tokens)) for path in paths]
    path = str(data / "hand.align")
    kept, lost = [], 0
    for source, target, alignment in files.in_parallel(*texts, (path, read_alignments(path))):
        try:
            alignment.check_within(len(source), len(target))
        except DataError:
            lost += 1
            continue
        tokens = tuple(word for word, _ in tagger(joined(target)))
        links = format_alignment(map_links(alignment, None, overlapping(target, tokens)))
        kept.append((" ".join(source), " ".join(tokens), links))
    LOGGER.info(f"{lost} hand-aligned lines have links past their end and are left out")
    return kept


def japanese_tagger() -> Tagger:
    """Return the tagger of the corpus: NFKC, and short units of UniDic."""
    for module in ("unidic_lite", "fugashi"):
        fugashi = require(module, "japanese")
    tagger = fugashi.Tagger()
    return lambda text: [
        (word.surface, tag_of(word.feature)) for word in tagger(unicodedata.normalize("NFKC", text))
    ]


def tag_of(feature: Any) -> str:
    """Return UniDic's part of speech, as ``助詞-格助詞``; of what is inflected, with its form."""
    is_inflected = feature.pos1 in INFLECTED
    second = feature.cForm.partition("-")[0] if is_inflected and feature.cForm else feature.pos2
    return feature.pos1 if second in (None, "*") else f"{feature.pos1}-{second}"


def tags_of(tokens: Sequence[str], tagger: Tagger) -> list[str]:
    """Return for each token the tag of the word in which it begins."""
    words = tagger(joined(tokens))
    if "".join(word for word, _ in words) != "".join(tokens):
        raise DataError("UniDic reads other characters here: is the text in NFKC?")
    of_character = [tag for word, tag in words for _ in word]
    begins = accumulate(map(len, tokens[:-1]), initial=0)
    return [of_character[begin] for begin in begins] if tokens else []


def joined(tokens: Iterable[str]) -> str:
    """Return Japanese text without the spaces between its tokens, but for those between Latin words."""
    text = ""
    for token in tokens:
        text += (" " if text[-1:].isascii() and token.isascii() and text else "") + token
    return text


if __name__ == "__main__":
    sys.exit(main())
