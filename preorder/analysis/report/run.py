"""``report.json``: which files a run has, and how to measure them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preorder.analysis import CURVE_METRICS, EXAMPLE_METRIC, GAIN_WIDTH
from preorder.analysis.breakdowns import generation_breakdown, precision_breakdown
from preorder.analysis.curves import by_length, fitting_width, gain_curves, length_curves
from preorder.analysis.evaluation_data import EvaluationData, EvaluationFiles, read_evaluation_data
from preorder.analysis.examples import Examples, system_examples
from preorder.analysis.results import Breakdown, Curves, Table, parse_curves, scoring_table
from preorder.analysis.sentence_view import Gallery, Numbered, SentenceView, sample
from preorder.data.formats import parse_tokens
from preorder.errors import DataError
from preorder.io import files
from preorder.metrics import DEFAULTS, METRICS, TOKENIZERS, MetricOptions
from preorder.metrics.orders import Preordering
from preorder.metrics.scoring import measure, score_systems
from preorder.progress import LOGGER

MANIFEST = "report.json"


@dataclass(frozen=True)
class Manifest:
    """A run; paths are complete, so that the program can open them.

    Attributes:
        title: name of the run.
        files: the test set, with the positions given to systems as input; the first system is the baseline.
        options: of the metrics.
        robustness: what ``preorder analyse robustness --json`` has written, or None.
    """

    title: str
    files: EvaluationFiles
    options: MetricOptions
    robustness: str | None

    def paths(self) -> list[str]:
        """Return the files that the run names."""
        texts, one = self.files, [self.files.source, self.files.alignment, self.robustness]
        translations = (path for runs in texts.systems.values() for path in runs)
        several = (*texts.references, *translations, *texts.orders.values())
        return [*several, *(path for path in one if path is not None)]


def find_manifests(folder: str) -> list[Path]:
    """Return the manifest of a folder, or those of the folders in it."""
    top = Path(folder)
    found = [top / MANIFEST] if (top / MANIFEST).exists() else sorted(top.glob(f"*/{MANIFEST}"))
    if not found:
        raise DataError(f"no {MANIFEST} in it, nor in a folder in it", folder)
    return found


def read_manifest(path: Path, also: Sequence[str] = ()) -> Manifest:
    """Read a manifest; its paths are relative to its folder, in which they must lie.

    Args:
        path: of the manifest, which need not be trusted.
        also: files and folders that it may name, too.
    """
    try:
        return _parse(files.read_json(str(path)), path.parent, also)
    except DataError as error:
        raise error.at(str(path), None) from None


def _parse(value: Any, folder: Path, also: Sequence[str]) -> Manifest:
    fields = _fields(
        value,
        "report",
        {
            "title": _text,
            "source": _text,
            "references": _texts,
            "alignment": _optional(_text),
            "systems": _systems,
            "tokenize": _optional(_tokenizer),
            "words": _optional(_tokenizer),
            "case_sensitive": _optional(_truth),
            "robustness": _optional(_text),
        },
    )

    def within(name: str | None) -> str | None:
        return None if name is None else _allowed(folder / name, (str(folder), *also))

    systems = fields["systems"]
    paths = EvaluationFiles(
        references=list(map(within, fields["references"])),
        systems={name: list(map(within, one["runs"])) for name, one in systems.items()},
        source=within(fields["source"]),
        alignment=within(fields["alignment"]),
        orders={name: within(one["positions"]) for name, one in systems.items() if one["positions"]},
    )
    tokenize, words = fields["tokenize"] or DEFAULTS.tokenize, fields["words"] or DEFAULTS.words
    options = MetricOptions(tokenize, bool(fields["case_sensitive"]), words)
    return Manifest(fields["title"], paths, options, within(fields["robustness"]))


def _allowed(path: Path, places: Sequence[str]) -> str:
    """Return a path if it lies in one of the places, wherever links lead."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise DataError(f"{str(path)!r} is no path: {error}") from None
    if not any(real.is_relative_to(Path(place).resolve()) for place in places):
        raise DataError(f"{real} lies outside of the folder; with --also it may be read")
    return str(path)


Check = Callable[[Any, str], Any]


def _fields(value: Any, name: str, checks: Mapping[str, Check]) -> dict[str, Any]:
    """Return the checked fields of an object; an optional field that is missing is None."""
    if not isinstance(value, dict):
        raise DataError(f"{name}: not an object")
    unknown = sorted(value.keys() - checks.keys())
    if unknown:
        raise DataError(f"{name}: unknown field {unknown[0]!r}, only {', '.join(checks)}")
    return {key: check(value.get(key), f"{name}.{key}") for key, check in checks.items()}


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise DataError(f"{name}: not a text")
    return value


def _tokenizer(value: Any, name: str) -> str:
    if value not in TOKENIZERS:
        raise DataError(f"{name}: {value!r} is none of {', '.join(TOKENIZERS)}")
    return value


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not value:
        raise DataError(f"{name}: not a list of texts")
    return [_text(one, name) for one in value]


def _truth(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise DataError(f"{name}: neither true nor false")
    return value


def _optional(check: Check) -> Check:
    return lambda value, name: None if value is None else check(value, name)


def _systems(value: Any, name: str) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not value:
        raise DataError(f"{name}: not an object of systems")
    checks = {"runs": _texts, "positions": _optional(_text)}
    return {system: _fields(found, f"{name}.{system}", checks) for system, found in value.items()}


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
    """Score and analyse a run."""
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
    chosen, total = sample(fitting, SENTENCES, data.seed)
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
