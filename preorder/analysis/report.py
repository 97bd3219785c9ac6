"""Runs, or a gallery of sentences, as one page of HTML that needs nothing else: tables, pictures, examples.

A run's manifest says which files it has. Reported are its scores, analyses, and sentences in each order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files as resources
from itertools import chain
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from preorder.analysis import CURVE_METRICS, EXAMPLE_METRIC, GAIN_WIDTH, analyses
from preorder.analysis.analyses import EvaluationData, EvaluationFiles, Examples, read_evaluation_data
from preorder.analysis.diagnosis import diagnose_translations, translation_tables
from preorder.analysis.plots import DRAWINGS, NOT_IN_XML, svg_element
from preorder.analysis.results import (
    SCORE_FORMATS,
    Breakdown,
    Curves,
    Table,
    parse_curves,
    scoring_table,
    tables_of,
    verdict,
)
from preorder.analysis.sentence_picture import draw_sentence, sentence_title, sentence_width
from preorder.analysis.sentence_view import Gallery, Numbered, SentenceView, gallery_table, sample
from preorder.data.formats import parse_tokens
from preorder.errors import DataError, errors_in
from preorder.io import files
from preorder.metrics import METRICS, TOKENIZERS, MetricOptions
from preorder.progress import LOGGER

MANIFEST = "report.json"  # which files a run has, and how to measure them
LONGEST = 4096  # characters of a text in it: pictures of longer ones take minutes


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "text": (_is_text, f"not a text of at most {LONGEST:,} characters"),
    "texts": (
        lambda value: (
            isinstance(value, list) and all(map(_is_text, value)) and 0 < len(value) == len(set(value))
        ),
        "not a list of texts, each once",
    ),
    "object": (
        lambda value: isinstance(value, dict) and value != {} and all(map(_is_text, value)),
        f"not an object with names of at most {LONGEST:,} characters",
    ),
    "tokenizer": (TOKENIZERS.__contains__, f"{{!r}} is none of {', '.join(TOKENIZERS)}"),
    "boolean": (lambda value: isinstance(value, bool), "neither true nor false"),
    "facts": (
        lambda value: isinstance(value, dict) and all(map(_is_text, (*value, *value.values()))),
        "not an object of texts",
    ),
}
"""Kind of value → whether a value is of this kind, and the complaint about one that is not."""
FIELDS = {
    "title": "text",
    "source": "text",
    "references": "texts",
    "alignment": "text?",
    "systems": "object",
    "tokenize": "tokenizer?",
    "words": "tokenizer?",
    "case_sensitive": "boolean?",
    "robustness": "text?",
    "facts": "facts?",
    "warnings": "texts?",
}
FIELDS_OF_A_SYSTEM = {"runs": "texts", "positions": "text?", "about": "text?"}
"""Field → kind of value; those with ``?`` may be missing."""


@dataclass(frozen=True)
class Manifest:
    """A run; paths are complete. The first system is the baseline."""

    title: str
    files: EvaluationFiles  # with the positions that systems are given as input
    options: MetricOptions
    robustness: str | None  # a file of ``preorder analyse robustness --json``
    facts: dict[str, str]  # how the run was made, such as steps: 3,000
    about: dict[str, str]  # what each system is
    warnings: tuple[str, ...]

    def paths(self) -> list[str]:
        """Return the files that the run names."""
        texts = self.files
        named = [*texts.references, *chain.from_iterable(texts.systems.values()), *texts.positions.values()]
        return [*named, *filter(None, (texts.source, texts.alignment, self.robustness))]


def find_manifests(folder: str) -> list[Path]:
    """Return the manifest of a folder, or those of the folders in it."""
    top = Path(folder)
    found = [top / MANIFEST] if (top / MANIFEST).exists() else sorted(top.glob(f"*/{MANIFEST}"))
    if not found:
        raise DataError(f"no {MANIFEST} in it, nor in a folder in it", folder)
    return found


def read_manifest(path: Path, also: Sequence[str] = ()) -> Manifest:
    """Read a manifest, which need not be trusted.

    Its paths are relative to its folder, and lie there, or among the files and folders ``also``.
    """
    with errors_in(str(path)):
        return _parse(files.read_json(str(path)), path.parent, also)


def _parse(value: Any, folder: Path, also: Sequence[str]) -> Manifest:
    _check_fields(value, "report", FIELDS)
    systems = value["systems"]
    for name, one in systems.items():
        _check_fields(one, f"report.systems.{name}", FIELDS_OF_A_SYSTEM)

    def within(name: str) -> str:
        return _allowed(os.path.join(folder, name), (str(folder), *also))

    given = (value.get(name) for name in ("source", "alignment", "robustness"))
    source, alignment, robustness = (None if name is None else within(name) for name in given)
    paths = EvaluationFiles(
        references=list(map(within, value["references"])),
        systems={name: list(map(within, one["runs"])) for name, one in systems.items()},
        source=source,
        alignment=alignment,
        positions={name: within(one["positions"]) for name, one in systems.items() if one.get("positions")},
    )
    names = ("tokenize", "case_sensitive", "words")
    options = {name: value[name] for name in names if value.get(name) is not None}
    about = {name: one["about"] for name, one in systems.items() if one.get("about")}
    told = (value.get("facts") or {}, about, tuple(value.get("warnings") or ()))
    return Manifest(value["title"], paths, MetricOptions(**options), robustness, *told)


def _allowed(path: str, places: Sequence[str]) -> str:
    """Return a path if it lies in one of the places, wherever links lead."""
    try:
        real = Path(path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise DataError(f"{path!r} is no path: {error}") from None
    if not any(real.is_relative_to(Path(place).resolve()) for place in places):
        raise DataError(f"{real} lies outside of the folder; with `also` it may be read")
    return path


def _check_fields(value: Any, name: str, kinds: Mapping[str, str]) -> None:
    if not isinstance(value, dict):
        raise DataError(f"{name}: not an object")
    unknown = sorted(value.keys() - kinds.keys())
    if unknown:
        raise DataError(f"{name}: unknown field {unknown[0]!r}, only {', '.join(kinds)}")
    for key, kind in kinds.items():
        fits, complaint = KINDS[kind.rstrip("?")]
        given = value.get(key)
        if not fits(given) and not (kind.endswith("?") and given is None):
            raise DataError(f"{name}.{key}: {complaint.format(given)}")


EXAMPLES_OF_SYSTEM = 3  # of each sort, for each system
SENTENCES = 10  # of a gallery
MAX_SHOWN_LENGTH = 40  # tokens of such a sentence, on either side

Content = Table | Curves | Breakdown | Examples | Gallery


@dataclass(frozen=True)
class Chapter:
    """A part of a run's section: a heading, and a result."""

    heading: str
    content: Content


@dataclass(frozen=True)
class Run:
    """What is reported of a run."""

    manifest: Manifest
    sentences: int
    verdict: str
    signature: dict[str, str]  # of each metric
    scores: Table
    chapters: tuple[Chapter, ...]


def report_run(manifest: Manifest, seed: int) -> Run:
    """Score and analyse a run."""
    data = read_evaluation_data(manifest.files, manifest.options, seed)
    found = data.score(METRICS, next(iter(data.systems)))
    shown = verdict(found), found.signature, scoring_table(found)
    return Run(manifest, len(data.references[0]), *shown, tuple(_analyses(manifest, data)))


def _analyses(manifest: Manifest, data: EvaluationData) -> Iterator[Chapter]:
    """Yield what a reader looks for first: examples of the first rival, two pictures; then the rest."""
    baseline, *others = data.systems
    examples = [
        Chapter(
            f"Examples of {system}",
            analyses.system_examples(data, EXAMPLE_METRIC, baseline, system, EXAMPLES_OF_SYSTEM),
        )
        for system in others
    ]
    yield from examples[:1]
    groups = analyses.by_fitting_length(list(map(len, data.source)))
    yield Chapter("By length", analyses.length_curves(data, CURVE_METRICS, groups))
    yield Chapter("n-gram precisions", analyses.break_down("precision", data))
    given: dict[str, list[str]] = {}  # positions → the systems that are given them
    for name, positions in manifest.files.positions.items():
        given.setdefault(positions, []).append(name)
    orders = {names[0]: ", ".join(names) for names in given.values()} if data.preordering else {}
    for order, names in orders.items():
        curves = analyses.gain_curves(data, CURVE_METRICS, order, GAIN_WIDTH)
        yield Chapter(f"By what the order of {names} gains", curves)
    for order, gallery in order_galleries(data, list(orders), manifest.files.alignment).items():
        yield Chapter(f"Sentences in the order of {orders[order]}", gallery)
    first = {baseline: [data.systems[baseline][0]]}
    diagnosis, _ = diagnose_translations(data.references, first, manifest.options, data.seed)
    for heading, table in zip(("Order headroom", "What is left"), translation_tables(diagnosis), strict=True):
        yield Chapter(f"{heading} of {baseline}", table)
    yield Chapter("Under- and over-generation", analyses.break_down("generation", data))
    yield from examples[1:]
    if manifest.robustness is not None:
        with errors_in(manifest.robustness):
            yield Chapter("Swapped words", parse_curves(files.read_json(manifest.robustness)))


def order_galleries(
    data: EvaluationData, orders: Sequence[str], alignment_path: str | None
) -> dict[str, Gallery]:
    """Return for each named order the same sentences, sampled by the seed, linked to the first reference.

    There is no gallery without a fitting sentence; nor, with a warning, where the links fit no reference.
    """
    if not (data.source and data.preordering and orders):
        return {}
    targets = [parse_tokens(line) for line in data.references[0]]
    for number, (alignment, target) in enumerate(zip(data.alignments, targets, strict=True), 1):
        try:
            alignment.check_within(None, len(target))
        except DataError as error:
            reason = "the reference is not the text that was aligned, so no sentences are drawn"
            LOGGER.warning(f"{error.at(alignment_path, number)}: {reason}")
            return {}
    fitting = [
        i
        for i, both in enumerate(zip(data.source, targets, strict=True))
        if data.preordering.measured[i] and all(1 <= len(side) <= MAX_SHOWN_LENGTH for side in both)
    ]
    chosen, total = sample(fitting, SENTENCES, data.seed)
    if not chosen:
        return {}
    fitted = f"{total} sentences of at most {MAX_SHOWN_LENGTH} tokens"
    text = f"{len(chosen)} of {fitted}, chosen at random, seed {data.seed}"

    def view(name: str, i: int) -> SentenceView:
        return SentenceView(data.source[i], data.orders[name][i], None, targets[i], data.alignments[i])

    return {name: Gallery(text, tuple(Numbered(i + 1, view(name, i)) for i in chosen)) for name in orders}


CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What a browser may load for the page: nothing."""

LEAST_SCALE = 0.75  # of the picture of a sentence: its letters are 13 pixels high
_DRAWINGS = DRAWINGS | {SentenceView: (draw_sentence, sentence_title)}


def page(title: str, runs: Sequence[Run] = (), gallery: Gallery | None = None) -> str:
    """Return the page of a set of runs, or of one gallery."""
    sections = []
    for number, run in enumerate(runs, 1):
        chapters = enumerate((Chapter("Scores", run.scores), *run.chapters), 1)
        parts = [(f"run{number}-{k}", one.heading, one.content) for k, one in chapters]
        sections.append((f"run{number}", run, parts))
    if gallery is not None:
        headings = [(f"gallery-line-{one.line}", one.title) for one in gallery.sentences]
    else:
        headings = [(name, run.manifest.title) for name, run, _ in sections] if len(runs) > 1 else []
    values = {"headings": headings, "sections": sections, "summary": _summary(runs), "gallery": gallery}
    return NOT_IN_XML.sub("\ufffd", _template().render(title=title, **values).strip()) + "\n"


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, cache_size=0
    )
    environment.globals |= {
        "policy": CONTENT_POLICY,
        "style": Markup(_resource("report.css")),
        "script": Markup(_resource("report.js")),
        "formats": SCORE_FORMATS,
        "gallery_table": gallery_table,
        "least_width": lambda one: f"{LEAST_SCALE * sentence_width(one.view) / 100:.2f}in",
    }
    environment.filters |= {
        "breakable": lambda text: Markup(escape(text).replace("_", Markup("_<wbr>"))),
        "kind": lambda content: type(content).__name__,
        "picture": _picture,
        "tables": tables_of,
    }
    return environment.from_string(_resource("page.html"))


def _summary(runs: Sequence[Run]) -> Table | None:
    if len(runs) < 2:
        return None
    columns = dict.fromkeys(column for run in runs for column in run.scores.columns)
    rows = tuple(
        (
            run.manifest.title,
            *(dict(zip(run.scores.columns, row, strict=True)).get(column, "–") for column in columns),
        )
        for run in runs
        for row in run.scores.rows
    )
    return Table("Scores of all runs", ("run", *columns), rows)


def _picture(shown: Curves | Breakdown | SentenceView, name: str) -> Markup:
    """Return a picture; the name goes before the ids inside it, since a page holds several pictures."""
    draw, title = _DRAWINGS[type(shown)]
    picture = svg_element(partial(draw, shown), title(shown), transparent=True)
    return Markup(re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", picture))


def _resource(name: str) -> str:
    return resources(__package__).joinpath(name).read_text(encoding="utf-8")
