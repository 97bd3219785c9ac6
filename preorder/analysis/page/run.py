"""Everything that is reported of a run, from its manifest."""

from __future__ import annotations

from collections.abc import Iterator

from preorder.analysis.analyses import gain_curves, length_curves, orders_measured, system_examples
from preorder.analysis.defaults import EXAMPLE_METRIC, GAIN_WIDTH, METRICS
from preorder.analysis.figures import generation_figures, precision_figures
from preorder.analysis.groups import by_length, fitting_width
from preorder.analysis.material import Material, read_material
from preorder.analysis.page.manifest import Manifest
from preorder.analysis.page.page import Chapter, Run
from preorder.analysis.results import parse_curves
from preorder.analysis.tables import scoring_table
from preorder.data import files
from preorder.data.errors import DataError
from preorder.metrics import scoring

EXAMPLES = 3  # of each sort, for each system


def report_run(manifest: Manifest, seed: int) -> Run:
    """Score and analyse a run.

    Raises:
        DataError: its files cannot be read, or do not go together.
        UsageError: a tokenizer is not installed.
    """
    material = read_material(manifest.files, manifest.options, seed)
    measured = scoring.translations(material.references, material.systems, options=material.options)
    found = scoring.score_systems([*measured, *orders_measured(material)], next(iter(material.systems)), seed)
    chapters = (*_analyses(manifest, material), *_robustness(manifest))
    sentences = len(material.references[0])
    return Run(manifest.title, sentences, found.signature, scoring_table(found), chapters)


def _analyses(manifest: Manifest, material: Material) -> Iterator[Chapter]:
    baseline, *others = material.systems
    lengths = list(map(len, material.source))
    grouping = by_length(lengths, *fitting_width(lengths))
    yield Chapter("By length", length_curves(material, METRICS, grouping))
    for names in _orders(manifest) if material.keys else ():
        curves = gain_curves(material, METRICS, names[0], GAIN_WIDTH)
        yield Chapter(f"By what the order of {', '.join(names)} gains", curves)
    yield Chapter("n-gram precisions", precision_figures(material, baseline))
    yield Chapter("Under- and over-generation", generation_figures(material, baseline))
    for system in others:
        chosen = system_examples(material, EXAMPLE_METRIC, baseline, system, EXAMPLES)
        yield Chapter(f"Examples of {system}", chosen)


def _orders(manifest: Manifest) -> list[list[str]]:
    """Return the names of the systems that are told an order, those together that are told the same."""
    names: dict[str, list[str]] = {}
    for name, system in manifest.systems.items():
        if system.positions is not None:
            names.setdefault(system.positions, []).append(name)
    return list(names.values())


def _robustness(manifest: Manifest) -> Iterator[Chapter]:
    path = manifest.robustness
    if path is None:
        return
    try:
        yield Chapter("Swapped words", parse_curves(files.read_json(path)))
    except DataError as error:
        raise error.at(path, None) from None
