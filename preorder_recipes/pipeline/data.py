"""Copy a folder of parallel text into a run: check it, and filter the training part."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from preorder.annotate.tokenizers import tokenised
from preorder.command_line.options import add_number, positive
from preorder.data.formats import FEATURE_SEPARATOR, parse_source, parse_tokens
from preorder.data.texts import token_lines
from preorder.errors import DataError, UsageError
from preorder.io import files
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.pipeline.job import HAND, LAYERS, PARTS

MAX_LENGTH = 50  # Kawara et al. 2021, §V-A, like the ratio
MAX_RATIO = 9
LONGEST = "most tokens a side of a training pair"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_copy)
    add = parser.add_argument
    add("--data", metavar="DIR", type=Path, required=True, help="folder of {train,dev,test}.{xx,yy}")
    add("--src", metavar="xx", required=True, help="source language, as the files' names end")
    add("--tgt", metavar="yy", required=True, help="target language")
    add("--given-alignment", action="store_true", help="copy the .align files, too")
    add("--hand-aligned", action="store_true", help="copy hand.{xx,yy,align}, too")
    add_number(parser, "--max-length", positive, MAX_LENGTH, LONGEST)
    add("--out", metavar="DIR", type=Path, required=True, help="folder to write")
    return execute(parser, argv)


def _copy(given: argparse.Namespace) -> None:
    check_apart(given.data, given.out)
    sides = (given.src, given.tgt)
    print(
        copy_data(given.data, given.out, sides, given.given_alignment, given.max_length, given.hand_aligned)
    )


def check_apart(data: Path, out: Path) -> None:
    """Refuse to copy a folder into itself."""
    if data.resolve() == out.resolve():
        raise UsageError(f"{data} would be overwritten while it is needed: name another folder")


def copy_data(
    data: Path,
    out: Path,
    sides: tuple[str, str],
    use_alignment: bool,
    max_length: int,
    use_hand: bool = False,
) -> str:
    """Copy what a run needs of a folder into another one, and write both sides of all parts in one file.

    Return a message: how many of the training pairs are kept, why the others are not, and what is not used.
    """
    layers = [f"{sides[0]}.{layer}" for layer in LAYERS]
    given = [layer for layer in layers if all((data / f"{part}.{layer}").exists() for part in PARTS)]
    suffixes = [*sides, *given, *(["align"] if use_alignment else [])]
    files.make_folder(str(out))
    for layer in set(layers).difference(given):  # of other data that were here
        for part in PARTS:
            (out / f"{part}.{layer}").unlink(missing_ok=True)
    whole: list[list[str]] = [[], []]
    for part in PARTS:
        rows = list(read_rows([str(data / f"{part}.{suffix}") for suffix in suffixes]))
        if part == "train":
            faults = [fault_of(row, max_length) for row in rows]
            rows = [row for row, fault in zip(rows, faults, strict=True) if fault is None]
        else:
            _check_filled(data, part, sides, rows)
        if not rows:
            raise DataError("no sentence pair is left", str(data / f"{part}.{sides[0]}"))
        columns = list(zip(*rows, strict=True))
        write_columns(out, part, suffixes, columns)
        for side, lines in zip(whole, columns, strict=False):
            side.extend(lines)
    write_columns(out, "all", sides, whole)
    if use_hand:
        suffixes = [*sides, "align"]
        paths = [str(data / f"{HAND}.{suffix}") for suffix in suffixes]
        write_columns(
            out, HAND, suffixes, files.read_columns(*((path, files.read_lines(path)) for path in paths))
        )
    there = [layer for layer in layers if any((data / f"{part}.{layer}").exists() for part in PARTS)]
    unused = (f"; .{layer} is not used, as a part has none" for layer in there if layer not in given)
    return _message(faults, max_length) + "".join(unused)


def write_columns(out: Path, part: str, suffixes: Sequence[str], columns: Iterable[Sequence[str]]) -> None:
    """Write the lines of each file of a part."""
    for suffix, lines in zip(suffixes, columns, strict=True):
        files.write_lines(str(out / f"{part}.{suffix}"), lines)


def read_rows(paths: Sequence[str], languages: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the lines of files side by side: source, which must not have positions already, target, others.

    ``languages``: those of plain text, which is split into tokens; none: it has tokens already.
    """
    lines = [files.read_lines(path) for path in paths]
    texts = map(tokenised, paths, languages, lines) if languages else map(token_lines, paths[:2], lines)
    rows = files.in_parallel(*zip(paths, [*texts, *lines[2:]], strict=True))
    for number, row in enumerate(rows, 1):
        if FEATURE_SEPARATOR in row[0]:
            list(files.parse_lines(paths[0], [row[0]], parse_source, number))
        yield row


def fault_of(row: Sequence[str], max_length: int = MAX_LENGTH) -> str | None:
    """Return why a pair, the first two lines of a row, is unfit for training; None: it is fit."""
    lengths = [len(parse_tokens(line)) for line in row[:2]]
    if min(lengths) == 0:
        return "with an empty side"
    if max(lengths) > max_length:
        return f"of more than {max_length} tokens"
    return f"over {MAX_RATIO} times as long on one side" if max(lengths) > MAX_RATIO * min(lengths) else None


def _check_filled(data: Path, part: str, sides: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(rows, 1):
        for side, line in zip(sides, row, strict=False):
            if not parse_tokens(line):
                reason = "an empty sentence, which cannot be scored"
                raise DataError(reason, str(data / f"{part}.{side}"), number)


def _message(faults: Sequence[str | None], max_length: int) -> str:
    counts = Counter(faults)
    kept = counts.pop(None, 0)
    rule = f"1 to {max_length} tokens a side, neither over {MAX_RATIO} times the other"
    message = f"{kept:,} of {len(faults):,} training pairs are kept: {rule}"
    if counts:
        message += f"; left out: {', '.join(f'{number:,} {fault}' for fault, number in counts.items())}"
    if 2 * kept < len(faults):
        message += "; are there spaces between the tokens?"
    return message


if __name__ == "__main__":
    sys.exit(main())
