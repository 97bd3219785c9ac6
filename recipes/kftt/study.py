"""Compare links, treatments, amounts of text and methods on KFTT: ``python -m recipes.kftt.study --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from preorder.command_line import Parser, options
from recipes.checks import check_readable
from recipes.kftt.experiments import (
    BY_KEY,
    DIRECTIONS,
    EXPERIMENTS,
    HAND,
    LINES,
    LINKS,
    ORACLE,
    Experiment,
    Links,
)
from recipes.kftt.tables import write_tables
from recipes.step_runner import Step, StepRunner, exit_status

ALIGNMENT = "alignment"
DATA = "data"
DESCRIPTION = """\
Train preorderers on KFTT and measure their orders on the hand alignments that no one has seen. What is done
is not done again; results.json and results.md hold all results so far."""


@dataclass(frozen=True)
class Study:
    """Where the files of a study are, relative to the folder of its run, and the steps that make them.

    Attributes:
        direction: one of :data:`DIRECTIONS`.
        seed: of all random numbers.
        stanza: folder of Stanza's models, or None: where Stanza has them.
    """

    direction: str
    seed: int
    stanza: str | None

    @property
    def source(self) -> str:
        """The language that is preordered."""
        return self.direction[:2]

    def text(self, lines: int, part: str, language: str) -> str:
        """Return a side of the first training pairs (``train``), or of these and hand-test (``all``)."""
        return f"lines-{lines}/{part}.{language}"

    def links(self, lines: int, name: str, part: str) -> str:
        """Return the English–Japanese links of the text of that name."""
        return f"lines-{lines}/links/{name}.{part}.align"

    def align(self, name: str, lines: int) -> list[Step]:
        """Return the steps that align the first so many training pairs together with hand-test."""
        links, whole = LINKS[name], self.links(lines, name, "all")
        if links.made_of:
            steps = [step for base in links.made_of for step in self.align(base, lines)]
        else:
            steps = [step for language in ("en", "ja") for step in self._text(lines, language)]
        steps.append(self._align(links, name, lines))
        for part, command in (
            ("train", ("head", "-n", f"{lines}")),
            ("hand-test", ("tail", "-n", f"+{lines + 1}")),
        ):
            out = self.links(lines, name, part)
            steps.append(Step(out, (*command, whole), (whole,), (out,), out))
        gold, out = "data/hand-test.align", f"{whole}.json"
        measured = self.links(lines, name, "hand-test")
        command = ("preorder", "evaluate", "--align", measured, "--gold", gold, "--json")
        return [*steps, Step(out, command, (measured, gold), (out,), out)]

    def _text(self, lines: int, language: str) -> list[Step]:
        train, whole = (self.text(lines, part, language) for part in ("train", "all"))
        full, hand = f"data/train.{language}", f"data/hand-test.{language}"
        return [
            Step(train, ("head", "-n", str(lines), full), (full,), (train,), train),
            Step(whole, ("cat", train, hand), (train, hand), (whole,), whole),
        ]

    def _align(self, links: Links, name: str, lines: int) -> Step:
        out = self.links(lines, name, "all")
        reads = tuple(self.links(lines, base, "all") for base in links.made_of)
        if links.filters:
            command = ("preorder", "map", "--align", *reads, *links.options, "--out", out)
            return Step(out, command, reads, (out,))
        if links.joins:
            given = ("--forward", reads[0], "--reverse", reads[1])
        else:
            reads = tuple(self.text(lines, "all", language) for language in ("en", "ja"))
            given = ("--src", reads[0], "--tgt", reads[1], "--seed", str(self.seed))
        command = ("preorder", "align", *given, *links.options, "--out", out)
        return Step(out, command, reads, (out,))

    def learn(self, experiment: Experiment) -> list[Step]:
        """Return the steps from links to the orders of the hand-aligned test sentences."""
        model, orders = experiment.model(self.direction), experiment.orders(self.direction)
        test = f"data/hand-test.{self.source}"
        test_layer, test_made = self._layer(experiment, test)
        if experiment.method == ORACLE:
            gold = "data/hand-test.align"
            command = ("python", "-m", "recipes.kftt.oracle", "--src", test, *test_layer, "--align", gold)
            reads = (test, *test_layer[1:], gold)
            return [*test_made, Step(orders, (*command, "--out", orders), reads, (orders,))]
        source, layer, links, steps = self._training_data(experiment)
        reads = (source, links, *layer[1:])
        command = [
            "preorder",
            "train",
            "--method",
            experiment.method,
            "--src",
            source,
            "--align",
            links,
            *layer,
        ]
        if experiment.init:
            reads += (BY_KEY[experiment.init].model(self.direction),)
            command += ["--init", reads[-1]]
        command += [*experiment.options, "--seed", str(self.seed), "--model", model]
        apply = ("preorder", "apply", "--model", model, "--src", test, *test_layer, "--format", "positions")
        ordered = Step(orders, (*apply, "--out", orders), (model, test, *test_layer[1:]), (orders,))
        return [*steps, *test_made, Step(model, tuple(command), reads, (model,)), ordered]

    def _layer(self, experiment: Experiment, text: str) -> tuple[tuple[str, ...], list[Step]]:
        """Return the option that names the annotation of a text, and the steps that make it."""
        if experiment.layer is None:
            return (), []
        tags = f"{text}.pos"
        common = ("preorder", "annotate", "--src", text, "--lang", self.source)
        common += ("--stanza-dir", self.stanza) if self.stanza else ()
        steps = [Step(tags, (*common, "--pos-out", tags, "--out", f"{text}.annot"), (text,), (tags,))]
        if experiment.layer == "pos":
            return ("--pos", tags), steps
        trees = f"{text}.{experiment.layer}"
        command = (*common, "--pos", tags, "--trees", experiment.layer, "--trees-out", trees)
        steps.append(Step(trees, (*command, "--out", f"{trees}.annot"), (text, tags), (trees,)))
        return ("--trees", trees), steps

    def _training_data(self, experiment: Experiment) -> tuple[str, tuple[str, ...], str, list[Step]]:
        """Return the source, the option that names its annotation, its links, and the steps to make them."""
        hand = f"data/hand-train.{self.source}", "data/hand-train.align"
        if experiment.links == HAND:
            source, links = hand
        else:
            source = self.text(experiment.lines, "train", self.source)
            links = self.links(experiment.lines, experiment.links, "train")
        layer, steps = self._layer(experiment, source)
        given = [source, links, *layer[1:]]
        if experiment.copies:
            hand_layer, made = self._layer(experiment, hand[0])
            added = zip(given, (*hand, *hand_layer[1:]), strict=True)
            copied = [_with_copies(name, other, experiment.copies) for name, other in added]
            steps, given = [*steps, *made, *copied], [step.name for step in copied]
        source, links, *annotation = given
        if self.source == "ja":
            links, given = f"{links}.ja-en", links
            command = ("preorder", "map", "--align", given, "--reverse", "--out", links)
            steps.append(Step(links, command, (given,), (links,)))
        return source, (*layer[:1], *annotation), links, steps


def _with_copies(given: str, added: str, copies: int) -> Step:
    """Return the step that appends copies of a file to another one, under a name of their own."""
    out = f"{given}.and-{copies}-hand"
    return Step(out, ("cat", given, *[added] * copies), (given, added), (out,), out)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(prog="python -m recipes.kftt.study", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--data", metavar="DIR", required=True, help="KFTT: see recipes/kftt/README.md")
    parser.add_argument("--run", metavar="DIR", required=True, help="folder of the work")
    tables = (ALIGNMENT, *dict.fromkeys(experiment.table for experiment in EXPERIMENTS))
    for name, choices in (("tables", tables), ("directions", DIRECTIONS), ("alignments", tuple(LINKS))):
        text = f"of {', '.join(choices)} (default: all)"
        parser.add_argument(f"--{name}", metavar="NAME,…", type=_names(choices), default=choices, help=text)
    parser.add_argument(
        "--stanza-dir", metavar="DIR", help="folder of Stanza's models (default: Stanza's own)"
    )
    text = f"lines of the table {ALIGNMENT}"
    options.add_number(parser, "--lines", options.positive, LINES, text)
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
            for name in arguments.alignments:
                runner.run(studies[0].align(name, arguments.lines))
            write_tables(runner.folder, runner.seconds)
        for experiment in (each for each in EXPERIMENTS if each.table in arguments.tables):
            if experiment.links != HAND:
                runner.run(studies[0].align(experiment.links, experiment.lines))
            runner.run(
                *(study.learn(experiment) for study in studies if study.direction in experiment.directions)
            )
            write_tables(runner.folder, runner.seconds)


def _prepare(arguments: argparse.Namespace) -> Step:
    data = str(Path(arguments.data).resolve())
    command = ("python", "-m", "recipes.kftt.prepare", "--data", data, "--out", DATA)
    return Step("prepare", (*command, "--seed", str(arguments.seed)), (), (DATA,))


if __name__ == "__main__":
    sys.exit(main())
