"""The BTG preorderer beside Google's topdown-btg-preordering, on identical input, turn by turn in one run.

``python -m benchmarks.btg DATA`` measures ours alone; with the paths of the other's two programs,
built as docs/benchmarks.md says, both.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, cycle, islice
from pathlib import Path

from benchmarks.common import machine, medians, print_results
from benchmarks.programs import LONG, SHORT, Ours, Parser, Program, TopdownBTG, accuracy, peer_seconds, sample
from preorder.command_line.options import add_json, add_number, positive
from preorder.data.formats import parse_annotated
from preorder.errors import UsageError
from preorder.io import files
from preorder.progress import progress
from preorder_recipes.commands import execute, make_parser

FEW = 50  # lines, to compile with before anything is measured

EXAMPLES = """\
examples:
  python -m benchmarks.btg ../shared/data/btg
  python -m benchmarks.btg ../shared/data/btg --lines 45000 \\
      --topdown-btg-train topdown-btg/tdbtg_preorderer_train \\
      --topdown-btg-parse topdown-btg/tdbtg_preorderer_parse

DATA holds for each PAIR PAIR.train.annot and PAIR.train.align to learn from, PAIR.held.annot and
PAIR.held.align to measure on, in lader's formats.
"""


@dataclass(frozen=True)
class Result:
    """One line of the table: medians of ours and, where it was run, of the other program.

    ``ratio`` says how many times as fast ours is, or with more threads than with one.
    """

    pair: str
    name: str
    unit: str
    ours: float
    theirs: float | None = None
    ratio: float | None = None

    def row(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        unit = f" {self.unit}" if self.unit else ""
        return (
            self.pair,
            self.name,
            *("–" if value is None else _shown(value) + unit for value in (self.ours, self.theirs)),
            "–" if self.ratio is None else f"{self.ratio:.1f}×",
        )


def _shown(value: float) -> str:
    return f"{value:.4f}" if value < 1 else f"{value:.3g}" if value < 100 else f"{value:.0f}"


class Comparison:
    """Measurements of one pair of languages, turn by turn; what is written goes to a folder."""

    def __init__(self, arguments: argparse.Namespace, pair: str, folder: Path) -> None:
        """Take the lines to train on into the folder, and see to it that nothing is compiled later on."""
        self._pair = pair
        self._data = Path(arguments.data)
        self._folder, self._orders = folder, folder / "orders"
        self._repeat, self._threads, self._lines = arguments.repeat, arguments.threads, arguments.apply_lines
        self._programs: dict[str, Program] = {"ours": Ours()}
        if arguments.topdown_btg_train:
            self._programs["theirs"] = TopdownBTG(arguments.topdown_btg_train, arguments.topdown_btg_parse)
        for name, count in ((pair, arguments.lines), ("few", FEW)):
            for part in ("annot", "align"):
                lines = islice(files.read_lines(f"{self._data}/{pair}.train.{part}"), count)
                files.write_lines(f"{folder}/{name}.train.{part}", lines)
        self._programs["ours"].train(folder, "few", folder / "few")
        self._programs["ours"].apply(folder / "few", folder / "few.train.annot", self._orders)

    def results(self) -> Iterator[Result]:
        """Train both programs' models, and measure with them."""
        yield from self._training()
        yield from self._parsing()
        yield from self._applying()
        yield from self._accuracy()

    def _training(self) -> Iterator[Result]:
        costs = [p.train(self._folder, self._pair, self._folder / name) for name, p in self._programs.items()]
        threaded = Ours(self._threads).train(self._folder, self._pair, self._folder / "threaded")
        ours, *theirs = (cost.cpu for cost in costs)
        yield self._faster("training, processor time", "s", ours, *theirs)
        walls = threaded.wall, *(cost.wall for cost in costs[1:])
        yield self._faster(f"training, wall time, {self._threads} threads", "s", *walls)
        one, more = (
            (self._folder / name / "weights.safetensors").read_bytes() for name in ("ours", "threaded")
        )
        yield Result(self._pair, "the same model with one thread and more", "", float(one == more))
        memory = (cost.memory / 1e6 for cost in costs)
        yield Result(self._pair, "training, peak memory", "MB", *memory)
        paths = (self._folder / name / program.weights for name, program in self._programs.items())
        yield Result(self._pair, "model", "MB", *(path.stat().st_size / 1e6 for path in paths))

    def _parsing(self) -> Iterator[Result]:
        held = list(files.read_parsed(str(self._held("annot")), parse_annotated))
        for tokens in (SHORT, *LONG):
            sentences = sample(held, tokens)
            ways: list[Callable[[], float]] = [Parser(self._folder / "ours", sentences).seconds]
            for name, program in islice(self._programs.items(), 1, None):
                ways.append(partial(peer_seconds, program, self._folder / name, sentences, self._folder))
            times = (seconds / len(sentences) * 1e6 for seconds in medians(ways, self._repeat))
            length = tokens if isinstance(tokens, int) else f"{tokens[0]}–{tokens[-1]}"
            yield self._faster(f"parsing a sentence of {length} tokens", "µs", *times)
        parser = Parser(self._folder / "ours", held)
        counts = (self._threads, 1)
        more, one = medians([partial(parser.seconds, n, time.perf_counter) for n in counts], self._repeat)
        name = f"parsing {len(held)} lines, {self._threads} threads, against one"
        yield Result(self._pair, name, "s", more, None, one / more)

    def _applying(self) -> Iterator[Result]:
        texts = (f"{self._data}/{self._pair}.{part}.annot" for part in ("train", "held"))
        lines = list(islice(chain.from_iterable(map(files.read_lines, texts)), self._lines))
        files.write_lines(f"{self._folder}/lines.annot", islice(cycle(lines), self._lines))
        ways = [
            lambda n=name, p=program: (
                p.apply(self._folder / n, self._folder / "lines.annot", self._orders).wall
            )
            for name, program in self._programs.items()
        ]
        times = medians(ways, self._repeat)
        yield self._faster(f"apply, the whole process, {self._lines} lines", "s", *times)

    def _accuracy(self) -> Iterator[Result]:
        scores = []
        for name, program in self._programs.items():
            program.apply(self._folder / name, self._held("annot"), self._orders)
            scores.append(accuracy(self._held("align"), self._orders))
        for measure in ("tau_nakagawa", "frs", "complete_match"):
            yield Result(self._pair, f"held-out {measure}", "", *(getattr(s, measure) for s in scores))

    def _faster(self, name: str, unit: str, ours: float, theirs: float | None = None) -> Result:
        return Result(self._pair, name, unit, ours, theirs, theirs and theirs / ours)

    def _held(self, part: str) -> Path:
        return self._data / f"{self._pair}.held.{part}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_run, epilog=EXAMPLES)
    add_json(parser)
    parser.add_argument("data", metavar="DATA", help="folder of the input, see below")
    parser.add_argument("--topdown-btg-train", metavar="F", help="the other's program for training")
    parser.add_argument("--topdown-btg-parse", metavar="F", help="the other's program for parsing")
    parser.add_argument("--pairs", metavar="PAIR,…", default="enja,jaen", help="default: %(default)s")
    threads = min(4, os.cpu_count() or 1)
    add_number(parser, "--lines", positive, 5000, "lines to train on, the first ones")
    add_number(parser, "--apply-lines", positive, 50_000, "lines to apply the model to")
    add_number(parser, "--threads", positive, threads, "threads, where there are to be several")
    what = "rounds, of which the medians are printed; training is run once"
    add_number(parser, "--repeat", positive, 3, what)
    return execute(parser, argv)


def _run(arguments: argparse.Namespace) -> None:
    if (arguments.topdown_btg_train is None) != (arguments.topdown_btg_parse is None):
        raise UsageError("--topdown-btg-train and --topdown-btg-parse go together")
    results = []
    for pair in arguments.pairs.split(","):
        with tempfile.TemporaryDirectory() as folder:
            found = Comparison(arguments, pair, Path(folder)).results()
            results += progress(found, "results", done=f"of {pair}")
    what = f"{arguments.lines} training lines; {machine()}"
    print_results(what, ("pair", "", "ours", "topdown-btg", "ratio"), results, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
