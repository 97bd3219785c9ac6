"""Work divided among processes that share nothing, its results in the order of what was asked.

Each process is started afresh (``spawn``), so that no library's threads or GPU are inherited, and ends with
the process that started it, however that ends.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread
from typing import TypeVar

from preorder.data.errors import UsageError

T = TypeVar("T")
Result = TypeVar("Result")

AHEAD = 2  # items a worker that are taken from the input before their turn


def in_order(
    work: Callable[[T], Result], items: Iterable[T], workers: int, known: Callable[[T], Result | None]
) -> Iterator[tuple[T, Result]]:
    """Yield each item with ``work(item)``, in the items' order, whichever process is done first.

    Holds at most ``AHEAD`` items a worker and their results. When the caller stops early, what is still
    being worked on is given up at once.

    Args:
        work: a function that can be pickled; so must be the items and results.
        items: taken one after the other, in this process.
        workers: how many processes; 0: this one, nothing ahead of its turn.
        known: the result of an item for which no work is needed, or None.

    Raises:
        UsageError: a process died, for lack of memory perhaps.
    """
    if not workers:
        for item in items:
            result = known(item)
            yield item, work(item) if result is None else result
        return
    context = get_context("spawn")
    ended, end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _end_with, (ended,))

    def start(item: T) -> Future[Result]:
        result = known(item)
        if result is None:
            return pool.submit(work, item)
        future: Future[Result] = Future()
        future.set_result(result)
        return future

    try:
        waiting: deque[tuple[T, Future[Result]]] = deque()
        for item in items:
            waiting.append((item, start(item)))
            if len(waiting) > AHEAD * workers:
                earlier, future = waiting.popleft()
                yield earlier, future.result()
        for item, future in waiting:
            yield item, future.result()
    except BrokenProcessPool:
        raise UsageError(
            "a worker process died, for lack of memory perhaps: fewer workers need less"
        ) from None
    finally:
        end.close()
        pool.shutdown(cancel_futures=True)
        ended.close()


def _end_with(starter: Connection) -> None:
    """Let this process end as soon as the other end of a pipe is closed, and quietly on Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    def watch() -> None:
        starter.poll(None)
        os._exit(0)

    Thread(target=watch, daemon=True).start()
