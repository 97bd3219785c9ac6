"""What happens, told on standard error: lines by the logger ``preorder``, and progress bars.

The commands show the lines (:mod:`preorder.cli.messages`); in the Python API the program decides, as with any
logger. Bars are for terminals; elsewhere a line tells now and then how far the work is. Nothing of it is
shown once the logger's level is above ``INFO``, which is what ``--quiet`` sets.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

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
    return tqdm(**settings, disable=None if wanted and not is_quiet() else True)


def progress(items: Iterable[T], unit: str, total: int | None = None, done: str = "") -> Iterator[T]:
    """Yield items, and show how many have come: by a bar, or by a line every :data:`INTERVAL` seconds.

    Args:
        items: to be counted.
        unit: what they are, as ``sentences``.
        total: their number, where it is known.
        done: what is done with them, as ``tagged``, for the lines and the bar.
    """
    with progress_bar(iterable=items, unit=f" {unit}", total=total, desc=done or None) as bar:
        if not bar.disable:
            yield from bar
            return
        of_all = "" if total is None else f" of {total:,}"
        next_line = time.monotonic() + INTERVAL
        for count, item in enumerate(items, 1):
            yield item
            if time.monotonic() >= next_line:
                LOGGER.info(f"{count:,}{of_all} {unit} {done}".rstrip())
                next_line = time.monotonic() + INTERVAL
