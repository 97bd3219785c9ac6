"""Make a data folder of a corpus: split off dev and test where they are missing, keep their lines to them.

A pair is left out of training if its source or its target is also one of dev or test.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePath

from preorder.annotate.options import LANGUAGE
from preorder.annotate.tokenizers import languages_of, log_tokenizers
from preorder.command_line.options import add_number, positive
from preorder.data.formats import parse_tokens
from preorder.errors import DataError, UsageError, errors_in
from preorder.io import files
from preorder.io.atomic import atomic_directory
from preorder.io.storage import is_url, split_suffix
from preorder.progress import counted
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.pipeline.data import fault_of, read_rows, write_columns
from preorder_recipes.pipeline.job import PARTS

HELD_OUT = PARTS[1:]
TEXTS = ("src", "tgt", *(f"{part}_{side}" for part in HELD_OUT for side in ("src", "tgt")))
DEFAULT_SIZE = 1000
LARGEST_SHARE = 20  # of the training pairs that can be drawn, one in so many at most
DEFAULT_NAMES = ("src", "tgt")

Pair = tuple[str, ...]
"""A source line and its target line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(lambda arguments: print("\n".join(write_split(arguments, arguments.out))))
    add_texts(parser)
    parser.add_argument("--out", metavar="DIR", required=True, help="data folder to write")
    return execute(parser, argv)


def add_texts(parser: argparse.ArgumentParser) -> None:
    """Add the options that :func:`write_split` reads."""
    add = parser.add_argument
    what = "source text, a sentence a line, tokenised unless --tokenize is given; its name ends with the "
    what += "language, as .en or .en.gz"
    add("--src", metavar="F", required=True, help=what)
    add("--tgt", metavar="F", required=True, help="its translation, line by line")
    for part in HELD_OUT:
        for side, what in (("src", "source"), ("tgt", "target")):
            add(f"--{part}-{side}", metavar="F", help=f"{what} of {part} (default: split off)")
    text = "split plain text of these languages, as in en,ja: by SudachiPy (ja), Stanza (zh, th, …), "
    text += "sacremoses (others); en:stanza chooses"
    add("--tokenize", metavar="xx,yy", type=_languages, default=(), help=text)
    text = "pairs to split off for each of dev and test; fewer where they are over a 20th of the text"
    add_number(parser, "--held", positive, DEFAULT_SIZE, text)


def texts_of(arguments: argparse.Namespace) -> list[str]:
    """Return the options of :func:`add_texts` as a command line, with absolute paths."""
    line = []
    for name in TEXTS:
        if (path := getattr(arguments, name)) is not None:
            line += [f"--{name.replace('_', '-')}", path if is_url(path) else str(Path(path).resolve())]
    languages = ["--tokenize", ",".join(arguments.tokenize)] if arguments.tokenize else []
    return [*line, *languages, "--held", str(arguments.held)]


def _languages(text: str) -> tuple[str, ...]:
    try:
        return languages_of(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def names_of(arguments: argparse.Namespace) -> tuple[str, str]:
    """Return the languages, as the names of the texts end; ``src`` and ``tgt`` where these are alike."""
    source, target = (PurePath(split_suffix(path)[0]).suffix[1:] for path in (arguments.src, arguments.tgt))
    are_codes = LANGUAGE.fullmatch(source) and LANGUAGE.fullmatch(target)
    return (source, target) if are_codes and source != target else DEFAULT_NAMES


def write_split(arguments: argparse.Namespace, out: str) -> list[str]:
    """Write ``{train,dev,test}.{source,target}`` into a folder, which appears once it is complete.

    Return messages: where each part comes from, and how many pairs are left out.
    """
    names = names_of(arguments)
    _check_replaceable(Path(out), names, [getattr(arguments, name) for name in TEXTS])
    log_tokenizers(*arguments.tokenize)
    given = {part: pairs for part in HELD_OUT if (pairs := _held_out(arguments, part))}
    train = files.not_empty(arguments.src, read_rows((arguments.src, arguments.tgt), arguments.tokenize))
    filled = {part: [pair for pair in pairs if all(map(parse_tokens, pair))] for part, pairs in given.items()}
    for part, pairs in filled.items():
        if not pairs:
            raise DataError("no sentence pair is left", getattr(arguments, f"{part}_src"))
    with errors_in(arguments.src):
        parts = split(train, filled, arguments.held)
    with atomic_directory(out) as fresh:
        for part, chosen in parts.items():
            write_columns(fresh, part, names, zip(*chosen, strict=True))
    drawn = sum(len(parts[part]) for part in HELD_OUT if part not in given)
    shared = len(train) - len(parts["train"]) - drawn
    messages = [
        f"train: {len(parts['train']):,} of {counted(len(train), 'pair')}; {drawn:,} are split off, "
        f"{shared:,} left out, since they share a line with dev or test"
    ]
    for part in HELD_OUT:
        what = "split off from the training text"
        if part in given:
            what = f"as given; {len(given[part]) - len(parts[part]):,} with an empty side are left out"
        messages.append(f"{part}: {counted(len(parts[part]), 'pair')}, {what}")
    return messages


def split(train: Sequence[Pair], given: Mapping[str, Sequence[Pair]], size: int) -> dict[str, Sequence[Pair]]:
    """Return the pairs of each part: dev and test as given or drawn, train all that share no line with them.

    Only pairs that are fit for training are drawn, in the order of the text.
    """
    held: tuple[set[tuple[str, ...]], ...] = (set(), set())  # tokens of the lines of dev and test

    def hold(pair: Pair) -> None:
        for side, line in zip(held, pair, strict=True):
            side.add(parse_tokens(line))

    def is_held(pair: Pair) -> bool:
        return any(parse_tokens(line) in side for side, line in zip(held, pair, strict=True))

    for pair in chain.from_iterable(given.values()):
        hold(pair)
    fit = [index for index, pair in enumerate(train) if fault_of(pair) is None]
    random.Random(1).shuffle(fit)
    size = min(size, max(1, len({train[index] for index in fit}) // LARGEST_SHARE))
    parts: dict[str, Sequence[Pair]] = dict(given)
    for part in HELD_OUT:
        drawn: list[int] = []
        while part not in given and len(drawn) < size:
            if not fit:
                raise DataError("too few pairs of different lines to split dev and test off")
            index = fit.pop()
            if not is_held(train[index]):
                hold(train[index])
                drawn.append(index)
        parts.setdefault(part, [train[index] for index in sorted(drawn)])
    rest = [pair for pair in train if not is_held(pair)]
    if not any(fault_of(pair) is None for pair in rest):
        raise DataError(
            "no pair is left to train on: all have a line of dev or test, or are empty or too long"
        )
    return {"train": rest, **parts}


def _held_out(arguments: argparse.Namespace, part: str) -> list[Pair]:
    paths = [getattr(arguments, f"{part}_{side}") for side in ("src", "tgt")]
    if paths == [None, None]:
        return []
    if None in paths:
        raise UsageError(f"--{part}-src and --{part}-tgt go together")
    return files.not_empty(paths[0], read_rows(paths, arguments.tokenize))


def _check_replaceable(out: Path, names: Sequence[str], texts: Sequence[str | None]) -> None:
    """Refuse a folder that holds other things than the parts of a corpus, or one of some texts."""
    replaced = {f"{part}.{name}" for part in PARTS for name in names}
    if files.STANDARD in texts:
        raise UsageError("a corpus is read from files, not from standard input")
    for path in sorted(out.glob("*")):
        if path.name not in replaced or path.is_dir():
            raise UsageError(f"{out}: holds other files than a split corpus: {path.name}")
        if any(path.resolve() == Path(text).resolve() for text in texts if text is not None):
            raise UsageError(f"{path}: would be replaced by a part of itself")


if __name__ == "__main__":
    sys.exit(main())
