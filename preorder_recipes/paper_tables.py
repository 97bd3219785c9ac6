"""The tables of a paper: which systems they compare, and where the translations are."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from onmt_preorder.base_configuration import CONFIG
from preorder.errors import UsageError
from preorder_recipes import run as main_job
from preorder_recipes.archives import kept_files
from preorder_recipes.pipeline.job import DATA

SWAPPED = "robustness"  # the analysis of translations of a source with swapped words
BY_LENGTH = "length"


class NoCorpusError(UsageError):
    """The folder of a corpus is not given."""


@dataclass(frozen=True)
class Experiment:
    """A run of ``preorder_recipes.run``, in a folder of its name.

    Attributes:
        data: name of the corpus, whose folder is ``corpus``.
        minutes: what a training takes on one core, about.
        options: of ``preorder_recipes.run``, without data, languages, systems and ``--preorder``.
        kept: name of the archive in ``recipes/*/translations`` whose translations need not be made again.
    """

    folder: Path
    corpus: Path | None
    data: str
    source: str
    target: str
    minutes: float
    options: tuple[str, ...] = ()
    preorder: tuple[str, ...] = ()
    kept: str | None = None

    def data_folder(self) -> Path:
        """Return the folder of the corpus, which must be given."""
        if self.corpus is None:
            raise NoCorpusError(f"--data {self.data}=DIR is needed for {self.folder.name}")
        return self.corpus

    def test_set(self, side: str) -> str:
        """Return the file of one side of the test set."""
        return self.made_of_test_set(side) or str(self.data_folder() / f"test.{side}")

    def made_of_test_set(self, end: str) -> str | None:
        """Return the file ``test.END`` that a run has made, or one that is kept in ``recipes/``."""
        own = self.folder / DATA / f"test.{end}"
        found = [own] if own.exists() else kept_files(self.kept, own.name)
        return str(found[0]) if found else None


def command_line(experiment: Experiment, systems: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return the options of ``preorder_recipes.run`` for systems of a run, without the data."""
    named = ("--systems", ",".join(systems)) if systems else ()
    sides = ("--src", experiment.source, "--tgt", experiment.target)
    last = ("--preorder", *experiment.preorder) if experiment.preorder else ()
    return [*sides, "--run", str(experiment.folder), *named, *experiment.options, *more, *last]


def parsed_options(experiment: Experiment, more: Sequence[str] = ()) -> argparse.Namespace:
    """Return the options of ``preorder_recipes.run`` for a run, parsed."""
    return main_job.build_parser().parse_args(command_line(experiment, [], more))


@dataclass(frozen=True, eq=False)
class Row:
    """A system in a table.

    Attributes:
        changes: options in which it differs from the system ``base`` in ``config/system``.
        translate: options of ``onmt_translate``, where it searches otherwise than its run.
        paper: the paper's figure of each measure that it has.
    """

    label: str
    experiment: Experiment
    base: str
    changes: dict[str, Any]
    translate: tuple[str, ...]
    paper: dict[str, float]

    @property
    def system(self) -> str:
        """The name of the system."""
        return "-".join([self.base, *(f"{key}-{value}" for key, value in self.changes.items())])

    @property
    def translation(self) -> str:
        """The name of the file with the translation of the test set."""
        return "".join(("test", *self.translate, ".", self.experiment.target))

    def made(self, name: str) -> list[Path]:
        """Return the files of a name, one of each training, if they are there."""
        return sorted(self.experiment.folder.glob(f"systems/{self.system}/seed*/{name}"))

    def kept(self) -> list[Path]:
        """Return the translations of all trainings that are kept in ``recipes/``."""
        name = "".join((self.system, *self.translate))
        return kept_files(self.experiment.kept, f"{name}.seed*.{self.experiment.target}")

    def translations(self) -> list[Path]:
        """Return the translations of all trainings, made here or kept."""
        return self.made(self.translation) or self.kept()

    def kept_output(self, table: str) -> list[Path]:
        """Return the file in ``recipes/``, if there is one, of what a table's last command has printed."""
        return kept_files(self.experiment.kept, f"{self.system}.{table}.txt")

    def is_kept(self, table: PaperTable) -> bool:
        """Return whether ``recipes/`` has all that a table needs of the system."""
        if table.commands:
            return bool(self.kept_output(table.name))
        return bool(kept_curves(self.experiment) if table.analysis == SWAPPED else self.kept())


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of a paper.

    Attributes:
        measures: columns: scores of ``preorder score``, ``precision_N``, or costs of ``results.json``.
        analysis: ``length``, ``examples`` or ``robustness``, in place of the measures.
        commands: what is run for each row in the folder of its run, with ``{model}`` in place of its model
            and ``{corpus}`` in place of the corpus' folder. The table is what the last of them prints, or
            the numbers among it, if it is JSON, that the measures name.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    measures: tuple[str, ...] = ()
    analysis: str | None = None
    commands: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper's tables. What holds of them here is said in ``docs/papers/NAME.md``."""

    name: str
    title: str
    tables: tuple[PaperTable, ...]


def read_paper(path: Path, runs: Path, corpora: Mapping[str, Path]) -> Paper:
    """Read a file of ``config/papers``, given the folder of all runs and those of corpora."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    shared, experiments = yaml.safe_load((CONFIG / "runs.yaml").read_text(encoding="utf-8")), {}
    for name, given in (shared | content["runs"]).items():
        texts = {key: tuple(str(given.get(key, "")).split()) for key in ("options", "preorder")}
        experiments[name] = Experiment(runs / name, corpora.get(given["data"]), **given | texts)
    tables = []
    for given in content["tables"]:
        lists: dict[str, Any] = {key: tuple(given.get(key, ())) for key in ("measures", "commands")}
        own = {key: given[key] for key in ("name", "title", "analysis", "note") if key in given}
        rows = []
        for row in given["rows"]:
            figures = dict(zip(lists["measures"], row.get("paper", ()), strict=False))
            experiment, search = experiments[row.get("run") or given["run"]], row.get("translate", "").split()
            changes = row.get("set", {})
            rows.append(Row(row["row"], experiment, row["system"], changes, tuple(search), figures))
        tables.append(PaperTable(rows=tuple(rows), **own, **lists))
    return Paper(path.stem, content["title"], tuple(tables))


def kept_curves(experiment: Experiment) -> list[Path]:
    """Return the files in ``recipes/`` of the scores with swapped words, one of each training."""
    return kept_files(experiment.kept, "robustness.*json")
