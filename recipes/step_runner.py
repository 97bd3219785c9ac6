"""Run command lines in a folder: several at a time, each with a log, and each only once.

A step that succeeds leaves a stamp: its command line, and digests of the files that it read.
While these stay the same it is not run again. So an interrupted run goes on where it was, and
after a change of an input or an option only what depends on it is run.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from preorder.cli.table import visible
from preorder.data.errors import PreorderError

ROOT = Path(__file__).resolve().parent.parent
TAIL_LENGTH = 20  # lines of a failed step's log that are shown
PROGRESS_INTERVAL = 10  # seconds between two messages on a step's progress


class StepError(Exception):
    """A step failed; the message holds the end of its log."""


def exit_status(job: Callable[[], None]) -> int:
    """Do a job; return the exit status: 0 done, 1 a step failed, 2 bad input or usage, 130 interrupted."""
    try:
        job()
    except PreorderError as error:
        print(visible(str(error)), file=sys.stderr)
        return 2
    except StepError as error:
        print(visible(str(error)), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 130
    return 0


@dataclass(frozen=True)
class Step:
    """A command line.

    Attributes:
        name: of its log and its stamp; with ``/`` they are in a folder.
        command: a program that is installed beside this Python or on the path, and its arguments.
        reads, makes: files and folders.
        output: file for its standard output, which it then makes too.
        progress: a line of its log → a message on the progress, or None.
    """

    name: str
    command: tuple[str, ...]
    reads: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    output: str | None = None
    progress: Callable[[str], str | None] = lambda _line: None

    @property
    def line(self) -> str:
        """The command line for a shell."""
        return shlex.join(self.command) + (f" > {shlex.quote(self.output)}" if self.output else "")


class StepRunner:
    """Runs steps in a folder, up to ``jobs`` at a time; they share the processors."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder = folder
        self.jobs = jobs
        self._environment = _environment(max(1, _processors() // jobs))
        self._processes: set[subprocess.Popen[str]] = set()
        self._stopped = threading.Event()
        self._printing = threading.Lock()
        self._start = time.monotonic()
        self._script = folder / "commands.sh"
        folder.mkdir(parents=True, exist_ok=True)
        if not self._script.exists():
            self._script.write_text(_header())

    def run(self, *chains: Sequence[Step]) -> None:
        """Run chains of steps: the steps of a chain one after another, the chains side by side.

        Raises:
            StepError: a step failed; all others were stopped.
        """
        self._stopped.clear()
        with ThreadPoolExecutor(self.jobs) as pool:
            running = [pool.submit(self._run_chain, chain) for chain in chains]
            try:
                done, _ = wait(running, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
            finally:
                self._stop()

    def seconds(self, step: str) -> float:
        """Return how long a step took, from its stamp."""
        return json.loads(self._stamp(step).read_text())["seconds"]

    def say(self, message: str) -> None:
        """Print a message on standard error, with the time since the start."""
        with self._printing:
            print(
                f"[{time.monotonic() - self._start:5.0f} s] {visible(message)}", file=sys.stderr, flush=True
            )

    def _run_chain(self, chain: Sequence[Step]) -> None:
        for step in chain:
            if self._stopped.is_set():
                return
            stamp = {"command": step.line, "reads": {path: self._digest(path) for path in step.reads}}
            if self._is_done(step, stamp):
                continue
            self._stamp(step.name).unlink(missing_ok=True)
            begin = time.monotonic()
            self._execute(step)
            seconds = round(time.monotonic() - begin, 2)
            self._stamp(step.name).write_text(json.dumps(stamp | {"seconds": seconds}, indent=1))
            self.say(f"{step.name}: done in {seconds:.1f} s")

    def _is_done(self, step: Step, stamp: dict) -> bool:
        path = self._stamp(step.name)
        if not path.exists() or not all((self.folder / made).exists() for made in step.makes):
            return False
        return json.loads(path.read_text()).items() >= stamp.items()

    def _execute(self, step: Step) -> None:
        for path in (*step.makes, f"logs/{step.name}.log", f"stamps/{step.name}.json"):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        self.say(f"{step.name}: {step.line}")
        with self._printing, self._script.open("a") as script:
            script.write(step.line + "\n")
        log = self.folder / f"logs/{step.name}.log"
        status, tail = self._follow(step, log)
        if self._stopped.is_set():
            raise StepError(f"{step.name}: stopped")
        if status != 0:
            raise StepError("\n".join([*tail, f"{step.name} failed with status {status}; its log is {log}"]))

    def _follow(self, step: Step, log: Path) -> tuple[int, deque[str]]:
        """Run a step to its end; return its exit status and the last lines of its log."""
        tail: deque[str] = deque(maxlen=TAIL_LENGTH)
        last_message = time.monotonic()
        with log.open("w", encoding="utf-8", buffering=1) as stream, self._started(step) as process:
            for line in process.stderr or process.stdout:
                stream.write(line)
                tail.append(line.rstrip("\n"))
                message = step.progress(line)
                if message and time.monotonic() - last_message > PROGRESS_INTERVAL:
                    last_message = time.monotonic()
                    self.say(f"{step.name}: {message}")
            status = process.wait()
        self._processes.discard(process)
        return status, tail

    def _started(self, step: Step) -> subprocess.Popen[str]:
        output = (self.folder / step.output).open("w") if step.output else None
        try:
            process = subprocess.Popen(
                [_program(step.command[0]), *step.command[1:]],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output or subprocess.PIPE,
                stderr=subprocess.PIPE if output else subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
        finally:
            if output:
                output.close()
        self._processes.add(process)
        if self._stopped.is_set():
            process.terminate()
        return process

    def _stop(self) -> None:
        self._stopped.set()
        for process in tuple(self._processes):
            process.terminate()

    def _stamp(self, name: str) -> Path:
        return self.folder / "stamps" / f"{name}.json"

    def _digest(self, path: str) -> str:
        """Return a digest of a file's content, or of all files in a folder."""
        top, digest = self.folder / path, hashlib.sha256()
        if not top.exists():
            raise StepError(f"{top} is missing: an earlier stage makes it")
        files = sorted(top.rglob("*")) if top.is_dir() else [top]
        for file in files:
            if file.is_file():
                digest.update(f"{file.name}\0".encode() + file.read_bytes())
        return digest.hexdigest()


def _program(name: str) -> str:
    """Return the path of a program: beside this Python, else as the shell would find it."""
    if name == "python":
        return sys.executable
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise StepError(f"{name} is not installed: make setup")
    return found


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # on Linux: which processors this process may use
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _header() -> str:
    """Return the first lines of a script that runs the commands again."""
    return f"""\
#!/bin/sh
# The commands of this run, in the order in which they were started.
export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"
export PYTHONPATH={shlex.quote(str(ROOT))}
cd "$(dirname "$0")"
"""


def _environment(threads: int) -> dict[str, str]:
    """Return the environment of the commands: threads, huge pages for tensors, where this package is.

    More threads than processors would make every one of them wait for the others.
    """
    environment = dict(os.environ)
    limit = environment.get("OMP_NUM_THREADS", "")
    environment["OMP_NUM_THREADS"] = str(min(threads, int(limit)) if limit.isdigit() else threads)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
    environment.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    environment["ONMT_PREORDER_KEEP_MEMORY"] = "1"  # onmt_preorder.opennmt.memory: baselines too
    environment["PYTHONUNBUFFERED"] = "1"
    return environment
