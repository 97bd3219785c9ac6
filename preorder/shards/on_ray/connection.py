"""A Ray to work on: a cluster that runs already, or one on this machine, for as long as it is needed."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import secrets
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from preorder.errors import UsageError, require
from preorder.processes import temporary_directory

STORE = 100 * 2**20
"""Bytes of shared memory of a Ray of our own, beside what is put there; Ray wants 75 MiB at least."""

TIMEOUT = 10.0
"""Seconds for a first answer of a cluster."""

MAX_FOLDER = 40
"""Characters of the folder of a Ray of our own: the names of its sockets have at most 107."""


def load_ray() -> ModuleType:
    """Import Ray; what it would print of its processes it keeps in its log files.

    Raises:
        MissingExtraError: it is not installed.
    """
    with _environment({"RAY_DEDUP_LOGS_SKIP_REGEX": "^"}):  # lines that it does not print; read at its import
        return require("ray", "ray")


@contextlib.contextmanager
def connected(address: str | None, size: int) -> Iterator[ModuleType]:
    """Give Ray, connected to a cluster; afterwards it is as it was.

    Args:
        address: ``auto`` or ``HOST:PORT`` of a cluster; None: the cluster that this process is connected to,
            or else a Ray on this machine is started, which sends no statistics of its use, takes
            work from this process alone, and ends with it.
        size: bytes that will be put there for all workers.

    Raises:
        MissingExtraError: Ray is not installed.
        UsageError: there is no such cluster, or none can be started.
    """
    ray = load_ray()
    if address is None and ray.is_initialized():
        yield ray
        return
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet())
        options: dict[str, Any] = {"address": address}
        if address is None:
            options = stack.enter_context(_own(size))
        try:
            _check_reachable(address)
            with _signals_kept():
                ray.init(log_to_driver=False, configure_logging=False, **options)
        except Exception as error:  # of the network, of versions, of the address: of all kinds
            where = "cannot be started" if address is None else f"at {address} cannot be used"
            raise UsageError(f"Ray {where}: {last_line(error)}") from None
        try:
            yield ray
        finally:
            ray.shutdown()


def _check_reachable(address: str | None) -> None:
    """Raise an OSError at once where nobody listens at an address: Ray would try for many minutes."""
    named = os.environ.get("RAY_ADDRESS") if address == "auto" else address
    host, colon, port = (named or "").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), TIMEOUT).close()


def last_line(error: BaseException) -> str:
    """Return the last line of an error's message, which comes after tracebacks, or its name."""
    return str(error).strip().rpartition("\n")[2].strip() or type(error).__name__


@contextlib.contextmanager
def _own(size: int) -> Iterator[dict[str, Any]]:
    """Give the options of a Ray on this machine alone, and what it reads in the environment."""
    options = {"address": "local", "include_dashboard": False, "object_store_memory": STORE + 2 * size}
    wanted = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": os.environ.get("RAY_AUTH_TOKEN", _token())}
    with _environment(wanted), temporary_directory("preorder-ray-") as folder:
        is_short = len(str(folder)) <= MAX_FOLDER and "RAY_TMPDIR" not in os.environ
        yield options | ({"_temp_dir": str(folder)} if is_short else {})


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment for a block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@functools.cache
def _token() -> str:
    """Return what proves that a process belongs to us; Ray would keep one in the user's home."""
    return secrets.token_hex(32)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep off the terminal what Ray says of itself; what goes wrong comes as an exception."""
    logger = logging.getLogger("ray")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep what SIGTERM does, which Ray changes."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
