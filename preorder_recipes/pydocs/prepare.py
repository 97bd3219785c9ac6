"""Prepare a data folder of a translation of Python's documentation.

The folder of --docs is a checkout of a repository python/python-docs-LANG: a tree of gettext's .po files.
Finished entries are read, without markup, and split into sentences where both sides have as many. Each
English sentence is kept once. dev and test are sampled, and train is shuffled, by --seed.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from preorder.annotate.options import LANGUAGE
from preorder.annotate.tokenizers import IDENTIFIER, TOKENIZERS, Tokenizer, usual
from preorder.command_line import options
from preorder.data.formats import FEATURE_SEPARATOR
from preorder.errors import DataError, UsageError, require
from preorder.io.atomic import atomic_directory
from preorder.progress import LOGGER, progress
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.pipeline.data import write_columns
from preorder_recipes.pipeline.job import PARTS

SOURCE = "en"
MIN_LENGTH, MAX_LENGTH = 3, 60  # tokens a side
HELD = 500

# Regular expressions of reStructuredText, each with what stays of its match.
_MARKUP = (
    (re.compile(r":[\w:+-]+:`[!~]?([^`<]*[^`<\s])\s*<[^`>]*>`"), r"\1"),  # a role with a title
    (re.compile(r":[\w:+-]+:`[!~]?([^`]*)`"), r"\1"),
    (re.compile(r"``(.+?)``"), r"\1"),
    (re.compile(r"`([^`<]*[^`<\s])\s*<[^`>]*>`_{0,2}"), r"\1"),  # a link with its address
    (re.compile(r"`([^`]*)`_{0,2}"), r"\1"),
    (re.compile(r"(?<!\w)\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\w)"), r"\1"),
    (re.compile(r"(?<!\w)\*(?=\S)(.+?)(?<=\S)\*(?!\w)"), r"\1"),
    (re.compile(r"(?<!\w)\|(\w+)\|(?!\w)"), r"\1"),  # a substitution
    (re.compile(r"::\s*$"), ":"),  # announces a block of code
    (re.compile(r"\\(.)"), r"\1"),
    (re.compile(r"`"), ""),  # of a role that is misspelt
)
_SENTENCE_END = re.compile(r"([.!?][)\"'”’]*)\s+(?=[^\W_a-z]|[(\"'“‘])|([。！？][）」』]*)\s*(?=.)")

Pair = tuple[str, str]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    example = (
        "example:\n  git clone https://github.com/python/python-docs-tr\n"
        "  python -m preorder_recipes.pydocs.prepare --docs python-docs-tr --lang tr --out runs/pydocs-tr"
    )
    parser = make_parser(_write, epilog=example)
    add, number = parser.add_argument, options.add_number
    add("--docs", metavar="DIR", type=Path, required=True, help="folder with .po files, at any depth")
    add("--lang", metavar="xx", required=True, help="code of the language into which they translate")
    what = "tokenizer of the translation (default: sudachi for ja, else moses); English is split by moses"
    add("--tokenizer", choices=tuple(TOKENIZERS), help=what)
    number(parser, "--held", options.positive, HELD, "pairs to sample for each of dev and test")
    options.add_seed(parser)
    add("--out", metavar="DIR", required=True, help="folder to write {train,dev,test}.{en,xx} into")
    return execute(parser, argv)


def _write(arguments: argparse.Namespace) -> None:
    """Write all parts into a folder, which appears once it is complete."""
    language, out = arguments.lang, arguments.out
    if not LANGUAGE.fullmatch(language) or language == SOURCE:
        raise UsageError(f"--lang: {language!r} is no code of another language than {SOURCE}")
    if Path(out).exists():
        raise DataError("exists already", out)
    tokenizers = TOKENIZERS["moses"](SOURCE), TOKENIZERS[arguments.tokenizer or usual(language)](language)
    pairs = distinct(tokenised(sentence_pairs(arguments.docs), tokenizers, (SOURCE, language)))
    if len(pairs) <= 2 * arguments.held:
        raise DataError(
            f"{len(pairs)} sentence pairs: too few for --held {arguments.held}", str(arguments.docs)
        )
    random.Random(arguments.seed).shuffle(pairs)
    ends = 2 * arguments.held, arguments.held, 0
    with atomic_directory(out) as fresh:
        for part, begin, end in zip(PARTS, ends, (len(pairs), *ends), strict=False):
            write_columns(fresh, part, (SOURCE, language), zip(*pairs[begin:end], strict=True))
    LOGGER.info(f"{len(pairs) - ends[0]:,} pairs to train on, {arguments.held:,} each of dev and test")


def sentence_pairs(docs: Path) -> Iterator[Pair]:
    """Yield plain sentences and their translations, from the finished entries of all .po files in a folder.

    A DataError names a file that is no .po file; there must be one.
    """
    polib = require("polib", "pydocs")
    paths = sorted(docs.rglob("*.po"))
    if not paths:
        raise DataError("no .po file is in this folder", str(docs))
    for path in progress(paths, "files", len(paths), "read"):
        try:
            entries = polib.pofile(str(path), encoding="utf-8")
        except (OSError, ValueError) as error:  # UnicodeDecodeError is a ValueError
            raise DataError(
                f"cannot be read as a .po file: {' '.join(str(error).split())}", str(path)
            ) from None
        for entry in entries:
            if entry.translated() and not entry.msgid_plural:
                yield from in_sentences(plain(entry.msgid), plain(entry.msgstr))


def plain(text: str) -> str:
    """Return text without the markup of reStructuredText, in one line.

    ``See :func:`~os.fork` in the *child*`` becomes ``See os.fork in the child``.
    """
    for pattern, kept in _MARKUP:
        text = pattern.sub(kept, text)
    return " ".join(text.split())


def in_sentences(source: str, target: str) -> list[Pair]:
    """Return the sentences of a paragraph with their translations; the whole where the numbers differ."""
    sides = [_SENTENCE_END.sub(r"\1\2\n", text).split("\n") for text in (source, target)]
    return list(zip(*sides, strict=True)) if len(sides[0]) == len(sides[1]) else [(source, target)]


def tokenised(
    pairs: Iterable[Pair], tokenizers: tuple[Tokenizer, Tokenizer], languages: Pair
) -> Iterator[Pair]:
    """Yield lowercased token lines of the pairs that have 3 to 60 tokens a side."""
    for pair in pairs:
        both = [
            [lowercased(word, language).replace(FEATURE_SEPARATOR, "|") for word in tokenize(text)]
            for text, tokenize, language in zip(pair, tokenizers, languages, strict=True)
        ]
        if all(MIN_LENGTH <= len(tokens) <= MAX_LENGTH for tokens in both):
            yield " ".join(both[0]), " ".join(both[1])


def lowercased(word: str, language: str) -> str:
    """Return a word in lower case; a Turkish or Azeri word, but no name in code, has I → ı and İ → i."""
    if language in ("tr", "az") and not (word.isupper() or re.fullmatch(IDENTIFIER, word)):
        word = word.replace("İ", "i").replace("I", "ı")
    return word.lower()


def distinct(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the first pair of each source sentence; left out where both sides are the same."""
    found: dict[str, str] = {}
    for source, target in pairs:
        if source != target:
            found.setdefault(source, target)
    return list(found.items())


if __name__ == "__main__":
    sys.exit(main())
