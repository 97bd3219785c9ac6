"""Print the tables of the five papers, with the papers' figures beside ours; train first what is missing.

The tables are in config/papers, a file a paper. A translation that is kept in recipes/, or that an earlier
command has made in the folder with the same options and data, is not made again. Figures of other corpora
and larger models cannot equal ours: what can be compared is which system gains, and how much.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import yaml

from onmt_preorder.base_configuration import CONFIG
from preorder.command_line.paths import paths_by_name
from preorder.errors import DataError, UsageError, shown
from preorder.io import files
from preorder_recipes import robustness
from preorder_recipes import run as main_job
from preorder_recipes.commands import add_folder, execute, make_parser
from preorder_recipes.configuration import read_system
from preorder_recipes.paper_page import tables_of
from preorder_recipes.paper_tables import (
    SWAPPED,
    Experiment,
    PaperTable,
    Row,
    command_line,
    parsed_options,
    read_paper,
)
from preorder_recipes.pipeline.job import DATA, Search, host_of
from preorder_recipes.pipeline.prepare import MODEL as PREORDERER
from preorder_recipes.pipeline.runner import StepRunner
from preorder_recipes.pipeline.score import ROBUSTNESS
from preorder_recipes.pipeline.steps import Step
from preorder_recipes.pipeline.train import SUBWORD_MODEL

PAPERS = tuple(sorted(path.stem for path in (CONFIG / "papers").glob("*.yaml")))
ALL = "all"
TABLES = "## Tables"  # the heading of a page below which its tables stand
SHARES = "0,10,20,30,40,50"  # percentages of the words that are swapped
VARIANTS = "variants"  # the folder of systems that differ from one in config/system in some options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(run)
    add = parser.add_argument
    add("paper", choices=(*PAPERS, ALL), nargs="?", default=ALL, help="(default: %(default)s)")
    add("--table", metavar="NAME", action="append", help="only this one, as II; repeat it for several")
    add("--data", metavar="CORPUS=DIR", nargs="+", default=[], help="data folders, as enja=DIR")
    add_folder(parser)
    add("--out", metavar="F", default=files.STANDARD, help="Markdown (default: standard output)")
    text = f"instead, put the tables of each paper into DIR/PAPER.md, below the line '{TABLES}'"
    add("--pages", metavar="DIR", type=Path, help=text)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--plan", action="store_true", help="only say what would be trained, and for how long")
    what.add_argument("--no-training", action="store_true", help="print what there is, name what is missing")
    text = "all that follows: further options of preorder_recipes.run, as --size tiny --steps 20"
    add("--also", metavar="OPTION", nargs=argparse.REMAINDER, default=[], help=text)
    return execute(parser, argv)


def run(arguments: argparse.Namespace) -> None:
    """Train what is missing and write the tables."""
    names = PAPERS if arguments.paper == ALL else [arguments.paper]
    corpora = {name: Path(path) for name, path in paths_by_name(arguments.data).items()}
    papers = [read_paper(CONFIG / "papers" / f"{name}.yaml", arguments.folder, corpora) for name in names]
    if arguments.pages and arguments.table:
        raise UsageError("--pages: a page has all tables of its paper: leave out --table")
    known = [table.name for paper in papers for table in paper.tables]
    wanted = known if arguments.table is None else arguments.table
    for paper in papers if arguments.pages else ():  # before hours of training
        _head(arguments.pages / f"{paper.name}.md")
    for name in wanted:
        if name not in known:
            raise UsageError(f"--table: there is no {shown(name)}; there are: {'; '.join(known)}")
    chosen = []
    for paper in papers:
        named = tuple(one for one in paper.tables if one.name in wanted)
        chosen += [replace(paper, tables=named)] if named else []
    if not arguments.no_training:
        tables = [table for paper in chosen for table in paper.tables]
        with contextlib.redirect_stdout(sys.stderr):  # which the page may go to
            train(tables, arguments.also, arguments.plan)
            for table in tables:
                if table.analysis == SWAPPED and not arguments.plan:
                    _swap_words(table, arguments.also)
    if arguments.plan:
        return
    if arguments.pages is None:
        files.write_lines(
            arguments.out, [line for paper in chosen for line in (f"# {paper.title}", "", *tables_of(paper))]
        )
    for paper in chosen if arguments.pages else ():
        path = arguments.pages / f"{paper.name}.md"
        files.write_lines(str(path), [*_head(path), "", *tables_of(paper)][:-1])


def _head(path: Path) -> list[str]:
    """Return the lines of a page as far as the heading of its tables."""
    lines = list(files.read_lines(str(path)))
    if TABLES not in lines:
        raise DataError(f"no line '{TABLES}', below which the tables stand", str(path))
    return lines[: lines.index(TABLES) + 1]


def train(tables: Sequence[PaperTable], more: Sequence[str], only_plan: bool) -> None:
    """Train and translate what is not kept, a run after the other; say first what is missing.

    A run does again only that whose options or data have changed. What is kept in recipes/ serves as well:
    translations, what a table's commands have printed, or scores with swapped words.
    """
    wanted: dict[Experiment, dict[str, Row]] = {}
    for table in tables:
        for row in table.rows:
            if not row.is_kept(table):
                wanted.setdefault(row.experiment, {})[row.system] = row
    plan = []
    for experiment, systems in wanted.items():
        seeds = parsed_options(experiment, more).seeds
        made = {name: len(row.made(f"test.{experiment.target}")) for name, row in systems.items()}
        missing = {name: len(seeds) - number for name, number in made.items() if number < len(seeds)}
        if count := sum(missing.values()):
            trainings = f"{count} training{'s' * (count > 1)}"
            hours = f"{count * experiment.minutes / 60:.1f} core hours"
            plan.append(f"{experiment.folder.name}: {trainings}, {hours}: {', '.join(missing)}")
    if plan or only_plan:
        print("\n".join(plan or ["nothing is missing"]), file=sys.stderr)
    if only_plan:
        return
    for experiment in wanted:  # before hours of training
        experiment.data_folder()
    for experiment, systems in wanted.items():
        names = [_written(row) if row.changes else row.system for row in systems.values()]
        line = ["--data", str(experiment.data_folder()), *command_line(experiment, names, more)]
        main_job.run(main_job.build_parser().parse_args(line))
    for row in (row for table in tables for row in table.rows):
        if row.translate and row.made("model.pt"):
            _translate(row, more)


def _translate(row: Row, more: Sequence[str]) -> None:
    """Translate the test set with all models of a system: as its run does, but for the row's own options."""
    line = command_line(row.experiment, [_written(row) if row.changes else row.system], more)
    job = main_job.job_of(main_job.build_parser().parse_args(line))
    (system,) = job.systems
    runner, source, steps = StepRunner(job.folder, 1), job.source_of(system, "test"), []
    for path in row.made("model.pt"):
        model, made = (str(one.relative_to(runner.folder)) for one in (path, path.with_name(row.translation)))
        seed = int(path.parent.name.removeprefix("seed"))
        command = host_of(job).translate_command(job, system, seed, model, source)
        command += ("-output", made, *row.translate)  # the last counts
        name = "".join(("translate/", row.system, "-", path.parent.name, *row.translate))
        steps.append(Step(name, command, (model, source), (made,)))
    with runner.alone():
        runner.run(steps)


def _swap_words(table: PaperTable, more: Sequence[str]) -> None:
    """Let the first model of each system translate the test set with swapped words."""
    experiment, models = table.rows[0].experiment, [row.made("model.pt") for row in table.rows]
    if not all(models):  # what is known of these systems is kept in recipes/
        return
    given = parsed_options(experiment, more)
    test, target = (experiment.folder / DATA / f"test.{side}" for side in (given.source, given.target))
    line = ["--src", str(test), "--ref", str(target), "--run", str((experiment.folder / ROBUSTNESS).parent)]
    line += ["--percent", SHARES]
    for name in ("jobs", "device", *(field.name for field in fields(Search))):
        line += [f"--{name.replace('_', '-')}", str(getattr(given, name))]
    kinds = {form: kind for kind, form in robustness.FORMS.items()}
    for row, (model, *_) in zip(table.rows, models, strict=True):
        system = read_system(row.base, given.size, given.subwords)
        line += [f"--{kinds[system.order and system.form]}", f"{row.base}={model}"]
    for option, path in (
        ("--preorderer", experiment.folder / PREORDERER),
        ("--pos", test.with_name(f"{test.name}.pos")),
        ("--subword-model", experiment.folder / SUBWORD_MODEL),
    ):
        line += [option, str(path)] if path.exists() else []
    robustness.run(robustness.build_parser().parse_args(line))


def _written(row: Row) -> str:
    """Write a system with its changes as a file of its own; return the path."""
    path = row.experiment.folder / VARIANTS / f"{row.system}.yaml"
    files.make_folder(str(path.parent))
    settings = {"base": str(CONFIG / "system" / f"{row.base}.yaml")} | row.changes
    files.write_bytes(str(path), yaml.safe_dump(settings, sort_keys=False).encode())
    return str(path)


if __name__ == "__main__":
    sys.exit(main())
