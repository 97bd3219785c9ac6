"""Messages by the logger ``preorder``, and progress: a bar on a terminal, elsewhere a line now and then.

Only the process that the user has started has bars. Nothing is shown once the logger's level is above
``INFO``, which is what ``--quiet`` sets.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")

LOGGER = logging.getLogger("preorder")

_NO_BARS: list[bool] = []  # one for each block that is without

INTERVAL = 60.0  # seconds between two lines that say how far the work is


def is_quiet() -> bool:
    """Return whether only warnings and errors are wanted."""
    return LOGGER.level > logging.INFO


def announce(message: str) -> None:
    """Say what makes the user wait: in programs, too, that have not set up any logging."""
    if not is_quiet():
        LOGGER.warning(message, extra={"once": message})  # of several workers, too


@contextlib.contextmanager
def named(name: str) -> Iterator[None]:
    """Prefix the messages logged in this block with a name; announcements stay."""

    def add_name(record: logging.LogRecord) -> bool:
        if not hasattr(record, "once"):
            record.msg, record.args = f"{name}: {record.getMessage()}", None
        return True

    LOGGER.addFilter(add_name)
    try:
        yield
    finally:
        LOGGER.removeFilter(add_name)


def progress_bar(wanted: bool = True, **settings: Any) -> tqdm:
    """Return a bar with the settings of ``tqdm``, drawn where there are bars, if it is wanted."""
    from tqdm import tqdm  # it takes a while to import

    return tqdm(**settings, disable=not (wanted and has_bars()))


def has_bars() -> bool:
    """Say whether there is a terminal, no other process of ours draws on it, and bars are wanted."""
    multiprocessing = sys.modules.get("multiprocessing")  # slow to import; a worker process has it
    is_worker = multiprocessing is not None and multiprocessing.parent_process() is not None
    return sys.stderr.isatty() and not is_worker and not is_quiet() and not _NO_BARS


@contextlib.contextmanager
def without_bars() -> Iterator[None]:
    """Show progress by lines in this block, even on a terminal."""
    _NO_BARS.append(True)
    try:
        yield
    finally:
        _NO_BARS.pop()


@contextlib.contextmanager
def counting(unit: str, total: int | None = None, done: str = "") -> Iterator[Callable[[int], None]]:
    """Give a function that adds a number of items done; show them as :func:`progress` does."""
    if has_bars():
        with progress_bar(unit=f" {unit}", total=total, desc=done or None) as bar:
            yield bar.update
        return
    of_all = "" if total is None else f" of {total:,}"
    count, next_line = 0, time.monotonic() + INTERVAL

    def add(more: int) -> None:
        nonlocal count, next_line
        count += more
        if time.monotonic() >= next_line:
            LOGGER.info(f"{count:,}{of_all} {unit} {done}".rstrip())
            next_line = time.monotonic() + INTERVAL

    yield add


def progress(items: Iterable[T], unit: str, total: int | None = None, done: str = "") -> Iterator[T]:
    """Yield items, and show how many have come, as ``500 of 2,000 sentences tagged`` (unit, done)."""
    with counting(unit, total, done) as add:
        for item in items:
            yield item
            add(1)


class ShardProgress:
    """How far many shards are: shards, lines, lines a second, and the time left by the bytes of the input."""

    def __init__(self, shards: int, size: int, bar: tqdm | None) -> None:
        self._shards, self._size, self._bar = shards, size, bar
        self._done = self._done_size = self._lines = 0
        self._start = time.monotonic()
        self._next_line = self._start + (INTERVAL if bar is None else 0)
        self._lock = threading.Lock()

    def add(self, lines: int, shards: int = 0, size: int = 0) -> None:
        """Count lines, and shards of so many bytes, that are done."""
        with self._lock:
            self._lines += lines
            self._done += shards
            self._done_size += size
            if time.monotonic() < self._next_line:
                return
            if self._bar is None:
                LOGGER.info(self.message())
                self._next_line = time.monotonic() + INTERVAL
            else:
                self._bar.n = self._done
                self._bar.set_description_str(self.message())
                self._next_line = time.monotonic() + 1

    def message(self) -> str:
        """Return a line that says how far the work is."""
        seconds = time.monotonic() - self._start
        rate = self._lines / seconds if seconds else 0
        text = f"{self._done:,} of {self._shards:,} shards, {self._lines:,} lines, {rate:,.0f} a second"
        if 0 < self._done_size < self._size:
            left = seconds * (self._size - self._done_size) / self._done_size
            text += f", {timedelta(seconds=round(left))} left"
        return text


@contextlib.contextmanager
def shard_progress(shards: int, size: int) -> Iterator[ShardProgress]:
    """Give a :class:`ShardProgress`, on a bar or by lines; its last line comes at the end of the block."""
    form = "{percentage:3.0f}% |{bar:20}| {desc}"
    with progress_bar(total=shards, bar_format=form, leave=False) if has_bars() else nullcontext() as bar:
        shown = ShardProgress(shards, size, bar)
        yield shown
    LOGGER.info(shown.message())
