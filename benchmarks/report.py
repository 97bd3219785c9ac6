"""What benchmarks print, and how they are told the sizes of what they measure."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from preorder.cli.options import positive
from preorder.cli.table import print_table
from preorder.data import files
from preorder.data.errors import UsageError


def print_results(what: str, columns: Sequence[str], results: Sequence[Any], as_json: bool) -> None:
    """Print a table, or one JSON object; both say what was measured, and today's date.

    Results are dataclasses whose ``row()`` gives the cells of a line.
    """
    run = f"{what}, {date.today()}"
    if as_json:
        files.write_json(files.STANDARD, {"run": run, "results": list(map(asdict, results))})
    else:
        print_table(run, columns, (result.row() for result in results))


def add_numbers(parser: argparse.ArgumentParser, numbers: dict[str, tuple[int | None, str]]) -> None:
    """Add options that count from 1: their defaults, and what they are."""
    for name, (default, text) in numbers.items():
        shown = "" if default is None else f" (default: {default})"
        parser.add_argument(f"--{name}", metavar="N", type=positive, default=default, help=text + shown)


def machine(device: str = "cpu") -> str:
    """Return what processor it is measured on.

    Raises:
        UsageError: the device is not there.
    """
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("--device cuda: torch finds no GPU")
        return torch.cuda.get_device_name()
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"
