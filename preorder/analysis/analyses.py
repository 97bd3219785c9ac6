"""The analyses of a test set, each from its material to its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from preorder.analysis.curves import curves, grouped_curves
from preorder.analysis.examples import Corpus, Examples, examples
from preorder.analysis.groups import Grouping, by_gain
from preorder.analysis.material import Material, check_system
from preorder.analysis.measured import Measured, Systems, Tau, measure
from preorder.analysis.results import Curves, Group
from preorder.data.errors import UsageError
from preorder.data.types import Permutation
from preorder.metrics import scoring
from preorder.metrics.metric import MetricOptions
from preorder.metrics.preordering import Preordering
from preorder.metrics.scoring import Text

UNREORDERED = "unreordered"
"""What the source as it is is called among the orders."""


def length_curves(material: Material, metrics: Sequence[str], grouping: Grouping) -> Curves:
    """Score systems and, where there is an alignment, orders by the length of the source.

    Raises:
        UsageError: a tokenizer is not installed.
    """
    measured = [material.measure(name) for name in metrics]
    if material.keys:
        kept = [Permutation.identity(len(words)) for words in material.source]
        orders = {UNREORDERED: kept, **material.orders}
        measured.append(Measured.of(Tau(material.keys), {name: [order] for name, order in orders.items()}))
    return grouped_curves("length", grouping, measured, material.seed)


def orders_measured(material: Material) -> list[scoring.Measured]:
    """Return the measure of the order that each system is told, or the source's; none without an alignment.

    Raises:
        DataError: no alignment can be sorted.
    """
    if not material.keys:
        return []
    kept = [Permutation.identity(len(words)) for words in material.source]
    orders = {name: [material.orders.get(name, kept)] for name in material.systems}
    return [scoring.Measured(Preordering(material.keys), orders)]


def gain_curves(material: Material, metrics: Sequence[str], order: str, width: float) -> Curves:
    """Score systems by what an order gains a sentence in tau.

    Raises:
        UsageError: a tokenizer is not installed.
    """
    grouping = by_gain(Tau(material.keys).gains(material.orders[order]), width)
    return grouped_curves("gain", grouping, [material.measure(name) for name in metrics], material.seed)


def system_examples(material: Material, metric: str, baseline: str, system: str, count: int) -> Examples:
    """Show where the first run of a system differs most from that of a baseline.

    Raises:
        UsageError: there is no such system, both are one, or a tokenizer is not installed.
    """
    for name in (baseline, system):
        check_system(name, material.systems)
    if baseline == system:
        raise UsageError(f"{system!r} is not to be compared with itself")
    reordered = {
        name: [" ".join(order.apply(words)) for order, words in zip(orders, material.source, strict=True)]
        for name, orders in material.orders.items()
    }
    source = [" ".join(words) for words in material.source]
    first = {name: runs[0] for name, runs in material.systems.items()}
    corpus = Corpus(source, reordered, material.references, first)
    return examples(corpus, material.measure(metric), baseline, system, count)


def robustness_curves(
    references: Sequence[Text],
    by_percent: Mapping[int, Systems],
    metrics: Sequence[str],
    options: MetricOptions,
    seed: int,
) -> Curves:
    """Score translations of a source with ever more words swapped (Chen et al. 2019, Figures 3 to 5).

    Args:
        references: of the source as it was.
        by_percent: per cent of the words that were swapped → system → translations of each run.
        metrics: what to score by.
        options: of the metrics.
        seed: of the resampling.

    Raises:
        UsageError: a tokenizer is not installed.
        DataError: the texts are not all of one length.
    """

    def parts() -> Iterator[tuple[Group, list[Measured]]]:
        for percent, systems in by_percent.items():
            group = Group(str(percent), len(references[0]))
            yield group, [measure(name, references, systems, options) for name in metrics]

    return curves("robustness", "source words swapped (%)", parts(), 0, seed)
