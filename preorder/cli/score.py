"""``preorder score``: score translations, and test which system is better."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from preorder.command_line import options, print_table, translations, visible
from preorder.command_line.paths import paths_by_name, runs_by_name
from preorder.command_line.translations import Translations
from preorder.errors import UsageError
from preorder.io import files
from preorder.metrics import METRICS
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from preorder.metrics.scoring import Scoring

EXAMPLES = """\
  preorder score --ref test.ja --hyp base=base.ja ours=ours.ja --baseline base --tokenize none
  preorder score --ref test.ja --hyp base=base/seed{1,2,3}.ja ours=ours/seed{1,2,3}.ja --pairwise
  preorder score --ref test.ja --hyp base=base.ja ours=ours.ja --align test.align --positions ours=positions
  preorder score --ref test.ja.1 --ref test.ja.2 --hyp ours.ja --metrics bleu,ribes --json

A name that is given several times is one system with several runs: the table has the mean of their
scores, and the standard deviation.

BLEU is precision times brevity penalty. A warning names systems whose BLEU rises by length alone.

BLEU and chrF are 0 to 100, RIBES is 0 to 1, TER is from 0 (less is better). Every metric has
the defaults of its reference tool. BLEU's tokenizer is 13a, which is meant for plain text: score
text that is tokenised already with --tokenize none. TER and RIBES split text at spaces, unless
--words names a tokenizer, and take upper and lower case as the same.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder score``."""
    translations.add_options(parser)
    text = "mark scores that are significantly better or worse than this system's"
    options.add_files(parser, "NAME", baseline=text)
    options.add_flags(parser, pairwise="also print the p-values of every pair of systems")
    text = "alignment of source and reference: also measure the orders of --order and --positions"
    options.add_files(parser, align=text)
    text = "the order that a system is given, {}; systems without one keep the source's"
    options.add_orders(parser, text, metavar="NAME=F", nargs="+", action="extend", default=[])
    translations.add_metrics(parser, METRICS)
    translations.add_metric_options(parser)
    options.add_seed(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the scores of each system, and what differs significantly."""
    from preorder.analysis.results import length_warnings
    from preorder.metrics.scoring import check_system

    given = options.taken(Translations, arguments)
    systems = runs_by_name(arguments.hyp)
    positions, orders = map(paths_by_name, (arguments.positions, arguments.order))
    for name in (arguments.baseline, *positions, *orders):
        if name is not None:
            check_system(name, systems)
    for name in positions.keys() & orders.keys():
        raise UsageError(f"system {name!r} has two orders")
    if bool(positions or orders) != bool(arguments.align):
        raise UsageError("--align and the orders of a system (--order, --positions) go together")
    data = given.read(alignment=arguments.align, positions=positions, orders=orders)
    found = data.score(arguments.metrics, arguments.baseline)
    for line in length_warnings(found):
        LOGGER.warning(line)
    if arguments.json:
        files.write_json(files.STANDARD, asdict(found))
        return
    _print(found, arguments.baseline)
    if arguments.pairwise:
        _print_pairwise(found)


def _print(scoring: Scoring, baseline: str | None) -> None:
    """Print the scores, the counts behind them, and the signatures; marks as in Kawara et al. 2021."""
    from preorder.analysis.analyses import OPERATIONS
    from preorder.analysis.results import BLEU_SCORES, BREAKDOWN_TITLES, SCORE_FORMATS

    names = list(scoring.best)
    if "bleu" in names:
        _print_scores(scoring, BLEU_SCORES, at_equal_length=True)
    if others := [name for name in names if name not in (*BLEU_SCORES, *OPERATIONS)]:
        _print_scores(scoring, others)
    if "bleu" in names:
        columns = ["system", *(f"{n}-gram" for n in range(1, 5))]
        rows = [
            [system, *(f"{x:.1f}" for x in found["bleu_precisions"])]
            for system, found in scoring.systems.items()
        ]
        print_table("BLEU's n-gram precisions, %", columns, rows)
    if "ter" in names:
        print(f"\n{BREAKDOWN_TITLES['generation']}")
        _print_scores(scoring, OPERATIONS)
    for line in _legend(scoring, baseline):
        print(visible(line))
    for name, signature in scoring.signature.items():
        print(f"{SCORE_FORMATS[name].title if name in SCORE_FORMATS else name}  {signature}")


def _print_pairwise(scoring: Scoring) -> None:
    from preorder.analysis.results import SCORE_FORMATS, difference, p_values

    for name in scoring.best:
        rows = []
        for one, others in scoring.pairwise.items():
            compared = {other: found[name] for other, found in others.items()}
            cells = {other: f"{difference(name, c)} ({p_values(c)})" for other, c in compared.items()}
            rows.append([one, *(cells.get(other, "") for other in scoring.systems)])
        title = f"{SCORE_FORMATS[name].title}: row less column (p of the bootstrap, of the sign test)"
        print_table(title, ["", *scoring.systems], rows)


def _print_scores(scoring: Scoring, names: Sequence[str], at_equal_length: bool = False) -> None:
    """Print scores with their marks, below them the intervals, and the p-values against the baseline."""
    import numpy as np
    from rich.text import Text

    from preorder.analysis.results import difference, p_values, score_cell, score_titles

    def cell(system: str, name: str) -> Text:
        cell = score_cell(scoring, system, name)
        score = f"{cell.mean}{'*' if cell.is_best else ''}{cell.arrow}"
        p_line = f"\np {cell.p_values}" if cell.p_values else ""
        return Text.assemble((score, "bold" if cell.is_best else ""), f"\n{cell.interval}{p_line}")

    def equal(system: str) -> str:
        """Return the difference from the baseline's BLEU at equal length, and of how many sentences."""
        if (found := scoring.equal_length.get(system)) is None:
            return ""
        compared = found.comparisons["bleu"]
        low, high = compared.interval
        change = f"{difference('bleu', compared)}\n[{low:+.2f}, {high:+.2f}]\np {p_values(compared)}"
        return f"{change}\n{np.mean(found.sentences):.0f} sentences"

    rows: list[list[Any]] = [[system, *(cell(system, name) for name in names)] for system in scoring.systems]
    columns = ["system", *score_titles(names)]
    if at_equal_length and scoring.equal_length:
        columns.append("BLEU at equal length")
        rows = [[*row, equal(row[0])] for row in rows]
    print_table(None, columns, rows, lines=True)


def _legend(scoring: Scoring, baseline: str | None) -> Iterator[str]:
    from preorder.analysis.results import SCORE_FORMATS, score_titles
    from preorder.metrics.scoring import LENGTH_TOLERANCE
    from preorder.metrics.significance import SIGNIFICANCE_LEVEL

    yield "in square brackets: 95% of the bootstrap's resamples"
    if any(runs.deviation is not None for found in scoring.runs.values() for runs in found.values()):
        yield "± standard deviation over the runs of a system; the score is their mean"
    if len(scoring.systems) > 1:
        best = "* the best system, and those not significantly worse"
        yield f"{best} (paired bootstrap, p < {SIGNIFICANCE_LEVEL})"
    if baseline is not None:
        yield f"↑ ↓ significantly better, worse than {baseline}; p of the paired bootstrap, of the sign test"
    if scoring.equal_length:
        share = f"{LENGTH_TOLERANCE:.0%} of the longer translation"
        yield f"at equal length: the gain where both systems' lengths differ by at most {share}"
    if lower := [name for name in scoring.best if not SCORE_FORMATS[name].higher_is_better]:
        yield f"less is better: {', '.join(score_titles(lower))}"
