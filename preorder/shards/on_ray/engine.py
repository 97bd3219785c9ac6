"""Shards done by workers on a Ray cluster: an engine for :func:`preorder.shards.run.run_shards`.

A worker is an actor that Ray does not start again. What it had to do when it died is done by others, and
another is asked for as soon as there is room: so machines that come later get workers, too.
"""

from __future__ import annotations

import os
import queue
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from preorder.errors import DataError, UsageError
from preorder.io.atomic import remove_left, temporary_name
from preorder.progress import LOGGER
from preorder.shards.on_ray.connection import connected, last_line
from preorder.shards.on_ray.options import RayOptions
from preorder.shards.on_ray.room import describe, fitting, room_for
from preorder.shards.on_ray.worker import Facts, Outcome, Worker, packed
from preorder.shards.plan import Shard
from preorder.shards.run import Report, Tick, Work

LOOK = 1.0
"""Seconds between two looks at what the cluster has room for."""


def on_ray(
    options: RayOptions, facts: Facts, work: Work, shards: Iterable[Shard], _: Tick
) -> Iterator[tuple[Shard, Report]]:
    """Run shards on a cluster, as many at once as it has room for, and yield them as they are done.

    Args:
        options: how.
        facts: what must be the same on all machines.
        work: can be pickled; each worker gets it once.
        shards: are done in any order; how many lines one has comes with its report.

    Raises:
        MissingExtraError: Ray is not installed.
        UsageError: there is no such cluster, or no room on it, or its machines differ.
        PreorderError, OSError: what a shard raises that is not the fault of its input.
    """
    package = packed(work, facts)
    with connected(options.address, len(package)) as ray:
        run = _Run(ray, options, package, shards)
        try:
            yield from run.results()
        finally:
            run.end()


@dataclass(eq=False, slots=True)
class _Job:
    shard: Shard
    tries: int = 0


@dataclass(eq=False, slots=True)
class _Hired:
    """A worker, and the one job that it has: more, and nobody could say which of them it died of."""

    actor: Any
    is_ready: bool = False
    job: _Job | None = None


class _Run:
    """Jobs that wait, and workers that have some."""

    def __init__(self, ray: ModuleType, options: RayOptions, package: bytes, shards: Iterable[Shard]) -> None:
        self._ray, self._options = ray, options
        self._package = ray.put(package)
        needs = options.needs
        self._hire_one = ray.remote(Worker).options(
            num_cpus=needs.cpus, num_gpus=needs.gpus, max_restarts=0, max_task_retries=0
        )
        self._waiting = deque(map(_Job, shards))
        self._left = len(self._waiting)
        self._hired: set[_Hired] = set()
        self._events: queue.SimpleQueue[tuple[_Hired, Future]] = queue.SimpleQueue()
        self._next_look = self._last_worker = time.monotonic()
        self._interrupted: set[str] = set()
        self._told: set[str] = set()

    def results(self) -> Iterator[tuple[Shard, Report]]:
        """Yield the shards as they are done, or given up."""
        while self._left:
            self._look_for_room()
            try:
                worker, future = self._events.get(timeout=LOOK)
            except queue.Empty:
                continue
            done = self._take(worker, future)
            if done is not None:
                self._left -= 1
                yield done

    def end(self) -> None:
        """Let all workers go, and remove what dead ones have left beside their outputs."""
        for worker in [*self._hired]:
            self._dismiss(worker)
        for output in self._interrupted:
            remove_left(temporary_name(Path(os.path.realpath(output))))

    def _look_for_room(self) -> None:
        """Ask for workers that there is room for, now and then; give up if there have been none for long."""
        now = time.monotonic()
        if any(worker.is_ready for worker in self._hired):
            self._last_worker = now
        if now < self._next_look:
            return
        self._next_look = now + LOOK
        machines = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        free = self._ray.available_resources()
        needs = self._options.needs
        pending = sum(not worker.is_ready for worker in self._hired)
        wanted = min(room_for(needs, machines, free), len(self._waiting)) - pending
        for _ in range(wanted):
            self._hire()
        if wanted > 0:
            LOGGER.debug(f"asked Ray for {wanted:,} workers of {needs}")
        state = describe(needs, machines, free)
        if self._options.address is None and not any(fitting(needs, machine) for machine in machines):
            raise UsageError(f"this machine has no room for a worker: {state}")
        if now - self._last_worker > self._options.patience:
            raise UsageError(f"no worker on Ray for {self._options.patience:g} seconds: {state}")

    def _hire(self) -> None:
        worker = _Hired(self._hire_one.remote())
        self._hired.add(worker)
        self._await(worker, worker.actor.begin.remote(self._package))

    def _await(self, worker: _Hired, answer: Any) -> None:
        answer.future().add_done_callback(lambda future: self._events.put((worker, future)))

    def _employ(self, worker: _Hired) -> None:
        """Give a worker its next job, or let it go: one that died without a job would not be missed."""
        if not self._waiting:
            self._dismiss(worker)
            return
        worker.job = self._waiting.popleft()
        self._await(worker, worker.actor.do.remote(worker.job.shard))

    def _take(self, worker: _Hired, future: Future) -> tuple[Shard, Report] | None:
        """Take what a worker has answered, or that it died; return what is done with."""
        errors = self._ray.exceptions
        error, job = future.exception(), worker.job
        if isinstance(error, errors.RayError) and not isinstance(error, errors.RayTaskError):
            return self._lose(worker, error)
        if job is None:
            hindrance = f"a worker cannot begin: {last_line(error)}" if error else future.result()
            if hindrance is not None:
                raise UsageError(hindrance)
            worker.is_ready = True
            self._employ(worker)
            return None
        outcome: Outcome = future.result()
        self._tell(outcome)
        if outcome.error is not None:
            raise outcome.error
        self._employ(worker)
        return job.shard, outcome.report

    def _lose(self, worker: _Hired, error: Exception) -> tuple[Shard, Report] | None:
        """Give the job of a dead worker to others, after all that wait, unless too many have died of it."""
        LOGGER.info(f"a worker has died ({type(error).__name__}); what it had to do is done by others")
        self._dismiss(worker)
        job = worker.job
        if job is None:  # it had not begun
            return None
        self._interrupted.add(job.shard.output)
        job.tries += 1
        if job.tries < self._options.tries:
            self._waiting.append(job)
            return None
        reason = f"given up after {job.tries} tries: each time the worker died, for lack of memory perhaps"
        return job.shard, Report(0, DataError(reason, job.shard.source))

    def _dismiss(self, worker: _Hired) -> None:
        self._hired.discard(worker)
        self._ray.kill(worker.actor)

    def _tell(self, outcome: Outcome) -> None:
        """Say a worker's warnings here, those of a kind that is said once only once."""
        for level, text, once in outcome.said:
            if once is None or once not in self._told:
                LOGGER.log(level, text)
            if once is not None:
                self._told.add(once)
