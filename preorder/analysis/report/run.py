"""What is reported of a run, from its manifest: scores, analyses, a few sentences in each order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from preorder.analysis.breakdowns import generation_breakdown, precision_breakdown
from preorder.analysis.curves import by_length, fitting_width, gain_curves, length_curves
from preorder.analysis.defaults import CURVE_METRICS, EXAMPLE_METRIC, GAIN_WIDTH
from preorder.analysis.evaluation_data import EvaluationData, read_evaluation_data
from preorder.analysis.examples import Examples, system_examples
from preorder.analysis.gallery import Gallery, Numbered, draw
from preorder.analysis.report.manifest import Manifest
from preorder.analysis.results import Breakdown, Curves, parse_curves
from preorder.analysis.sentence_view import SentenceView
from preorder.analysis.tables import Table, scoring_table
from preorder.data.formats import parse_tokens
from preorder.errors import DataError
from preorder.io import files
from preorder.metrics.metric import METRICS
from preorder.metrics.orders import Preordering
from preorder.metrics.scoring import measure, score_systems
from preorder.progress import LOGGER

EXAMPLE_COUNT = 3  # of each sort, for each system
SENTENCES = 10  # of a gallery
MAX_LENGTH = 40  # tokens of such a sentence, on either side

Content = Table | Curves | Breakdown | Examples | Gallery


@dataclass(frozen=True)
class Chapter:
    """A part of a run's section: a heading, and a result."""

    heading: str
    content: Content


@dataclass(frozen=True)
class Run:
    """A run's title, how many sentences it was measured on, each metric's signature, scores, and chapters."""

    title: str
    sentences: int
    signature: dict[str, str]
    scores: Table
    chapters: tuple[Chapter, ...]


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


def order_galleries(
    data: EvaluationData, orders: Sequence[str], alignment_path: str | None
) -> dict[str, Gallery]:
    """Return for each named order the same sentences, drawn by the data's seed.

    They are linked to the first reference, have 1 to ``MAX_LENGTH`` tokens on either side, and links that can
    be sorted. There is none if there is no such sentence; nor, which is said, if the reference has fewer
    tokens than the links ask for: then it is not the text that was aligned.
    """
    if not (data.source and data.alignments and orders):
        return {}
    targets = [parse_tokens(line) for line in data.references[0]]
    for number, (alignment, target) in enumerate(zip(data.alignments, targets, strict=True), 1):
        try:
            alignment.check_within(None, len(target))
        except DataError as error:
            reason = "the reference is not the text that was aligned, so no sentences are drawn"
            LOGGER.warning(f"{error.at(alignment_path, number)}: {reason}")
            return {}
    fitting = [i for i in range(len(targets)) if _fits(data, i, len(targets[i]))]
    chosen, total = draw(fitting, SENTENCES, data.seed)
    if not chosen:
        return {}
    fitted = f"{total} sentences of at most {MAX_LENGTH} tokens"
    text = f"{len(chosen)} of {fitted}, drawn at random, seed {data.seed}"

    def view(name: str, i: int) -> SentenceView:
        return SentenceView(data.source[i], data.orders[name][i], None, targets[i], data.alignments[i])

    return {name: Gallery(text, tuple(Numbered(i + 1, view(name, i)) for i in chosen)) for name in orders}


def _fits(data: EvaluationData, i: int, target_length: int) -> bool:
    lengths = len(data.source[i]), target_length
    return data.target_groups[i] is not None and all(1 <= length <= MAX_LENGTH for length in lengths)
