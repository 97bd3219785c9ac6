"""The time and memory that a program takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from preorder.errors import UsageError

RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time and of wall time of a run, and its peak of resident memory in bytes."""

    cpu: float
    wall: float
    memory: int


def run(command: Sequence[str]) -> Cost:
    """Run a program to its end, and measure it, all threads together.

    Raises:
        UsageError: it cannot be started, or fails.
    """
    with tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        try:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        except OSError as error:
            raise UsageError(f"{command[0]}: {error.strerror}") from None
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
            raise UsageError(f"{' '.join(command)}: exit status {process.returncode}: {' '.join(said[-1:])}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * RSS_UNIT)


def medians(ways: Sequence[Callable[[], float]], rounds: int) -> list[float]:
    """Return the median of what each way measures; all have their turn in each round."""
    measured = [[way() for way in ways] for _ in range(rounds)]
    return list(map(median, zip(*measured, strict=True)))


def seconds(step: Callable[[], object], device: str = "cpu") -> float:
    """Return the seconds that a step takes: of processor time on a CPU, of wall time on a GPU."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    begin = clock()
    step()
    if device != "cpu":
        import torch

        torch.cuda.synchronize()
    return clock() - begin
