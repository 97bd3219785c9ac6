"""Work that is killed before any of its file operations, each time in a fork of this warm process."""

import io
import os
import signal
import sys
import time
from pathlib import Path

from safetensors.numpy import save

from preorder.cli import main
from preorder.io import atomic
from preorder.learning import checkpoint

EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "fcntl.flock"}
"""What Python tells its audit hooks; ``os.replace`` is a renaming, too."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
LIMIT = 120
"""Seconds after which the work hangs."""


def run(folder, arguments, kill_at=0):
    """Run ``preorder`` as :func:`work_in_fork` does."""
    return work_in_fork(folder, lambda: main(arguments), kill_at)


def work_in_fork(folder, work, kill_at=0):
    """Call a function in a fork, which is killed before its operation ``kill_at``, from 1; 0: it is not.

    Operations on files outside of the folder do not count. Return the exit status, or minus the signal, and
    how many operations there were.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 99
        try:
            sys.stdout = sys.stderr = open(f"{folder}.log", "w", buffering=1)  # noqa: SIM115
            counter = _Counter(str(folder), kill_at)
            counter.count()
            status = work() or 0
            os.write(writing, str(counter.calls).encode())
        except BaseException as error:
            print(repr(error), file=sys.stderr)
        os._exit(status)
    os.close(writing)
    status = _wait(child)
    with open(reading) as stream:
        return status, int(stream.read() or 0)


def _wait(child):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the work hangs")


class _Counter:
    """Counts operations, and kills this process before one of them."""

    def __init__(self, folder, kill_at):
        self.folder = folder
        self.kill_at = kill_at
        self.calls = 0

    def step(self):
        self.calls += 1
        if self.calls == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(self, event, arguments):
        if event not in EVENTS or (event == "open" and not arguments[2] & WRITING):
            return
        path = arguments[0]  # else a descriptor, or None
        path = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        if not os.path.isabs(path) or path.startswith(self.folder):
            self.step()

    def before(self, function):
        def counted(*arguments, **named):
            self.step()
            return function(*arguments, **named)

        return counted

    def count(self):
        """Count what changes files: calls that Python tells of, and those that it does not tell of."""
        opened, step = io.open, self.step

        class Halves(io.FileIO):
            """Writes in two steps, so that a process can be killed between them."""

            def write(self, data):
                data = bytes(data)
                for part in (data[: len(data) // 2], data[len(data) // 2 :]):
                    step()
                    super().write(part)
                return len(data)

        def open_in_halves(file, mode="r", *more, **named):
            if mode not in ("w", "wb"):
                return opened(file, mode, *more, **named)
            binary = io.BufferedWriter(Halves(file, "w"))
            return binary if mode == "wb" else io.TextIOWrapper(binary, encoding=named.get("encoding"))

        sys.addaudithook(self.hook)
        io.open = open_in_halves
        os.fsync = self.before(os.fsync)
        atomic._rename = self.before(atomic._rename)
        checkpoint.save_file = lambda arrays, path, metadata: Path(path).write_bytes(save(arrays, metadata))
