"""What benchmarks share: the time and memory that a program takes, and output."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from preorder.command_line import print_table
from preorder.errors import UsageError
from preorder.io import files

PREORDER = (sys.executable, "-c", "import sys; from preorder.cli import main; sys.exit(main())")
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time and of wall time of a run, and its peak of resident memory in bytes."""

    cpu: float
    wall: float
    memory: int


def run(command: Sequence[str]) -> Cost:
    """Run a program to its end, and measure it, all threads together."""
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


def print_results(what: str, columns: Sequence[str], results: Sequence[Any], as_json: bool) -> None:
    """Print dataclasses as a table of their ``row()``, or as one JSON object, with today's date."""
    run = f"{what}, {date.today()}"
    if as_json:
        files.write_json(files.STANDARD, {"run": run, "results": list(map(asdict, results))})
    else:
        print_table(run, columns, (result.row() for result in results))


def machine(device: str = "cpu") -> str:
    """Return the name of the processor or GPU."""
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("--device cuda: torch finds no GPU")
        return torch.cuda.get_device_name()
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"
