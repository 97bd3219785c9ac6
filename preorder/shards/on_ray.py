"""Shards as tasks on a Ray cluster, or on a local Ray that is started for them.

Ray runs as many tasks at once as there is room for, also on machines that join later. We retry tasks: Ray
would never give up a shard that needs too much memory.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import pickle
import platform
import secrets
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from logging.handlers import BufferingHandler
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from preorder.errors import DataError, PreorderError, UsageError, require
from preorder.progress import LOGGER
from preorder.shards.jobs import Results, Shard, Work, run_shard

GPU_SHARE = 0.25
"""Share of a GPU that a task takes: Stanza's models and a batch need some 4 GB."""

LOOK = 1.0  # seconds between two looks at the room on the cluster

STORE = 100 * 2**20
"""Bytes of shared memory of a local Ray, beside our data; Ray needs 75 MiB at least."""

TIMEOUT = 10.0  # seconds for a first answer of a cluster

Facts = Callable[[], dict[str, Any]]
"""Returns values, by name, that must be the same on all machines; it can be pickled."""

Outcome = tuple[DataError | None, Exception | None, list[logging.LogRecord]]
"""What is wrong with the input of a shard, an error that ends the run, and warnings."""


@dataclass(frozen=True, slots=True)
class RayOptions:
    """How to use a cluster."""

    address: str | None = None  # ``auto`` or ``HOST:PORT``; None: a Ray of this machine alone
    cpus: int = 1  # processor cores that each task needs
    gpus: float = 0.0  # the share of a GPU that it needs
    tries: int = 3  # attempts at a shard whose workers die
    patience: float = 60.0  # seconds without any worker after which the run is given up

    @property
    def needs(self) -> dict[str, float]:
        """The resources that each task needs, by Ray's names."""
        return {"CPU": self.cpus} | ({"GPU": self.gpus} if self.gpus else {})


def on_ray(options: RayOptions, facts: Facts, work: Work, shards: Iterable[Shard]) -> Results:
    """Run shards on a cluster, as many at once as it has room for, and yield each when it is done.

    With options and facts bound it is an engine of :mod:`preorder.shards`. The work can be pickled.
    """
    package = pickle.dumps((os.getcwd(), LOGGER.level, work, facts, facts()))
    with connected(options.address, len(package)) as ray:
        run = _Run(ray, options, ray.put(package), shards)
        with contextlib.closing(run):
            yield from run.results()


@dataclass(eq=False, slots=True)
class _Job:
    shard: Shard
    tries: int = 0
    has_begun: bool = False


class _Run:
    def __init__(self, ray: ModuleType, options: RayOptions, package: Any, shards: Iterable[Shard]) -> None:
        self._ray, self._options, self._package = ray, options, package
        needs = {"num_cpus": options.cpus, "num_gpus": options.gpus}
        self._task = ray.remote(**needs, max_retries=0, max_calls=0, num_returns="streaming")(_do)
        self._waiting = deque(map(_Job, shards))
        self._given: dict[Any, _Job] = {}  # by what yields a task's answers
        self._most = 0
        self._next_look = self._last_worker = time.monotonic()
        self._logged: set[str | None] = set()

    def results(self) -> Results:
        """Yield each shard when it is done or given up."""
        while self._waiting or self._given:
            self._look_for_room()
            while self._waiting and len(self._given) < self._most:
                job = self._waiting.popleft()
                self._given[self._task.remote([self._package], job.shard)] = job
            for answers in self._ray.wait([*self._given], timeout=LOOK)[0]:
                yield from self._take(answers)

    def close(self) -> None:
        """Stop all tasks."""
        left = {answers.completed(): answers for answers in self._given}
        until = time.monotonic() + 5 * LOOK
        while left and time.monotonic() < until:  # Ray forgets to cancel a task that it is about to begin
            for answers in left.values():
                self._ray.cancel(answers, force=True)
            for ended in self._ray.wait([*left], num_returns=len(left), timeout=LOOK / 5)[0]:
                del left[ended]

    def _look_for_room(self) -> None:
        """Update now and then how many tasks Ray gets; give up if no worker has been at work for long."""
        now = time.monotonic()
        if any(job.has_begun for job in self._given.values()):
            self._last_worker = now
        if now < self._next_look:
            return
        self._next_look = now + LOOK
        needs, free = self._options.needs, self._ray.available_resources()
        machines = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        room = sum(fitting(needs, machine) for machine in machines)
        self._most = 2 * room + 1  # no worker waits for us, and Ray sees more work
        largest = {name: max((machine.get(name, 0) for machine in machines), default=0) for name in needs}
        needed, most, left = (
            " and ".join(f"{amounts.get(name, 0):g} {name}" for name in needs)
            for amounts in (needs, largest, free)
        )
        state = f"each needs {needed}; the largest machine has {most}, and {left} are free in all"
        if self._options.address is None and not room:
            raise UsageError(f"this machine has no room for a worker: {state}")
        if now - self._last_worker > self._options.patience:
            raise UsageError(f"no worker on Ray for {self._options.patience:g} seconds: {state}")

    def _take(self, answers: Any) -> Results:
        """Take the answer of a task; yield its shard if it is done, or queue it again if the worker died."""
        job, errors = self._given[answers], self._ray.exceptions
        try:
            outcome: Outcome | None = self._ray.get(next(answers))
        except errors.RayTaskError as error:
            if job.has_begun:
                raise
            raise UsageError(f"a worker cannot begin: {_last_line(error)}") from None
        except errors.RayError as error:
            LOGGER.info(f"a worker has died ({type(error).__name__}); others do its work")
            del self._given[answers]
            job.tries, job.has_begun = job.tries + 1, False
            if job.tries < self._options.tries:
                self._waiting.append(job)
                return
            tries = f"given up after {job.tries} tries"
            reason = f"{tries}: each time the worker died, for lack of memory perhaps"
            yield job.shard, DataError(reason, job.shard.source)
            return
        if outcome is None:
            job.has_begun = True
            return
        del self._given[answers]
        failure, fault, records = outcome
        for record in records:
            once = getattr(record, "once", None)
            if once is None or once not in self._logged:
                LOGGER.handle(record)
            self._logged.add(once)
        if fault is not None:
            raise fault
        yield job.shard, failure


def _do(package: Sequence[Any], shard: Shard) -> Iterator[Outcome | None]:
    """Run a shard in a process of Ray's: yield None when it begins, then its outcome."""
    failure: DataError | None = None
    fault: Exception | None = None
    _WARNINGS.flush()
    try:
        work = _unpack(package[0])
        yield None
        failure = run_shard(work, shard)
    except (PreorderError, OSError, MemoryError) as error:
        fault = error
    yield failure, fault, _WARNINGS.buffer


@functools.cache
def _unpack(package: Any) -> Work:
    """Return the work, if this machine has the files and programs that it needs."""
    import ray

    try:
        folder, level, work, facts, expected = pickle.loads(ray.get(package))
        os.chdir(folder)
        found = facts()
    except (PreorderError, OSError, ImportError) as error:
        needs = "a worker needs the files and programs that this command has"
        raise UsageError(f"{platform.node()}: {error}; {needs}") from None
    changed = [name for name in expected if found.get(name) != expected[name]]
    if changed:
        raise UsageError(f"{platform.node()} has another {' and another '.join(changed)} than here")
    LOGGER.addHandler(_WARNINGS)
    LOGGER.setLevel(level)
    LOGGER.propagate = False
    return work


_WARNINGS = BufferingHandler(sys.maxsize)  # of the shard that this process does
_WARNINGS.setLevel(logging.WARNING)


def fitting(needs: Mapping[str, float], machine: Mapping[str, float]) -> int:
    """Return how many tasks fit on a machine; Ray counts in floating-point shares of 1/10,000."""
    return min(int(machine.get(name, 0) / amount + 1e-6) for name, amount in needs.items())


def load_ray() -> ModuleType:
    """Import Ray, and let it print nothing of its processes."""
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", "^")  # lines that it does not print
    return require("ray", "ray")


@contextlib.contextmanager
def connected(address: str | None, size: int) -> Iterator[ModuleType]:
    """Give Ray, connected to a cluster; disconnect afterwards.

    Without an address, start a local Ray: it sends no statistics, takes work from this process alone, ends
    with it, and has room for ``size`` bytes.
    """
    ray = load_ray()
    with contextlib.ExitStack() as stack:
        logger = logging.getLogger("ray")  # what goes wrong comes as an exception
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL)
        options: dict[str, Any] = {"address": address}
        if address is None:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else it keeps one in the home
            parent = os.environ.get("RAY_TMPDIR", "/tmp")  # names of sockets have at most 107 characters
            folder = TemporaryDirectory(prefix="preorder-ray-", dir=parent, ignore_cleanup_errors=True)
            options = {"address": "local", "include_dashboard": False}
            options |= {"object_store_memory": STORE + 2 * size, "_temp_dir": stack.enter_context(folder)}
        at_sigterm = signal.getsignal(signal.SIGTERM)
        try:
            _check_reachable(address)
            ray.init(log_to_driver=False, configure_logging=False, **options)
        except Exception as error:  # of the network, of versions, of the address: of all kinds
            where = "cannot be started" if address is None else f"at {address} cannot be used"
            raise UsageError(f"Ray {where}: {_last_line(error)}") from None
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, at_sigterm)  # which Ray changes
        try:
            yield ray
        finally:
            ray.shutdown()


def _last_line(error: BaseException) -> str:
    return str(error).strip().rpartition("\n")[2].strip() or type(error).__name__


def _check_reachable(address: str | None) -> None:
    """Raise an OSError if nobody listens at an address: Ray would try for minutes."""
    named = os.environ.get("RAY_ADDRESS") if address == "auto" else address
    host, colon, port = (named or "").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), TIMEOUT).close()
