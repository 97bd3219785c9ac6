"""What the commands say on standard error while they run: ``--quiet``, ``--verbose``."""

from __future__ import annotations

import argparse
import contextlib
import logging
import resource
import sys
import time
from collections.abc import Iterator

from preorder.cli.paths import output_paths
from preorder.cli.table import visible
from preorder.io.atomic import is_special
from preorder.io.files import STANDARD
from preorder.progress import LOGGER


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Add ``-q/--quiet`` and ``-v/--verbose``."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-q", "--quiet", action="store_true", help="say nothing but warnings and errors")
    text = "say more, and after how many seconds each line was said"
    group.add_argument("-v", "--verbose", action="store_true", help=text)


@contextlib.contextmanager
def shown(arguments: argparse.Namespace) -> Iterator[None]:
    """Show on standard error what a command says in the block, as much of it as its options ask for."""
    start = time.monotonic()
    verbose = getattr(arguments, "verbose", False)
    handler = _Lines(start if verbose else None)
    before = LOGGER.level, LOGGER.propagate
    LOGGER.setLevel(_level(arguments))
    LOGGER.addHandler(handler)
    LOGGER.propagate = False  # OpenNMT-py shows all lines that reach the root
    try:
        yield
        LOGGER.debug(f"done, with at most {peak_memory() / 2**20:,.0f} MiB of memory")
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before[0])
        LOGGER.propagate = before[1]


def say_what_is_saved(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Name the files that a command has written."""
    for path in output_paths(parser, arguments):
        if path != STANDARD and not is_special(path):
            LOGGER.info(f"saved in {path}")


class _Lines(logging.Handler):
    """Writes each message as a line, above the progress bars; with the seconds since a start, if given."""

    def __init__(self, start: float | None) -> None:
        super().__init__()
        self._start = start

    def emit(self, record: logging.LogRecord) -> None:
        line = visible(record.getMessage())
        if self._start is not None:
            line = f"[{time.monotonic() - self._start:6.1f} s] {line}"
        with contextlib.suppress(OSError):  # that nobody can read it is no reason to stop
            if bars := sys.modules.get("tqdm"):
                bars.tqdm.write(line, file=sys.stderr)
            else:  # there is no bar: it need not be imported
                print(line, file=sys.stderr)


def _level(arguments: argparse.Namespace) -> int:
    if getattr(arguments, "quiet", False):
        return logging.WARNING
    return logging.DEBUG if getattr(arguments, "verbose", False) else logging.INFO


def peak_memory() -> int:
    """Return the most memory that this process has had, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
