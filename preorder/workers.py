"""Work done ahead of its turn, whose results come in the order of the items.

Each worker process is started afresh (``spawn``), so that it inherits no library's threads or GPU, and ends
with the process that started it, even if that is killed. What it tells the logger ``preorder`` is told here.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from preorder.errors import UsageError
from preorder.processes import watch
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")
Result = TypeVar("Result")

MAX_AHEAD = 2  # items taken from the input for each worker, while an earlier item is worked on


def in_order(
    submit: Callable[[T], Future[Result]], items: Iterable[T], max_ahead: int
) -> Iterator[tuple[T, Result]]:
    """Yield each item with the result of its future, in the order of the items.

    Before the result of an item is waited for, ``max_ahead`` later ones are taken and submitted.
    """
    waiting: deque[tuple[T, Future[Result]]] = deque()
    for item in items:
        waiting.append((item, submit(item)))
        if len(waiting) > max_ahead:
            earlier, future = waiting.popleft()
            yield earlier, future.result()
    for item, future in waiting:
        yield item, future.result()


def in_processes(
    work: Callable[[T], Result],
    items: Iterable[T],
    workers: int,
    known: Callable[[T], Result | None] = lambda _: None,
) -> Iterator[tuple[T, Result]]:
    """Yield each item with ``work(item)``, in the order of the items.

    Holds at most ``MAX_AHEAD`` items for each worker, and their results. When the caller stops early, work
    that is not finished is given up at once.

    Args:
        work: a function that can be pickled, as the items and the results can.
        items: taken one after the other, in this process.
        workers: number of processes; 0: this one does the work, one item after the other.
        known: returns the result of an item that needs no work, or None, as it does by default.

    Raises:
        UsageError: a process died, perhaps for lack of memory.
    """
    if not workers:
        for item in items:
            result = known(item)
            yield item, work(item) if result is None else result
        return
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # slow to import
    from multiprocessing import get_context

    context = get_context("spawn")
    ended, end = context.Pipe(duplex=False)
    told, tell = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _begin, (ended, tell, LOGGER.getEffectiveLevel()))
    retelling = threading.Thread(target=_retell, args=(told,))
    retelling.start()

    def submit(item: T) -> Future[Result]:
        result = known(item)
        if result is None:
            return pool.submit(work, item)
        future: Future[Result] = Future()
        future.set_result(result)
        return future

    try:
        yield from in_order(submit, items, MAX_AHEAD * workers)
        pool.shutdown()  # once the workers have told all
    except BrokenProcessPool:
        raise UsageError(
            "a worker process died, for lack of memory perhaps: fewer processes need less"
        ) from None
    finally:
        end.close()
        pool.shutdown(cancel_futures=True)
        ended.close()
        tell.close()
        retelling.join()
        told.close()


def _begin(starter: Connection, told: Connection, level: int) -> None:
    """Begin a worker.

    Args:
        starter: once the other end of this pipe is closed, the worker ends; on Ctrl-C it ends, too.
        told: the pipe that gets what the worker tells its logger.
        level: of the logger.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    watch(os.dup(starter.fileno()), lambda: os._exit(0))
    LOGGER.addHandler(_Teller(told))
    LOGGER.setLevel(level)
    LOGGER.propagate = False


class _Teller(logging.Handler):
    """Writes each message into a pipe, as one line: its level, whether it is to be told once, its text.

    Several processes write into the pipe, without a lock that one of them could take with it when it is
    killed: so a line has at most as many bytes as the system never mixes with those of others.
    """

    def __init__(self, told: Connection) -> None:
        super().__init__()
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        text = " ".join(record.getMessage().splitlines())
        line = f"{record.levelno} {int(hasattr(record, 'once'))} {text}".encode()
        with contextlib.suppress(OSError):  # that nobody can read it is no reason to stop
            os.write(self._told.fileno(), line[: select.PIPE_BUF - 1] + b"\n")


def _retell(told: Connection) -> None:
    """Tell the logger what workers have written, until the last of them has ended."""
    known = set()
    with open(told.fileno(), "rb", closefd=False) as lines:
        for line in lines:
            level, once, text = line.decode(errors="replace").rstrip("\n").split(" ", 2)
            if once == "0" or text not in known:
                LOGGER.log(int(level), text)
            if once == "1":
                known.add(text)
