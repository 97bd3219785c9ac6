"""Files read in blocks of whole lines, several files side by side, as bytes.

For code that takes many lines at a time. What is said of a file that cannot be read, is damaged or ends too
early is what :mod:`preorder.io.files` says, after the lines before it have been given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import BinaryIO, NamedTuple

from preorder.io.compression import split_suffix
from preorder.io.files import ended_early, opened, reading_error

SIZE = 1 << 17
"""Bytes of the first file that a block has, about."""


class Block(NamedTuple):
    """Lines that belong together.

    Attributes:
        first: number of the first, from 1.
        lines: how many.
        texts: of each file, its lines, each with its line end.
    """

    first: int
    lines: int
    texts: tuple[bytes, ...]


def read_blocks(paths: Sequence[str], size: int = SIZE) -> Iterator[Block]:
    """Yield the lines of several files side by side, in blocks of about ``size`` bytes of the first.

    Raises:
        DataError: a file cannot be read, or ends before another.
    """
    with ExitStack() as stack:
        files = [_Lines(path, stack) for path in paths]
        first = 1
        while True:
            files[0].fill(size)
            wanted = files[0].waiting
            for other in files[1:]:
                other.fill_lines(max(wanted, 1))
            lines = min(wanted, *(file.waiting for file in files))
            if lines:
                yield Block(first, lines, tuple(file.take(lines) for file in files))
                first += lines
            if lines == wanted and files[0].goes_on:
                continue
            _check_ends(files, first)
            return


def _check_ends(files: Sequence[_Lines], number: int) -> None:
    """Check that all files end before a line, and that they could be read up to there."""
    for file in files:
        file.fill_lines(1)
        if not file.waiting and file.error is not None:
            raise reading_error(file.path, file.error, number)
    ended = [file.path for file in files if not file.waiting]
    longer = [file.path for file in files if file.waiting]
    if ended and longer:
        raise ended_early(ended[0], longer[0], number)


class _Lines:
    """A file whose lines wait to be taken, many at once."""

    def __init__(self, path: str, stack: ExitStack) -> None:
        self.path = path
        self.error: Exception | None = None
        self.waiting = 0
        self.goes_on = True
        self._stream: BinaryIO = stack.enter_context(opened(path))
        # Of compressed files as little at once as reading by lines takes: damage is found at the same line.
        self._piece = -1 if split_suffix(path)[1] else SIZE
        self._parts: list[bytes] = []
        self._size = 0

    def fill(self, size: int) -> None:
        """Read until so many bytes, and a line at least, wait; or to the end."""
        while self.goes_on and (self._size < size or not self.waiting):
            self._read()

    def fill_lines(self, lines: int) -> None:
        """Read until so many lines wait, or to the end."""
        while self.goes_on and self.waiting < lines:
            self._read()

    def _read(self) -> None:
        try:
            part = self._stream.read1(self._piece)
        except Exception as error:
            self.goes_on, self.error = False, error
            return
        if not part:
            self.goes_on = False
            if not self._parts or not self._parts[-1] or self._parts[-1].endswith(b"\n"):
                return
            part = b"\n"
        self._parts.append(part)
        self._size += len(part)
        self.waiting += part.count(b"\n")

    def take(self, lines: int) -> bytes:
        """Return so many of the lines that wait."""
        data = b"".join(self._parts)
        if lines == self.waiting:
            end = data.rfind(b"\n") + 1
        else:
            end = len(data) - len(data.split(b"\n", lines)[-1])
        self._parts = [data[end:]]
        self._size = len(data) - end
        self.waiting -= lines
        return data[:end]
