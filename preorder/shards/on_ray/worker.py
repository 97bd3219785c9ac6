"""What runs on the machines of a cluster: a process that has its work once, and does shard after shard."""

from __future__ import annotations

import logging
import os
import pickle
import platform
from collections.abc import Callable
from typing import Any, NamedTuple

from preorder.errors import PreorderError, UsageError
from preorder.progress import LOGGER
from preorder.shards.plan import Shard
from preorder.shards.run import Report, Work, done_alone

Facts = Callable[[], dict[str, Any]]
"""Returns what has to be the same on all machines, by name; it can be pickled."""


class Said(NamedTuple):
    """A message of a worker: its level, its text, and, where it is to be said once in all, of what kind."""

    level: int
    text: str
    once: str | None


class Outcome(NamedTuple):
    """What came of a shard.

    Attributes:
        report: or None, if there was an error that ends the run.
        error: that, or None.
        said: warnings.
    """

    report: Report | None
    error: Exception | None
    said: tuple[Said, ...]


def packed(work: Work, facts: Facts) -> bytes:
    """Return what :meth:`Worker.begin` needs; it is read by processes of ours alone."""
    return pickle.dumps((os.getcwd(), LOGGER.level, work, facts, facts()))


class Worker:
    """Does shards, one after another."""

    def begin(self, package: bytes) -> str | None:
        """Take the work; return what hinders it on this machine, or None."""
        try:
            folder, level, self._work, facts, expected = pickle.loads(package)
            os.chdir(folder)
            found = facts()
        except (PreorderError, OSError, ImportError) as error:
            return f"{platform.node()}: {error}; a worker needs the files and programs that this command has"
        self._said = _Kept()
        LOGGER.addHandler(self._said)
        LOGGER.setLevel(level)
        LOGGER.propagate = False
        changed = [name for name in expected if found.get(name) != expected[name]]
        return f"{platform.node()} has another {' and another '.join(changed)} than here" if changed else None

    def do(self, shard: Shard) -> Outcome:
        """Do a shard."""
        report, raised = None, None
        try:
            report = done_alone(self._work, shard)
        except PreorderError as error:  # some cannot be pickled
            raised = UsageError(str(error))
        except (OSError, MemoryError) as error:
            raised = error
        return Outcome(report, raised, self._said.taken())


class _Kept(logging.Handler):
    """Keeps warnings until they are taken."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: list[Said] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._said.append(Said(record.levelno, record.getMessage(), getattr(record, "once", None)))

    def taken(self) -> tuple[Said, ...]:
        said, self._said = tuple(self._said), []
        return said
