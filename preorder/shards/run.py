"""Shards done one by one or several at once: what fails is named at the end, and the others are done.

A shard is a pure job, from its inputs to its output, so that any engine can run it: threads and processes
here, or other machines.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from preorder.errors import DataError, PreorderError
from preorder.io import storage
from preorder.processes import in_order, in_processes
from preorder.progress import LOGGER, shard_progress
from preorder.shards.plan import Shard

Tick = Callable[[int], None]  # counts lines that are done
Work = Callable[[Shard, Tick], None]  # does a shard: all of its output is there afterwards, or none


class Report(NamedTuple):
    """What came of a shard: its lines, where they are not counted yet, and what is wrong with its input."""

    lines: int
    failure: DataError | None


Engine = Callable[[Work, Iterable[Shard], Tick], Iterator[tuple[Shard, Report]]]
"""Runs shards, and yields each with its report as they are done."""


class ShardsError(PreorderError):
    """Some shards failed; the log says which."""


def run_shards(shards: Sequence[Shard], work: Work, engine: Engine, is_done: Callable[[Shard], bool]) -> None:
    """Do the shards that are not done; a ShardsError at the end says that the input of some is bad."""
    to_do = [shard for shard in shards if not is_done(shard)]
    if len(to_do) < len(shards):
        LOGGER.info(f"{len(shards) - len(to_do):,} of {len(shards):,} shards are there already")
    if not to_do:
        return
    failures: dict[str, DataError] = {}
    try:
        known = storage.sizes(shard.source for shard in to_do)
    except DataError:  # a storage that serves files without listing them
        known = {}
    sizes = {shard.output: known.get(shard.source, 0) for shard in to_do}
    with shard_progress(len(to_do), sum(sizes.values())) as progress:
        for shard, report in engine(work, to_do, progress):
            progress(report.lines, 1, sizes[shard.output])
            if report.failure is not None:
                failures[shard.output] = report.failure
                LOGGER.warning(f"left out: {report.failure}")
    for output in filter(failures.__contains__, sizes):  # in the order of the shards, not as they came
        LOGGER.error(str(failures[output]))
    if failures:
        raise ShardsError(f"{len(failures):,} of {len(shards):,} shards failed; the others are there")


def in_threads(
    workers: int, work: Work, shards: Iterable[Shard], tick: Tick
) -> Iterator[tuple[Shard, Report]]:
    """Run so many shards at once in this process: an engine, once it has ``workers``."""
    stopped = threading.Event()

    def tick_or_stop(lines: int) -> None:
        if stopped.is_set():
            raise _Stopped
        tick(lines)

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from in_order(partial(pool.submit, _report, work, tick_or_stop), shards, workers)
        finally:
            stopped.set()


class _Stopped(Exception):
    pass


def in_worker_processes(
    workers: int, work: Work, shards: Iterable[Shard], tick: Tick
) -> Iterator[tuple[Shard, Report]]:
    """Run each shard in one of so many processes, or in this one if there are none."""
    if workers:
        yield from in_processes(partial(done_alone, work), shards, workers)
    else:
        yield from ((shard, _report(work, tick, shard)) for shard in shards)


def done_alone(work: Work, shard: Shard) -> Report:
    """Do a shard where lines can be counted only at its end."""
    lines: list[int] = []
    return _report(work, lines.append, shard)._replace(lines=sum(lines))


def _report(work: Work, tick: Tick, shard: Shard) -> Report:
    """Do a shard; an error about one of its inputs becomes part of the report."""
    try:
        work(shard, tick)
    except DataError as error:
        if error.file not in shard.inputs.values():
            raise
        return Report(0, error)
    return Report(0, None)
