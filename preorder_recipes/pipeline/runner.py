"""Run command lines in a folder: several at a time, each with a log, and each only once.

A step that succeeds leaves a stamp: its command line, and digests of the files that it read. While these
stay the same it is not run again. An interrupted run resumes where it was, and after a change of an input or
an option only what depends on it is run. A step with checkpoints leaves a stamp when it begins, too, and
resumes from the last of them. No step outlives its runner.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from preorder.command_line import visible
from preorder.errors import UsageError
from preorder.io import files
from preorder.io.atomic import reported
from preorder.processes import start
from preorder_recipes.commands import StepError
from preorder_recipes.pipeline.checkpoints import progress_of
from preorder_recipes.pipeline.progress import Progress
from preorder_recipes.pipeline.steps import Phase, Stamps, Step

ROOT = Path(__file__).resolve().parent.parent.parent
TAIL_LENGTH = 20  # lines of a failed step's log that are shown
PROGRESS_INTERVAL = 10  # seconds between two messages on a step's progress
LOCK_PATIENCE = 5  # seconds in which the steps of a runner that was killed end


class StepRunner:
    """Runs steps in a folder, up to ``jobs`` at a time; they share the processors."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder = folder
        self.jobs = jobs
        self._environment = environment(max(1, processors() // jobs))
        self._processes: set[subprocess.Popen[str]] = set()
        self._stopped = threading.Event()
        self._printing = threading.RLock()
        self._start = time.monotonic()
        self._script = folder / "commands.sh"
        self.stamps = Stamps(folder)
        self._progress = Progress(jobs)
        self._lock: tuple[int, ...] = ()
        files.make_folder(str(folder))
        if not self._script.exists():
            files.write_lines(str(self._script), _header(self._environment).splitlines())

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runners out of the folder during a block, and until its last step has ended."""
        with reported(str(self.folder)):
            file = (self.folder / "lock").open("a")
        with file:
            if not _lock(file.fileno()):
                raise UsageError(f"{self.folder}: another run is working in it")
            self._lock = (file.fileno(),)
            try:
                yield
            except KeyboardInterrupt:
                with contextlib.suppress(OSError):  # the terminal is closed
                    self.say("the same command goes on")
                raise

    def run_all(self, phases: Sequence[Phase], later: Sequence[Step] = ()) -> None:
        """Run phases one after another, and count all steps, those that will be run ``later`` too."""
        self._progress.expect([*(step for phase in phases for chain in phase for step in chain), *later])
        for phase in phases:
            self.run(*phase)

    def run(self, *chains: Sequence[Step]) -> None:
        """Run chains of steps: the steps of a chain one after another, the chains side by side."""
        self._stopped.clear()
        with ThreadPoolExecutor(self.jobs) as pool:
            running = [pool.submit(self._run_chain, chain) for chain in chains]
            try:
                done, _ = wait(running, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
            finally:
                self._stopped.set()
                for process in tuple(self._processes):
                    process.terminate()

    def note(self, name: str, *command: str) -> None:
        """Show and keep the command line of what is done in this process."""
        line, program = shlex.join(command), shlex.join(command[:3])
        self.say(f"{name}: {line}")
        with self._printing:
            kept = self._script.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
            if [one for one in kept if one.startswith(program)][-1:] != [line]:
                self._keep(line)

    def _keep(self, line: str) -> None:
        with self._script.open("a", encoding="utf-8", errors="surrogateescape") as script:
            script.write(line + "\n")

    def is_done(self, step: Step) -> bool:
        """Say whether a step has been run, and need not be again."""
        is_ready = all((self.folder / path).exists() for path in step.reads)
        return is_ready and self.stamps.why_not_done(step, self.stamps.new(step)) is None

    def say(self, message: str, has_time_left: bool = False) -> None:
        """Print a message on standard error, with the time since the start."""
        now = time.monotonic()
        with self._printing:
            if has_time_left and (left := self._progress.left(now)):
                message += f"; {left}"
            print(f"[{now - self._start:5.0f} s] {visible(message)}", file=sys.stderr, flush=True)

    def _run_chain(self, chain: Sequence[Step]) -> None:
        for step in chain:
            if self._stopped.is_set():
                return
            stamp = self.stamps.new(step)
            reason = self.stamps.why_not_done(step, stamp)
            if reason is None:
                with self._printing:
                    self._progress.end(step, self.stamps.seconds(step.name))
                continue
            if reason:
                self.say(f"{step.name} is run again: {reason}")
            more, before = self.stamps.begin(step, stamp)
            begin = time.monotonic()
            self._execute(replace(step, command=(*step.command, *step.aside, *more)), "a" if more else "w")
            seconds = round(before + time.monotonic() - begin, 2)
            self.stamps.end(step, stamp, seconds)
            with self._printing:
                self._progress.end(step, seconds)
                self.say(f"{step.name}: done in {seconds:.1f} s", has_time_left=True)

    def _execute(self, step: Step, log_mode: str) -> None:
        with self._printing:
            self._progress.begin(step, time.monotonic())
            if log_mode == "w":  # what resumes has its line already
                self._keep(step.script_line)
            self.say(f"{self._progress.place}{step.name}: {step.line}")
        path, tail, last_message = self.folder / step.log, deque[str](maxlen=TAIL_LENGTH), time.monotonic()
        with path.open(log_mode, encoding="utf-8", buffering=1) as log, self._started(step) as process:
            for line in process.stderr or process.stdout or ():
                log.write(line)
                tail.append(line.rstrip("\n"))
                message, share = (step.checkpoints and progress_of(line)) or (None, None)
                if share is not None:
                    with self._printing:
                        self._progress.reach(step, share, time.monotonic())
                if message and time.monotonic() - last_message > PROGRESS_INTERVAL:
                    last_message = time.monotonic()
                    self.say(f"{step.name}: {message}", has_time_left=True)
            status = process.wait()
        self._processes.discard(process)
        if self._stopped.is_set():
            raise StepError(f"{step.name}: stopped")
        if status != 0:
            message = "\n".join([*tail, f"{step.name} failed with status {status}; its log is {path}"])
            raise (UsageError if status == UsageError.status else StepError)(message)

    def _started(self, step: Step) -> subprocess.Popen[str]:
        with (self.folder / step.output).open("w") if step.output else contextlib.nullcontext() as output:
            process = start(
                [program_path(step.command[0]), *step.command[1:]],
                self._lock,
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output or subprocess.PIPE,
                stderr=subprocess.PIPE if output else subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
        self._processes.add(process)
        if self._stopped.is_set():
            process.terminate()
        return process


def program_path(name: str) -> str:
    """Return the path of a program: beside this Python, else as the shell would find it."""
    if name == "python":
        return sys.executable
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise StepError(f"{name} is not installed: make setup")
    return found


def _lock(descriptor: int) -> bool:
    """Lock a file, which the last steps of a killed runner may still hold for a moment; say whether it is."""
    end = time.monotonic() + LOCK_PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.1)
    return False


def processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # on Linux: which processors this process may use
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _header(variables: Mapping[str, str]) -> str:
    """Return the first lines of a script that runs the commands again, with as many threads."""
    return f"""\
#!/bin/sh
# The commands of this run, in the order in which they were started.
set -e
export OMP_NUM_THREADS={variables["OMP_NUM_THREADS"]}
export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"
export PYTHONPATH={shlex.quote(str(ROOT))}
cd "$(dirname "$0")"
"""


def environment(threads: int) -> dict[str, str]:
    """Return the environment of the commands: threads, huge pages for tensors, where this package is.

    More threads than processors would make every one of them wait for the others.
    """
    variables = dict(os.environ)
    limit = variables.get("OMP_NUM_THREADS", "")
    variables["OMP_NUM_THREADS"] = str(min(threads, int(limit)) if limit.isdigit() else threads)
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), variables.get("PYTHONPATH"))))
    variables.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    variables["ONMT_PREORDER_KEEP_MEMORY"] = "1"  # onmt_preorder.opennmt.training: baselines too
    variables["PYTHONUNBUFFERED"] = "1"
    return variables
