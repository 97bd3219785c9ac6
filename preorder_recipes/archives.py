"""Translations that are kept in ``recipes/*/translations``, an archive a run."""

from __future__ import annotations

import atexit
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from preorder.analysis.analyses import EvaluationData, EvaluationFiles, read_evaluation_data
from preorder.analysis.results import p_value
from preorder.metrics import MetricOptions
from preorder.metrics.scoring import Scoring
from preorder_recipes.pipeline.runner import ROOT


@cache
def _unpacked(archive: str) -> Path:
    """Return the folder of an archive's files, which is there until the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="preorder-")
    atexit.register(folder.cleanup)
    for path in ROOT.glob(f"recipes/*/translations/{archive}.tar.xz"):
        with tarfile.open(path) as tar:
            # Python before 3.10.12 or 3.11.4 has no filters; these archives come with the code.
            tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            tar.extractall(folder.name)
    return Path(folder.name)


def kept_files(archive: str | None, pattern: str) -> list[Path]:
    """Return the files of an archive whose names fit a pattern; none without an archive."""
    return sorted(_unpacked(archive).glob(f"*/{pattern}")) if archive else []


def read_translations(
    reference: str,
    systems: Mapping[str, Sequence[Path]],
    source: str | None = None,
    links: str | None = None,
    orders: Mapping[str, str] | None = None,
) -> EvaluationData:
    """Read the translations of systems, one of each training, with the tokenised test set."""
    runs = {name: list(map(str, paths)) for name, paths in systems.items()}
    paths = EvaluationFiles([reference], runs, source, links, orders or {})
    return read_evaluation_data(paths, MetricOptions(tokenize="none"), 1)


def score_cell(
    found: Scoring, system: str, name: str, form: Callable[[float], str], has_deviation: bool = True
) -> str:
    """Return a mean over the trainings, with its standard deviation where there are several, and p."""
    runs, compared = found.runs[system][name], found.significance.get(system, {}).get(name)
    deviation = "" if runs.deviation is None or not has_deviation else f" ± {form(runs.deviation)}"
    return form(runs.mean) + deviation + (f" ({p_value(compared.p_value)})" if compared else "")
