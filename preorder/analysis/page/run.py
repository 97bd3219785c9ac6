"""Everything that is reported of a run, from its manifest."""

from __future__ import annotations

from collections.abc import Iterator

from preorder.analysis.breakdowns import generation_breakdown, precision_breakdown
from preorder.analysis.curves import gain_curves, length_curves
from preorder.analysis.defaults import CURVE_METRICS, EXAMPLE_METRIC, GAIN_WIDTH
from preorder.analysis.evaluation_data import EvaluationData, read_evaluation_data
from preorder.analysis.examples import system_examples
from preorder.analysis.page.galleries import order_galleries
from preorder.analysis.page.manifest import Manifest
from preorder.analysis.page.page import Chapter, Run
from preorder.analysis.results import parse_curves
from preorder.analysis.sentence_groups import by_length, fitting_width
from preorder.analysis.tables import scoring_table
from preorder.data import files
from preorder.data.errors import DataError
from preorder.metrics.metric import METRICS
from preorder.metrics.preordering import Preordering
from preorder.metrics.scoring import measure, score_systems

EXAMPLE_COUNT = 3  # of each sort, for each system


def report_run(manifest: Manifest, seed: int) -> Run:
    """Score and analyse a run.

    Raises:
        DataError: its files cannot be read, or do not go together.
        UsageError: a tokenizer is not installed.
    """
    data = read_evaluation_data(manifest.files, manifest.options, seed)
    measured = data.measure(METRICS)
    if data.target_groups:  # a system that is given no order has the source's
        orders = {name: [data.orders.get(name, data.monotone)] for name in data.systems}
        measured += measure([Preordering(data.target_groups)], orders)
    found = score_systems(measured, next(iter(data.systems)), seed)
    chapters = (*_analyses(manifest, data), *_robustness(manifest.robustness))
    return Run(manifest.title, len(data.references[0]), found.signature, scoring_table(found), chapters)


def _analyses(manifest: Manifest, data: EvaluationData) -> Iterator[Chapter]:
    baseline, *others = data.systems
    lengths = list(map(len, data.source))
    groups = by_length(lengths, *fitting_width(lengths))
    yield Chapter("By length", length_curves(data, CURVE_METRICS, groups))
    orders = {names[0]: ", ".join(names) for names in _orders(manifest)} if data.target_groups else {}
    for order, names in orders.items():
        curves = gain_curves(data, CURVE_METRICS, order, GAIN_WIDTH)
        yield Chapter(f"By what the order of {names} gains", curves)
    for order, gallery in order_galleries(data, list(orders), manifest.files.alignment).items():
        yield Chapter(f"Sentences in the order of {orders[order]}", gallery)
    yield Chapter("n-gram precisions", precision_breakdown(data, baseline))
    yield Chapter("Under- and over-generation", generation_breakdown(data, baseline))
    for system in others:
        chosen = system_examples(data, EXAMPLE_METRIC, baseline, system, EXAMPLE_COUNT)
        yield Chapter(f"Examples of {system}", chosen)


def _orders(manifest: Manifest) -> list[list[str]]:
    """Return the names of the systems that are given an order; those given the same one are together."""
    names: dict[str, list[str]] = {}
    for name, positions in manifest.files.orders.items():
        names.setdefault(positions, []).append(name)
    return list(names.values())


def _robustness(path: str | None) -> Iterator[Chapter]:
    if path is None:
        return
    try:
        yield Chapter("Swapped words", parse_curves(files.read_json(path)))
    except DataError as error:
        raise error.at(path, None) from None
