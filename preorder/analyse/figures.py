"""Figures of whole systems beside a baseline's."""

from __future__ import annotations

from collections.abc import Sequence

from preorder.analyse.material import Material, check_system
from preorder.analyse.measured import Detail, Measured, estimates, resampled_systems
from preorder.analyse.results import Figures
from preorder.metrics.metric import Figure
from preorder.metrics.significance import compare
from preorder.metrics.translation import bleu_precisions


def precision_figures(material: Material, baseline: str) -> Figures:
    """Return the precisions of 1- to 4-grams, in per cent (Kawara et al. 2021, Table VI).

    Raises:
        UsageError: there is no such baseline, or a tokenizer is not installed.
    """
    bleu = material.measure("bleu")
    precisions = [
        Figure(f"precision_{n + 1}", lambda totals, n=n: bleu_precisions(totals)[..., n]) for n in range(4)
    ]
    measured = [Measured(Detail(bleu.metric, precision), bleu.systems) for precision in precisions]
    return _figures("precision", measured, baseline, material.seed)


def _figures(kind: str, measured: Sequence[Measured], baseline: str, seed: int) -> Figures:
    names = list(measured[0].systems)
    check_system(baseline, names)
    resampled = resampled_systems(measured, seed)
    found = iter(zip(estimates(resampled), resampled, strict=True))
    systems: dict[str, dict] = {name: {} for name in names}
    significance: dict[str, dict] = {name: {} for name in names if name != baseline}
    for _ in measured:
        cells = {name: next(found) for name in names}
        _, (_, base) = cells[baseline]
        for name, (estimate, (metric, system)) in cells.items():
            systems[name][metric.name] = estimate
            if name != baseline:
                significance[name][metric.name] = compare(metric, system, base)
    signature = {one.metric.name: one.metric.signature for one in measured}
    return Figures(kind, systems, significance, signature)
