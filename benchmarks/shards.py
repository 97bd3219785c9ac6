"""A text as one file and as shards, on threads and on Ray: the same bytes?"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from benchmarks.common import PREORDER, Cost, machine, print_results, run
from preorder.command_line.options import add_json, add_number, positive
from preorder.io import files
from preorder_recipes.commands import execute, make_parser

COLUMNS = ("way", "start, s", "all, s", "lines a second", "memory, MB", "same bytes")

EXAMPLES = """\
examples:
  python -m benchmarks.shards --model model --text train.en
      3 million lines in 1,000 shards: those of train.en again and again
  python -m benchmarks.shards --model model --text train.en --lines 100000 --shards 100
"""


@dataclass(frozen=True)
class Result:
    """What a way took: seconds with one line of text and with all, and the command's own peak of memory.

    ``same``: whether its output is, byte for byte, that of one process with one thread.
    """

    way: str
    lines: int
    start: float
    seconds: float
    memory: int
    same: bool

    def row(self) -> tuple[str, ...]:
        """Return the cells of a line."""
        seconds = f"{self.start:.1f}", f"{self.seconds:.1f}", f"{self.lines / self.seconds:,.0f}"
        return self.way, *seconds, f"{self.memory / 1e6:.0f}", "yes" if self.same else "NO"


class Bench:
    """A text in a folder: as one file, as shards, and its first line alone."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        """Write the text."""
        self._folder, self._arguments = folder, arguments
        lines = islice(_endless(arguments.text), arguments.lines)
        size = -(-arguments.lines // arguments.shards)
        for name in ("shards", "line"):
            (folder / name).mkdir()
        with files.writer(f"{folder}/file") as whole:
            for number in range(arguments.shards):
                part = [f"{line}\n" for line in islice(lines, size)]
                whole.writelines(part)
                files.write_texts(f"{folder}/shards/{number:06}", part)
        files.write_lines(f"{folder}/line/1", islice(_endless(arguments.text), 1))

    def results(self) -> Iterator[Result]:
        """Yield what each way takes, first that of which the others are to have the bytes."""
        one, two = self._folder / "one", ("--threads", "2")
        ways = {"one process": (), "two threads": two, "shards, two threads": two}
        expected = None
        for way, options in (ways | {"shards, a Ray of its own": ("--engine", "ray")}).items():
            if way.startswith("shards"):
                start, cost = (self._shards(name, options) for name in ("line", "shards"))
                made = sorted((self._folder / "out").glob("[!.]*"))
            else:
                texts = (f"{self._folder}/{name}" for name in ("line/1", "file"))
                start, cost = (self._apply("--src", text, "--out", str(one), *options) for text in texts)
                made = [one]
            digest = self._digest(made)
            expected = expected or digest
            lines = self._arguments.lines
            yield Result(way, lines, start.wall, cost.wall, cost.memory, digest == expected)

    def _shards(self, name: str, options: Sequence[str]) -> Cost:
        out = self._folder / "out"
        if out.exists():
            out.rename(tempfile.mkdtemp(dir=self._folder))
        return self._apply("--src", f"{self._folder}/{name}/*", "--out-dir", str(out), *options)

    def _apply(self, *options: str) -> Cost:
        return run((*PREORDER, "apply", "--model", self._arguments.model, *options))

    def _digest(self, paths: Iterable[Path]) -> str:
        digest = blake2b()
        for path in paths:
            with path.open("rb") as stream:
                for part in iter(partial(stream.read, 1 << 20), b""):
                    digest.update(part)
        return digest.hexdigest()


def _endless(path: str) -> Iterator[str]:
    """Yield the lines of a file again and again; not kept, since our memory would count as the commands'."""
    while True:
        files.not_empty(path, islice(files.read_lines(path), 1))
        yield from files.read_lines(path)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_run, epilog=EXAMPLES)
    add_json(parser)
    parser.add_argument("--model", metavar="DIR", required=True, help="of preorder train")
    parser.add_argument("--text", metavar="F", required=True, help="source text")
    add_number(parser, "--lines", positive, 3_000_000, "of the text that is ordered")
    add_number(parser, "--shards", positive, 1000, "of that text")
    return execute(parser, argv)


def _run(arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = [*Bench(Path(folder), arguments).results()]
    what = f"{arguments.lines:,} lines in {arguments.shards:,} shards; {machine()}"
    print_results(what, COLUMNS, results, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
