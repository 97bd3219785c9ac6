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

LINES_ALONE = "lines alone"  # name of a handler beside which there are no bars
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


def progress_bar(**settings: Any) -> tqdm:
    """Return a bar with the settings of ``tqdm``, drawn where there are bars."""
    from tqdm import tqdm  # it takes a while to import

    return tqdm(**settings, disable=not has_bars())


def has_bars() -> bool:
    """Say whether there is a terminal, no other process of ours draws on it, and bars are wanted."""
    multiprocessing = sys.modules.get("multiprocessing")  # slow to import; a worker process has it
    is_worker = multiprocessing is not None and multiprocessing.parent_process() is not None
    has_lines_alone = any(handler.name == LINES_ALONE for handler in LOGGER.handlers)
    return sys.stderr.isatty() and not is_worker and not is_quiet() and not has_lines_alone


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


@contextlib.contextmanager
def shard_progress(shards: int, size: int) -> Iterator[Callable[..., None]]:
    """Give a function that counts lines, and shards of so many bytes, that are done.

    A bar or lines show shards, lines, lines a second, and the time left by the bytes of the input, ``size``.
    """
    begin, lock = time.monotonic(), threading.Lock()
    all_lines = done = done_size = 0

    def message() -> str:
        seconds = time.monotonic() - begin
        rate = all_lines / seconds if seconds else 0
        left = seconds * (size - done_size) / done_size if done_size else 0
        text = f"{done:,} of {shards:,} shards, {all_lines:,} lines, {rate:,.0f} a second"
        return f"{text}, {timedelta(seconds=round(left))} left" if left > 0 else text

    form = "{percentage:3.0f}% |{bar:20}| {desc}"
    with progress_bar(total=shards, bar_format=form, leave=False) if has_bars() else nullcontext() as bar:
        next_line = begin + (INTERVAL if bar is None else 0)

        def add(lines: int, more: int = 0, bytes_done: int = 0) -> None:
            nonlocal all_lines, done, done_size, next_line
            with lock:
                all_lines, done, done_size = all_lines + lines, done + more, done_size + bytes_done
                if time.monotonic() < next_line:
                    return
                if bar is None:
                    LOGGER.info(message())
                else:
                    bar.n = done
                    bar.set_description_str(message())
                next_line = time.monotonic() + (INTERVAL if bar is None else 1)

        yield add
    LOGGER.info(message())
