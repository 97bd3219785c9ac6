"""What happens, told on standard error: lines by the logger ``preorder``, and progress bars.

The commands show the lines (:mod:`preorder.cli.messages`); in the Python API the program decides, as with any
logger. Bars are for terminals; elsewhere a line tells now and then how far the work is. Nothing of it is
shown once the logger's level is above ``INFO``, which is what ``--quiet`` sets.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")

LOGGER = logging.getLogger("preorder")

INTERVAL = 60.0
"""Seconds between two lines that say how far the work is."""


def is_quiet() -> bool:
    """Return whether only warnings and errors are wanted."""
    return LOGGER.level > logging.INFO


def announce(message: str) -> None:
    """Say what makes the user wait: in programs, too, that have not set up any logging."""
    if not is_quiet():
        LOGGER.warning(message)


def progress_bar(wanted: bool = True, **settings: Any) -> tqdm:
    """Return a bar with the settings of ``tqdm``, which is drawn on a terminal alone, and if it is wanted."""
    from tqdm import tqdm  # it takes a while to import

    return tqdm(**settings, disable=None if wanted and not is_quiet() else True)


def progress(
    items: Iterable[T],
    unit: str,
    total: int | None = None,
    done: str = "",
    size: Callable[[T], int] = lambda _: 1,
) -> Iterator[T]:
    """Yield items, and show how many have come: by a bar, or by a line every :data:`INTERVAL` seconds.

    Args:
        items: to be counted.
        unit: what they are, as ``sentences``.
        total: their number, where it is known.
        done: what is done with them, as ``tagged``, for the lines and the bar.
        size: for how many an item counts.
    """
    of_all = "" if total is None else f" of {total:,}"
    count, next_line = 0, time.monotonic() + INTERVAL
    with contextlib.ExitStack() as stack:
        bar = None
        if sys.stderr.isatty():
            bar = stack.enter_context(progress_bar(unit=f" {unit}", total=total, desc=done or None))
        for item in items:
            yield item
            count += size(item)
            if bar is not None:
                bar.update(size(item))
            elif time.monotonic() >= next_line:
                LOGGER.info(f"{count:,}{of_all} {unit} {done}".rstrip())
                next_line = time.monotonic() + INTERVAL
