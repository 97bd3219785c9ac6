"""Compare links, amounts of text and methods on KFTT: ``python -m preorder_recipes.kftt.study --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from preorder.command_line import Parser, options
from preorder.methods.train import DEFAULT_LIMIT
from preorder_recipes.kftt.tables import write_tables
from preorder_recipes.pipeline.checks import check_readable
from preorder_recipes.pipeline.runner import StepRunner, exit_status
from preorder_recipes.pipeline.steps import Step

DESCRIPTION = """\
Train preorderers on KFTT and measure their orders on the hand alignments that no one has seen. What is done
is not done again; results.json and results.md hold all results so far."""
DIRECTIONS = ("en-ja", "ja-en")
ALIGNMENT = "alignment"  # the table of links
DATA = "data"
LINES, FEW_LINES = 40_000, 10_000  # of training text; few for what is slow: trees
GOLD = "data/hand-test.align"

HAND = "hand"  # stands for the hand-made links alone, and begins the names of links that they have taught
_TAUGHT = ("--hand-src", "data/hand-train.en", "--hand-tgt", "data/hand-train.ja")
_TAUGHT += ("--hand-align", "data/hand-train.align", "--min-confidence")
SYMMETRIZED = ("forward", "reverse", "intersect", "grow-diag", "grow-diag-final-and", "union")
LINKS: dict[str, tuple[str, ...]] = {
    **{f"ibm3-{how}": ("--symmetrize", how) for how in SYMMETRIZED},
    **{f"ibm3-intersect-by-{n}": ("--chunk", str(n)) for n in (10_100, 20_200)},
    "samplers-4": ("--samplers", "4"),
    **{f"hand-{p}": (*_TAUGHT, p) for p in ("0.5", "0.3", "0.1")},
}
"""Name → options of ``preorder align``; ``hand-P``: links of confidence P, by what hand-made ones teach."""
BASELINE, BEST = "ibm3-intersect", "hand-0.3"


@dataclass(frozen=True)
class Experiment:
    """A preorderer that is trained on the text and measured on the hand alignments.

    Attributes:
        table, name: where its row is.
        links: one of :data:`LINKS`, or :data:`HAND`: the hand-aligned sentences alone.
        lines: of training text.
        options: of ``preorder train``.
        init: the experiment whose model it begins from.
        layer: annotation of the source by Stanza: ``pos``, ``constituency``, ``dependency``, or none.
    """

    table: str
    name: str
    links: str = BASELINE
    lines: int = LINES
    options: tuple[str, ...] = ()
    method: str = "btg"
    init: Experiment | None = None
    layer: str | None = None
    directions: tuple[str, ...] = DIRECTIONS

    def model(self, direction: str) -> str:
        """Return the folder of its model, in the folder of the run."""
        return f"{direction}/models/{self._file_name}"

    def orders(self, direction: str) -> str:
        """Return the file of the positions that its model gives the sentences of hand-test."""
        return f"{direction}/orders/{self._file_name}.positions"

    @property
    def _file_name(self) -> str:
        """What is trained, so that experiments of two tables that are the same are done once."""
        options = (option.removeprefix("--") for option in self.options)
        begun = f"after.{self.init._file_name}" if self.init else ""
        parts = (self.method, self.links, self.layer, str(self.lines), *options, begun)
        return ".".join(filter(None, parts))

    def then_hand(self) -> Experiment:
        """Return the experiment that goes on with the hand-made links."""
        given = {"init": self, "layer": self.layer, "directions": self.directions}
        return Experiment(self.table, f"{self.name}, then hand", HAND, options=_HAND_OPTIONS, **given)


_HAND_OPTIONS = ("--held-out", "0", "--iterations", "10")


def _experiments() -> Iterator[Experiment]:
    english = {"directions": DIRECTIONS[:1]}
    for links in (*(f"ibm3-{how}" for how in SYMMETRIZED), BEST, "hand-0.1"):
        yield Experiment("links", links, links, **english)
    yield Experiment("trust", "hand alone", HAND, options=_HAND_OPTIONS)
    for links in (BASELINE, BEST):
        yield (alone := Experiment("trust", links, links))
        yield alone.then_hand()
    for lines in (FEW_LINES, LINES, 120_000, 369_368):
        limit = ("--limit", str(lines)) if lines > DEFAULT_LIMIT else ()
        yield Experiment("lines", f"{BEST}, {lines}", BEST, lines, limit)
        yield (alone := Experiment("lines", f"{BASELINE}, {lines}", BASELINE, lines, limit))
        yield alone.then_hand()
    yield Experiment("syntax", f"btg, {FEW_LINES}", BEST, FEW_LINES, **english)
    for lines in (FEW_LINES, LINES):
        yield (tagged := Experiment("syntax", f"btg, tags, {lines}", BEST, lines, layer="pos", **english))
    yield tagged.then_hand()
    for method, trees in (("rvnn", "constituency"), ("swap-lstm", "constituency"), ("rvnn", "dependency")):
        given = {"options": ("--classes", "0"), "method": method, "layer": trees}
        yield Experiment("syntax", f"{method}, {trees}, {FEW_LINES}", BEST, FEW_LINES, **given, **english)
    for lines in (FEW_LINES, LINES):
        for links in (BASELINE, BEST):
            for method in ("btg", "neural-btg"):
                yield Experiment("methods", f"{method}, {links}, {lines}", links, lines, method=method)


EXPERIMENTS = tuple(_experiments())


@dataclass(frozen=True)
class Study:
    """The steps of a direction; ``stanza``: folder of Stanza's models, or None: where Stanza has them."""

    direction: str
    seed: int
    stanza: str | None

    def align(self, name: str, lines: int) -> list[Step]:
        """Return the steps that align the first training pairs together with hand-test, and measure."""
        steps, folder = [], f"lines-{lines}"
        for side in ("en", "ja"):
            train, whole, full, hand = (
                *(f"{folder}/{part}.{side}" for part in ("train", "all")),
                *(f"{DATA}/{part}.{side}" for part in ("train", "hand-test")),
            )
            steps.append(Step(train, ("head", "-n", str(lines), full), (full,), (train,), train))
            steps.append(Step(whole, ("cat", train, hand), (train, hand), (whole,), whole))
        out, texts = f"{folder}/links/{name}.all.align", (f"{folder}/all.en", f"{folder}/all.ja")
        command = ("preorder", "align", "--src", texts[0], "--tgt", texts[1], "--seed", str(self.seed))
        steps.append(Step(out, (*command, *LINKS[name], "--out", out), texts, (out,)))
        for part, cut in (
            ("train", ("head", "-n", f"{lines}")),
            ("hand-test", ("tail", "-n", f"+{lines + 1}")),
        ):
            piece = f"{folder}/links/{name}.{part}.align"
            steps.append(Step(piece, (*cut, out), (out,), (piece,), piece))
        command = ("preorder", "evaluate", "--align", piece, "--gold", GOLD, "--json")
        return [*steps, Step(f"{out}.json", command, (piece, GOLD), (f"{out}.json",), f"{out}.json")]

    def learn(self, experiment: Experiment) -> list[Step]:
        """Return the steps from links to the orders of the hand-aligned test sentences."""
        side, folder = self.direction[:2], f"lines-{experiment.lines}"
        source, links = f"{folder}/train.{side}", f"{folder}/links/{experiment.links}.train.align"
        if experiment.links == HAND:
            source, links = f"{DATA}/hand-train.{side}", f"{DATA}/hand-train.align"
        test, model = f"{DATA}/hand-test.{side}", experiment.model(self.direction)
        (layer, steps), (test_layer, more) = (self._layer(experiment.layer, text) for text in (source, test))
        steps += more
        if side == "ja":
            given, links = links, f"{links}.ja-en"
            command = ("preorder", "map", "--align", given, "--reverse", "--out", links)
            steps.append(Step(links, command, (given,), (links,)))
        reads = (source, links, *layer[1:])
        command = (
            "preorder",
            "train",
            "--method",
            experiment.method,
            "--src",
            source,
            "--align",
            links,
            *layer,
        )
        if experiment.init:
            reads += (experiment.init.model(self.direction),)
            command += ("--init", reads[-1])
        command += (*experiment.options, "--seed", str(self.seed), "--model", model)
        steps.append(Step(model, command, reads, (model,)))
        orders = experiment.orders(self.direction)
        command = ("preorder", "apply", "--model", model, "--src", test, *test_layer, "--format", "positions")
        reads = (model, test, *test_layer[1:])
        return [*steps, Step(orders, (*command, "--out", orders), reads, (orders,))]

    def _layer(self, layer: str | None, text: str) -> tuple[tuple[str, ...], list[Step]]:
        """Return the option that names the annotation of a text, and the steps that make it."""
        if layer is None:
            return (), []
        tags = f"{text}.pos"
        common = ("preorder", "annotate", "--src", text, "--lang", self.direction[:2])
        common += ("--stanza-dir", self.stanza) if self.stanza else ()
        steps = [Step(tags, (*common, "--pos-out", tags, "--out", f"{text}.annot"), (text,), (tags,))]
        if layer == "pos":
            return ("--pos", tags), steps
        trees = f"{text}.{layer}"
        command = (*common, "--pos", tags, "--trees", layer, "--trees-out", trees, "--out", f"{trees}.annot")
        return ("--trees", trees), [*steps, Step(trees, command, (text, tags), (trees,))]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(prog="python -m preorder_recipes.kftt.study", description=DESCRIPTION)
    parser.add_argument("--data", metavar="DIR", required=True, help="KFTT: see recipes/kftt/README.md")
    parser.add_argument("--run", metavar="DIR", required=True, help="folder of the work")
    tables = (ALIGNMENT, *dict.fromkeys(experiment.table for experiment in EXPERIMENTS))
    for name, choices in (("tables", tables), ("directions", DIRECTIONS)):
        text = f"of {', '.join(choices)} (default: all)"
        parser.add_argument(f"--{name}", metavar="NAME,…", type=_names(choices), default=choices, help=text)
    parser.add_argument(
        "--stanza-dir", metavar="DIR", help="folder of Stanza's models (default: Stanza's own)"
    )
    options.add_number(parser, "--jobs", options.positive, 2, "steps side by side")
    options.add_seed(parser)
    arguments = parser.parse_args(argv)
    return exit_status(partial(run, arguments))


def _names(choices: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        names = tuple(text.split(","))
        for name in names:
            if name not in choices:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(choices)}")
        return names

    return parse


def run(arguments: argparse.Namespace) -> None:
    """Do all that is not done yet; the tables are written again after each experiment."""
    check_readable([Path(arguments.data, "hand.align")])
    runner = StepRunner(Path(arguments.run), arguments.jobs)
    stanza = arguments.stanza_dir and str(Path(arguments.stanza_dir).resolve())
    studies = [Study(direction, arguments.seed, stanza) for direction in arguments.directions]
    with runner.alone():
        runner.run([_prepare(arguments)])
        if ALIGNMENT in arguments.tables:
            for name in LINKS:
                runner.run(studies[0].align(name, LINES))
            write_tables(runner, EXPERIMENTS)
        for experiment in (each for each in EXPERIMENTS if each.table in arguments.tables):
            if experiment.links != HAND:
                runner.run(studies[0].align(experiment.links, experiment.lines))
            runner.run(
                *(study.learn(experiment) for study in studies if study.direction in experiment.directions)
            )
            write_tables(runner, EXPERIMENTS)


def _prepare(arguments: argparse.Namespace) -> Step:
    data = str(Path(arguments.data).resolve())
    command = ("python", "-m", "preorder_recipes.kftt.prepare", "--data", data, "--out", DATA)
    return Step("prepare", (*command, "--seed", str(arguments.seed)), (), (DATA,))


if __name__ == "__main__":
    sys.exit(main())
