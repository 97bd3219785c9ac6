"""What the process that hands out shards takes for each of very many, on a Ray of this machine."""

from __future__ import annotations

import operator
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.report import add_numbers, machine, make_parser, print_results
from preorder.cli.messages import peak_memory
from preorder.shards.on_ray.engine import on_ray
from preorder.shards.on_ray.options import DEFAULTS
from preorder.shards.plan import Shard, find_shards
from preorder.shards.run import run_shards

T = TypeVar("T")

NOTHING: Any = operator.is_
"""Work on a shard that is done in no time, and that workers need not import from here."""


@dataclass(frozen=True)
class Result:
    """What a step takes for each shard, in microseconds: of the process itself, and by the clock."""

    step: str
    cpu: float
    wall: float

    def row(self) -> tuple[str, ...]:
        """Return the cells of a line."""
        return self.step, f"{self.cpu:,.0f}", f"{self.wall:,.0f}"


def measure(folder: Path, shards: int) -> list[Result]:
    """Measure each step of a run of so many shards in a folder."""
    for number in range(shards):
        (folder / f"{number:09}").touch()
    patterns, out = {"src": f"{folder}/*"}, f"{folder}-out"
    found, listing = _measured("find the shards", shards, lambda: find_shards(patterns, out))
    _, looking = _measured("look which are done", shards, lambda: [*map(_is_done, found)])
    engine = partial(on_ray, DEFAULTS, dict)
    _, start = _measured("", 1, lambda: run_shards(found[:1], NOTHING, engine, _is_done))
    _, all_of_it = _measured("", 1, lambda: run_shards(found, NOTHING, engine, _is_done))
    each = ((all_of_it.cpu - start.cpu) / shards, (all_of_it.wall - start.wall) / shards)
    return [listing, looking, Result("hand out a shard, take its report", *each)]


def _is_done(shard: Shard) -> bool:
    return os.path.exists(shard.output)


def _measured(step: str, shards: int, do: Callable[[], T]) -> tuple[T, Result]:
    cpu, wall = time.process_time(), time.perf_counter()
    done = do()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return done, Result(step, cpu / shards * 1e6, wall / shards * 1e6)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = make_parser("driver", __doc__)
    add_numbers(parser, {"shards": (100_000, "empty files")})
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        results = measure(Path(folder), arguments.shards)
    what = f"{arguments.shards:,} shards, {peak_memory() / 1e6:.0f} MB of memory; {machine()}"
    print_results(what, ("each shard", "processor, µs", "clock, µs"), results, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
