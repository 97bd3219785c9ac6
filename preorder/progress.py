"""Messages by the logger ``preorder``, and progress: a bar on a terminal, elsewhere a line now and then.

Only the process that the user has started has bars. Nothing is shown once the logger's level is above
``INFO``, which is what ``--quiet`` sets.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

LOGGER = logging.getLogger("preorder")

LINES_ALONE = "lines alone"  # name of a handler beside which there are no bars
INTERVAL = 60.0  # seconds between two lines that say how far the work is

_display: Progress | None = None  # the only bar that is drawn


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 line``, ``2,000 lines``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def is_quiet() -> bool:
    """Return whether only warnings and errors are wanted."""
    return LOGGER.level > logging.INFO


def announce(message: str) -> None:
    """Log why the user waits, also in programs that have not set up logging."""
    if not is_quiet():
        LOGGER.warning(message, extra={"once": message})  # for all workers together


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


@contextlib.contextmanager
def progress_bar(
    unit: str, total: int | None = None, done: int = 0, text: str = ""
) -> Iterator[Callable[..., None]]:
    """Give a function that adds a number of items, and puts a second argument, a text, before the bar.

    The bar begins with ``done`` items, and is drawn where there are bars.
    """
    global _display
    if not has_bars():
        yield lambda *_: None
        return
    from rich.console import Console  # it takes a while to import
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    of_all = "" if total is None else f" of {total:,}"
    counted = TextColumn("{task.completed:,.0f}" + f"{of_all} {unit}")
    columns = TextColumn("{task.description}", markup=False), BarColumn(20), TaskProgressColumn(), counted
    settings: dict[str, Any] = {"redirect_stdout": False, "redirect_stderr": False}
    _display = bar = Progress(*columns, TimeRemainingColumn(), console=Console(file=sys.stderr), **settings)
    try:
        with _display:
            task = _display.add_task(text, total=total, completed=done)
            yield lambda count, text=None: bar.update(task, advance=count, description=text)
    finally:
        _display = None


def show_line(line: str) -> None:
    """Write a line on standard error, above the bar if there is one."""
    if _display is None:
        print(line, file=sys.stderr)
    else:
        _display.console.print(line, markup=False, highlight=False, soft_wrap=True)


def has_bars() -> bool:
    """Return whether there is a terminal without another bar of ours, and bars are wanted."""
    multiprocessing = sys.modules.get("multiprocessing")  # slow to import; a worker process has it
    is_worker = multiprocessing is not None and multiprocessing.parent_process() is not None
    has_lines_alone = any(handler.name == LINES_ALONE for handler in LOGGER.handlers)
    return (
        sys.stderr.isatty() and _display is None and not is_worker and not is_quiet() and not has_lines_alone
    )


@contextlib.contextmanager
def counting(unit: str, total: int | None = None, done: str = "") -> Iterator[Callable[[int], None]]:
    """Give a function that counts items; show the count as :func:`progress` does."""
    if has_bars():
        with progress_bar(unit, total, text=done) as add_to_bar:
            yield add_to_bar
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
    """Yield items, and show their count: ``500 of 2,000 sentences tagged`` (unit, done)."""
    with counting(unit, total, done) as add:
        for item in items:
            yield item
            add(1)
