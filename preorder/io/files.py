"""Text files: read line by line, several side by side, and written whole or not at all.

A path of ``-`` is standard input or output, and one like ``s3://…`` a URL; a file whose name ends in
``.gz``, ``.bz2``, ``.xz`` or ``.zst`` is compressed. Lines end at ``\\n`` alone (a ``\\r`` before it is
dropped): other Unicode line breaks are part of a line, so that files that belong together stay in step.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO, TypeVar

from preorder.errors import DataError, errors_in, one_line
from preorder.io import storage
from preorder.io.atomic import FULL, atomic_file, descriptor, is_special, reported
from preorder.io.storage import CODECS, compressed, open_bytes, split_suffix
from preorder.progress import counted

T = TypeVar("T")

STANDARD = "-"
BYTE_ORDER_MARK = "\ufeff"

_ENCODINGS = (  # how files begin that are no UTF-8 text, and what the message says
    (re.compile(rb"\xff\xfe|\xfe\xff|(.\0){2}|(\0.){2}"), "UTF-16: convert it, iconv -f UTF-16 -t UTF-8"),
    (
        re.compile(rb"\x1f\x8b|BZh[1-9]1AY&SY|\xfd7zXZ\0|\x28\xb5\x2f\xfd"),
        "compressed: its name must end in .gz, .bz2, .xz or .zst",
    ),
    (re.compile(rb"[^\n]*\r[^\n]+\r[^\n]*\n?$"), "lines end in CR alone: convert it, tr '\\r' '\\n'"),
)

MAX_LINE = 1 << 24  # bytes of a line: a small compressed file may hold one of any size
BLOCK_SIZE = 1 << 17  # approximate bytes of the first file in a Block


def display_name(path: str) -> str:
    """Return the name of a file in messages."""
    return "<stdin>" if path == STANDARD else one_line(str(path)) or "''"


def read_lines(path: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, without line ends and without a byte order mark."""
    with opened(path) as stream:
        number = 1
        try:
            for line in _raw_lines(stream):
                yield decoded(line, path, number)
                number += 1
        except Exception as error:
            raise _reading_error(path, error, number) from None


def _raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    while line := stream.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise DataError(f"a line of more than {MAX_LINE >> 20} MiB")
        yield line


def decoded(line: bytes, path: str, number: int) -> str:
    """Decode line ``number`` of a file, from 1, without its line end; check the first line for encodings."""
    if number == 1 and (known := next((what for looks, what in _ENCODINGS if looks.match(line)), None)):
        raise DataError(known, display_name(path), number)
    try:
        text = without_line_end(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        reason = f"not valid UTF-8 (byte {error.start + 1} of the line)"
        raise DataError(reason, display_name(path), number) from None
    return text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text


def decoded_lines(text: bytes, path: str, first: int = 1) -> Iterator[str]:
    """Yield the :func:`decoded` lines of a part of a file whose first line has the number ``first``."""
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n") if text else (), first):
        yield decoded(line, path, number)


def without_line_end(line: str) -> str:
    """Return a line without its end, ``\\n`` or ``\\r\\n``, if it has one."""
    return line.removesuffix("\n").removesuffix("\r")


def _reading_error(path: str, error: Exception, number: int) -> Exception:
    if isinstance(error, DataError):
        return error.at(display_name(path), number)
    _, suffix = split_suffix(path)
    if isinstance(error, OSError) and error.errno is not None:
        return DataError(f"cannot be read: {error.strerror}", display_name(path), number)
    if not suffix or isinstance(error, MemoryError):
        return error
    return DataError(f"damaged {CODECS[suffix].name} data: {error}", display_name(path), number)


def opened(path: str) -> BinaryIO:
    """Open a path or URL for reading; compressed files are decompressed."""
    if path == STANDARD:
        return contextlib.nullcontext(sys.stdin.buffer)  # type: ignore[return-value]
    try:
        return open_bytes(path)
    except (OSError, ValueError) as error:  # a ValueError: there is a NUL in the path
        reason = getattr(error, "strerror", error)
        raise DataError(f"cannot be read: {reason}", display_name(path)) from None


def read_parsed(path: str, parse: Callable[[str], T]) -> Iterator[T]:
    """Parse each line of a file; data errors get the file name and the line number."""
    return parse_lines(path, read_lines(path), parse)


def parse_lines(path: str, lines: Iterable[str], parse: Callable[[str], T], first: int = 1) -> Iterator[T]:
    """Parse lines of a file as :func:`read_parsed` does; the first has the number ``first``."""
    for number, line in enumerate(lines, first):
        try:
            yield parse(line)
        except DataError as error:
            raise error.at(display_name(path), number) from None


def first_filled(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    """Return the first line that is not blank, or ``""``, and an iterator over all lines."""
    start = []
    for line in lines:
        start.append(line)
        if line.strip():
            return line, chain(start, lines)
    return "", iter(start)


def read_bytes(path: str) -> bytes:
    """Return the content of a file."""
    with opened(path) as stream:
        try:
            return stream.read()
        except Exception as error:
            raise _reading_error(path, error, 1) from None


def read_json(path: str) -> Any:
    """Read a JSON file."""
    with errors_in(display_name(path)):
        return parse_json("\n".join(read_lines(path)))


def parse_json(text: str) -> Any:
    """Parse JSON."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode(errors="surrogateescape")  # as names of files are
        return value
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON: {error.msg}", None, error.lineno) from None
    except (RecursionError, ValueError):
        reason = "nested too deeply, or has a number of too many digits, or half of a surrogate pair"
        raise DataError(f"JSON that is {reason}") from None


def in_parallel(*streams: tuple[str, Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield tuples with one item of each file, given (path, items) of each; all must have equally many."""
    end = object()
    for number, items in enumerate(zip_longest(*(items for _, items in streams), fillvalue=end), 1):
        ended = [path for (path, _), item in zip(streams, items, strict=True) if item is end]
        if ended:
            longer = next(path for (path, _), item in zip(streams, items, strict=True) if item is not end)
            raise ended_early(ended[0], longer, number)
        yield items


def ended_early(path: str, longer: str, number: int) -> DataError:
    """Return the error that a file has no line ``number``, while another file has one."""
    reason = f"the file ends after {counted(number - 1, 'line')}, {display_name(longer)} goes on"
    return DataError(reason, display_name(path), number)


def map_parallel(
    function: Callable[..., T], blamed: str, *streams: tuple[str, Iterable[Any]], first: int = 1
) -> Iterator[T]:
    """Apply a function to the items of several files side by side; its errors name the file ``blamed``."""
    for number, items in enumerate(in_parallel(*streams), first):
        with errors_in(display_name(blamed), number):
            yield function(*items)


def not_empty(path: str, items: Iterable[T]) -> list[T]:
    """Return the items of a file as a list; raise a DataError if there are none."""
    items = list(items)
    if not items:
        raise DataError("the file is empty", display_name(path))
    return items


def read_columns(*streams: tuple[str, Iterable[Any]]) -> list[list[Any]]:
    """Return the items of several files, given as to :func:`in_parallel`: a list for each file."""
    return list(map(list, zip(*not_empty(streams[0][0], in_parallel(*streams)), strict=True)))


class Block(NamedTuple):
    """Lines of several files side by side: the number of the first, from 1, their count, each file's text."""

    first: int
    lines: int
    texts: tuple[bytes, ...]


def read_blocks(paths: Sequence[str], size: int = BLOCK_SIZE) -> Iterator[Block]:
    """Yield blocks of the lines of several files, of about ``size`` bytes of the first file."""
    with contextlib.ExitStack() as stack:
        streams = [_raw_lines(stack.enter_context(opened(path))) for path in paths]
        first = lines = 1
        while lines:
            columns: list[list[bytes]] = []
            errors: list[Exception | None] = []
            for stream in streams:
                found: list[bytes] = []
                error = None
                try:  # lines before an error are kept
                    found.extend(islice(stream, len(columns[0]) or 1) if columns else _some(stream, size))
                except Exception as raised:
                    error = raised
                if found and not found[-1].endswith(b"\n"):
                    found[-1] += b"\n"
                columns.append(found)
                errors.append(error)
            lines = min(map(len, columns))
            if lines:
                yield Block(first, lines, tuple(b"".join(found[:lines]) for found in columns))
            first += lines
            for path, found, error in zip(paths, columns, errors, strict=True):
                if error is not None and len(found) == lines:
                    raise _reading_error(path, error, first)
            ended = [path for path, found in zip(paths, columns, strict=True) if len(found) == lines]
            longer = [path for path in paths if path not in ended]
            if longer:
                raise ended_early(ended[0], longer[0], first)


def _some(stream: Iterator[bytes], size: int) -> Iterator[bytes]:
    for line in stream:
        yield line
        size -= len(line)
        if size <= 0:
            break


@contextlib.contextmanager
def writer(path: str) -> Iterator[TextIO]:
    """Open a text file that appears, or replaces another, if the block succeeds.

    Standard output, devices and pipes are written directly.
    """
    if path == STANDARD:
        yield sys.stdout
        sys.stdout.flush()
        return
    place = contextlib.nullcontext(Path(path)) if is_special(path) else atomic_file(path)
    with place as opened, reported(path, FULL):
        with reported(path):
            number = descriptor(path)  # opened by its path, it would be emptied
            binary = opened.open("wb") if number is None else os.fdopen(os.dup(number), "wb")
        with (
            binary,
            compressed(binary, path) as stream,
            io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as lines,
        ):
            yield lines


def write_lines(path: str, lines: Iterable[str]) -> None:
    """Write lines, as :func:`writer` does."""
    write_texts(path, (f"{line}\n" for line in lines))


def write_texts(path: str, texts: Iterable[str], flush: bool = False) -> None:
    """Write texts as :func:`writer` does; ``flush`` writes each one at once."""
    with writer(path) as stream:
        for text in texts:
            stream.write(text)
            if flush:
                stream.flush()


def write_bytes(path: str, data: bytes) -> None:
    """Write bytes atomically."""
    with atomic_file(path) as temporary:
        temporary.write_bytes(data)


def write_json(path: str, value: Any) -> None:
    """Write a value as indented JSON, atomically."""
    write_lines(path, [json.dumps(value, ensure_ascii=False, indent=2)])


def make_folder(path: str) -> None:
    """Make a folder and its parents, unless it exists."""
    with reported(path):
        storage.make_folder(path)


def batched(items: Iterable[T], size: int, weight: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """Yield lists of successive items, as short as possible with a total weight of ``size`` or more."""
    batch: list[T] = []
    total = 0
    for item in items:
        batch.append(item)
        total += weight(item)
        if total >= size:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
