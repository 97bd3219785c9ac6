"""Print what each way to an order gains on Python's documentation, by the number of pairs, and draw it.

A column for each archive recipes/pydocs/translations/pydocs-SOURCE-TARGET-PAIRS, a row for each way: the gain
of BLEU over the baseline, and in brackets that of n-gram precision; in bold where p < 0.05. "of 1": of one
training, where the baseline has more.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from preorder.analysis.plots import INTERVAL, add_legend, new_figure, numbers, styles, write_picture
from preorder.analysis.results import BLEU_SCORES, SCORE_FORMATS, Estimate
from preorder.command_line.paths import paths_by_name
from preorder.errors import UsageError
from preorder.io import files
from preorder.metrics.scoring import Scoring
from preorder.metrics.significance import SIGNIFICANCE_LEVEL
from preorder_recipes.archives import kept_files, read_translations
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.configuration import BASELINE
from preorder_recipes.pipeline.leaderboard import markdown_rows
from preorder_recipes.pipeline.runner import ROOT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = ROOT / "recipes" / "pydocs" / "translations"
NAME = re.compile(r"pydocs-(\w\w)-(\w\w)-(\d+)")
DRAWN = {
    "gold": "gold order",
    "preorder_gold_trained_adapted": "adapted order",
    "preorder_gold_trained": "own order, btg",
    "preorder_gold_trained_transfer": "transferred order",
    "guided": "guided attention",
}
WAYS = {
    "preorder_relative_transfer": "transferred order, no links",
    "preorder_rotary_transfer": "… with rotary encodings in place of relative ones",
    "preorder_gold_trained_transfer": "transferred order, trained with the gold one",
    "preorder_relative_domain": "order from other text, no links",
    "preorder_gold_trained_domain": "order from other text, trained with the gold one",
    "preorder_gold_trained": "own order, `btg`",
    "preorder_gold_trained_network": "own order, `neural-btg` and tags",
    "preorder_gold_trained_adapted": "adapted order",
    "gold": "gold order",
    "guided": "guided attention, no order",
    "rnnsearch": "RNNsearch* in place of the Transformer",
}
"""System of the archives → how it comes to its order."""


@dataclass(frozen=True)
class Setting:
    """An archive: a direction, how many pairs there are, and what its systems score."""

    source: str
    target: str
    pairs: int
    trainings: dict[str, int]  # of each system
    scores: Scoring

    @property
    def direction(self) -> str:
        """Source and target."""
        return f"{self.source.capitalize()}→{self.target.capitalize()}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(run)
    add = parser.add_argument
    what = "data folders by the language that is not English, as ja=DIR tr=DIR, with the test sets"
    add("--data", metavar="XX=DIR", nargs="+", required=True, help=what)
    add("--out", metavar="F", default=files.STANDARD, help="Markdown (default: standard output)")
    add("--picture", metavar="F", help="draw gain against pairs, a line a way: .png, .svg or .pdf")
    return execute(parser, argv)


def run(arguments: argparse.Namespace) -> None:
    """Read the archives, print the table and draw the picture."""
    folders = {name: Path(path) for name, path in paths_by_name(arguments.data).items()}
    settings = sorted(read_settings(folders), key=lambda one: (one.direction, one.pairs))
    if not settings:
        raise UsageError(f"--data: no archive of {', '.join(folders)}")
    files.write_lines(arguments.out, markdown_rows(list(table(settings))))
    if arguments.picture:
        title = "Gains of BLEU by the number of training pairs"
        write_picture(partial(draw, settings), title, arguments.picture)


def read_settings(folders: dict[str, Path]) -> Iterator[Setting]:
    """Yield each archive of these languages, scored."""
    for path in FOLDER.glob("*.tar.xz"):
        archive = path.name.removesuffix(".tar.xz")
        if (match := NAME.fullmatch(archive)) and (folder := folders.get(match[1]) or folders.get(match[2])):
            source, target, pairs = match.groups()
            named = {name: kept_files(archive, f"{name}.seed*.{target}") for name in (BASELINE, *WAYS)}
            systems = {name: found for name, found in named.items() if found}
            trainings = {name: len(found) for name, found in systems.items()}
            data = read_translations(str(folder / f"test.{target}"), systems)
            yield Setting(source, target, int(pairs), trainings, data.score(("bleu",), BASELINE))


def table(settings: Sequence[Setting]) -> Iterator[list[str]]:
    """Yield the titles of the columns, then a row for the baseline and for each way."""
    yield ["", *(f"{one.direction}, {one.pairs:,}" for one in settings)]
    yield ["*trainings*", *(str(one.trainings[BASELINE]) for one in settings)]
    for name in BLEU_SCORES:
        form = SCORE_FORMATS[name]
        yield [
            f"*baseline: {form.title}*",
            *(form.format(one.scores.systems[BASELINE][name]) for one in settings),
        ]
    for name, label in WAYS.items():
        if any(name in one.scores.systems for one in settings):
            yield [label, *(_cell(one, name) for one in settings)]


def _cell(setting: Setting, name: str) -> str:
    """Return what a system gains in BLEU and in precision, and its trainings if the baseline has more."""
    if name not in setting.trainings:
        return ""
    gain, precision = (_gain(setting.scores, name, score) for score in BLEU_SCORES[:2])
    trainings = setting.trainings[name]
    return f"{gain} ({precision})" + (f" of {trainings}" if trainings < setting.trainings[BASELINE] else "")


def _gain(scores: Scoring, name: str, score: str) -> str:
    gain = scores.significance[name][score]
    bold = "**" if gain.p_value < SIGNIFICANCE_LEVEL else ""
    return f"{bold}{SCORE_FORMATS[score].format_difference(gain.difference)}{bold}"


def draw(settings: Sequence[Setting]) -> Figure:
    """Draw a panel for each direction: gains of BLEU with 95% intervals against the number of pairs."""
    directions = [list(group) for _, group in groupby(settings, key=lambda one: one.direction)]
    directions = [group for group in directions if len(group) > 1]
    if not directions:
        raise UsageError("--picture: no direction has archives of two sizes")
    figure, panels = new_figure(len(directions))
    looks, handles = styles(list(DRAWN)), {}
    for axes, group in zip(panels, directions, strict=True):
        for k, name in enumerate(DRAWN):
            found = [
                (one.pairs, one.scores.significance[name]["bleu"])
                for one in group
                if name in one.scores.systems
            ]
            if not found:
                continue
            xs = [pairs * 1.03 ** (k - len(DRAWN) // 2) for pairs, _ in found]  # side by side
            gains, *errors = numbers([Estimate(gain.difference, gain.interval) for _, gain in found])
            look = {"color": looks[name].colour, "linestyle": looks[name].line, "marker": looks[name].marker}
            handles[DRAWN[name]] = axes.errorbar(
                xs, gains, errors, markersize=4.5, linewidth=1.3, **look, **INTERVAL
            )
        axes.set_xscale("log")
        pairs = [one.pairs for one in group]
        axes.set_xticks(pairs, [f"{number:,}" for number in pairs])
        axes.minorticks_off()
        axes.axhline(0, color="#000000", linewidth=0.6)
        axes.set_ylabel(f"{group[0].direction}: gain of BLEU")
    panels[-1].set_xlabel("training pairs")
    add_legend(figure, handles)
    return figure


if __name__ == "__main__":
    raise SystemExit(main())
