"""The options and the output that benchmarks share."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from preorder.command_line import print_table
from preorder.command_line.options import positive
from preorder.errors import UsageError
from preorder.io import files


def print_results(what: str, columns: Sequence[str], results: Sequence[Any], as_json: bool) -> None:
    """Print results as a table, or as one JSON object, with today's date.

    Args:
        what: is measured, and where.
        columns: titles of the table's columns.
        results: dataclasses with a method ``row()``, which gives the cells of a line.
        as_json: whether to print JSON.
    """
    run = f"{what}, {date.today()}"
    if as_json:
        files.write_json(files.STANDARD, {"run": run, "results": list(map(asdict, results))})
    else:
        print_table(run, columns, (result.row() for result in results))


def make_parser(name: str, description: str | None, examples: str = "") -> argparse.ArgumentParser:
    """Return the parser of ``python -m benchmarks.NAME``, with ``--json``."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=description,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    return parser


def add_numbers(parser: argparse.ArgumentParser, numbers: dict[str, tuple[int | None, str]]) -> None:
    """Add options that take a whole number from 1: name → default and help."""
    for name, (default, text) in numbers.items():
        shown = "" if default is None else f" (default: {default})"
        parser.add_argument(f"--{name}", metavar="N", type=positive, default=default, help=text + shown)


def machine(device: str = "cpu") -> str:
    """Return the name of the processor or GPU.

    Raises:
        UsageError: there is no GPU.
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
