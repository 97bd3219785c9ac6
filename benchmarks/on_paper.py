"""What texts of up to the web's size take to order: core hours, machines for a day, storage, the driver."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.report import add_numbers, make_parser, print_results

COLUMNS = (
    "lines",
    "shards",
    "core hours",
    "machines for a day",
    "read, TB",
    "written, TB",
    "of the storage, MB/s",
    "driver, s",
)
LINES = (10**9, 10**10, 10**11)
DAY = 24 * 3600


@dataclass(frozen=True)
class Cost:
    """What so many lines take.

    ``machines`` work for a day, and read and write so many ``bytes_a_second``; ``driver``: seconds of the
    process that hands out the shards.
    """

    lines: int
    shards: int
    core_hours: float
    machines: int
    read: float
    written: float
    bytes_a_second: float
    driver: float

    def row(self) -> tuple[str, ...]:
        """Return the cells of a line."""
        stored = f"{self.read / 1e12:.2f}", f"{self.written / 1e12:.2f}", f"{self.bytes_a_second / 1e6:,.0f}"
        counts = f"{self.lines:,}", f"{self.shards:,}", f"{self.core_hours:,.0f}", f"{self.machines:,}"
        return *counts, *stored, f"{self.driver:,.1f}"


def cost(lines: int, given: dict[str, int]) -> Cost:
    """Compute what lines take from the options of the command, measured on some of them."""
    shards = -(-lines // given["shard"])
    seconds = lines * given["line"] / 1e6 + shards * given["overhead"] / 1e3
    read, written = float(lines * given["read"]), float(lines * given["written"])
    machines = -(-seconds // (given["cores"] * DAY))
    return Cost(
        lines,
        shards,
        seconds / 3600,
        int(machines),
        read,
        written,
        (read + written) / DAY,
        shards * given["driver"] / 1e6,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Compute and print."""
    parser = make_parser("on_paper", __doc__)
    numbers = {
        "line": (76, "microseconds of a core for a line: KFTT's, of 22 words, .gz read and written"),
        "read": (38, "bytes of a line that are read"),
        "written": (65, "bytes of a line that are written"),
        "shard": (1_000_000, "lines of a shard"),
        "overhead": (8, "milliseconds of a shard beside its lines"),
        "driver": (700, "microseconds of the driver for a shard"),
        "cores": (32, "of a machine"),
    }
    add_numbers(parser, numbers)
    arguments = parser.parse_args(argv)
    costs = [cost(lines, vars(arguments)) for lines in LINES]
    print_results(f"{arguments.cores} cores a machine", COLUMNS, costs, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
