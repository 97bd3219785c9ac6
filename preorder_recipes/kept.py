"""Print a table of kept translations, as Markdown: BLEU and its parts, at equal length too, and other scores.

An archive in recipes/*/translations holds the translations of each training. In brackets is p against the
first system, by the paired bootstrap over sentences and, where there are several, trainings.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from preorder.alignment.gold import gold_permutation
from preorder.analysis.analyses import EvaluationData
from preorder.analysis.results import BLEU_SCORES, SCORE_FORMATS, TRANSLATION_SCORES, p_value
from preorder.data import Alignment, Permutation
from preorder.data.formats import parse_positions, read_alignments
from preorder.errors import UsageError
from preorder.io import files
from preorder.metrics import METRICS
from preorder.metrics.scoring import Scoring, check_system
from preorder_recipes.archives import kept_files, read_translations, score_cell
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.configuration import GOLD, PREDICTED
from preorder_recipes.pipeline.leaderboard import markdown_rows
from preorder_recipes.pipeline.score import MANIFEST

TAU, CONFIDENCE, TRANSLATION = "tau", "confidence", "translation"
GROUPS = 4  # of sentences, equally many in each
AT_EQUAL_LENGTH = "at equal length"
GROUP_SCORES = (*BLEU_SCORES, "ter", "ribes")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(run)
    add = parser.add_argument
    add("archive", help="name in recipes/*/translations, without .tar.xz")
    add("--data", metavar="DIR", type=Path, required=True, help="folder of the corpus, with its test set")
    add("--systems", metavar="S,…", help="these, the baseline first (default: all of the archive)")
    add("--trainings", metavar="N,…", default="*", help="those of these seeds (default: all)")
    what = (
        "a table of four groups of sentences, by what the archive holds: tau of the predicted and the gold "
    )
    what += "order; the preorderer's confidence; tau of the orders by links to the reference and to another "
    add("--by", choices=(TAU, CONFIDENCE, TRANSLATION), help=f"{what}translation")
    add("--out", metavar="F", default=files.STANDARD, help="Markdown (default: standard output)")
    return execute(parser, argv)


def run(arguments: argparse.Namespace) -> None:
    """Read an archive and the test set, and print the table."""
    archive = arguments.archive
    manifest = files.read_json(str(*_kept(archive, MANIFEST)))
    source, target = (Path(path).name for path in (manifest["source"], manifest["references"][0]))
    systems = {}
    for name in arguments.systems.split(",") if arguments.systems else manifest["systems"]:
        check_system(name, manifest["systems"])
        side = Path(target).suffix
        wanted = [f"{name}.seed{seed}{side}" for seed in arguments.trainings.split(",")]
        systems[name] = [path for pattern in wanted for path in _kept(archive, pattern)]
    data = read_translations(str(arguments.data / target), systems, str(arguments.data / source))
    if arguments.by:
        values = _values(archive, source, arguments.by, list(map(len, data.source)))
        rows = _grouped(data, values, arguments.by)
    else:
        rows = _table(data)
    files.write_lines(arguments.out, markdown_rows(list(rows)))


def _kept(archive: str, pattern: str) -> list[Path]:
    """Return the files of an archive; a UsageError: there is none."""
    if not (found := kept_files(archive, pattern)):
        raise UsageError(f"no archive {archive} in recipes/*/translations has {pattern}")
    return found


def _values(archive: str, source: str, kind: str, lengths: Sequence[int]) -> np.ndarray:
    """Return a number of each sentence by which to group it; NaN: in no group."""
    if kind == CONFIDENCE:
        (path,) = _kept(archive, f"{source}.{PREDICTED}.{CONFIDENCE}")
        return np.loadtxt(path)
    if kind == TAU:
        paths = [str(*_kept(archive, f"{source}.{order}.positions")) for order in (PREDICTED, GOLD)]
        pairs = zip(*(files.read_parsed(path, parse_positions) for path in paths), strict=True)
        return np.array([agreement(one, other, range(len(one))) for one, other in pairs])
    paths = [str(*_kept(archive, f"links.{side}.align")) for side in ("reference", TRANSLATION)]
    links = zip(*map(read_alignments, paths), lengths, strict=True)
    return np.array([_agreement_of_links(one, other, length) for one, other, length in links])


def _agreement_of_links(one: Alignment, other: Alignment, length: int) -> float:
    """Return :func:`agreement` of the orders by links, over the tokens that both link."""
    linked = [{source for source, _ in links.links} for links in (one, other)]
    first, second = (gold_permutation(links, length) for links in (one, other))
    return agreement(first, second, sorted(set.intersection(*linked)))


def agreement(one: Permutation, other: Permutation, tokens: Sequence[int]) -> float:
    """Return Kendall's tau of two orders over some of the tokens, -1 to 1; NaN for fewer than two.

    Orders are permutations: tokens that are linked to the same word keep the source's order here, and
    :func:`preorder.analysis.translation_order.agreement` leaves such pairs out.
    """
    if len(tokens) < 2:
        return float("nan")
    return float(kendalltau(*(np.array(order.positions)[list(tokens)] for order in (one, other))).statistic)


def _table(data: EvaluationData) -> Iterator[list[str]]:
    """Yield the titles of the columns, then a row for each system."""
    found = _score(data, METRICS)
    titles = [SCORE_FORMATS[name].title for name in TRANSLATION_SCORES]
    parts = len(BLEU_SCORES)
    yield ["system (trainings)", *titles[:parts], AT_EQUAL_LENGTH, *titles[parts:]]
    for name, runs in data.systems.items():
        scores = [_cell(found, name, score) for score in TRANSLATION_SCORES]
        yield [f"`{name}` ({len(runs)})", *scores[:parts], _equal_cell(found, name), *scores[parts:]]


def _grouped(data: EvaluationData, values: np.ndarray, title: str) -> Iterator[list[str]]:
    """Yield the titles of the columns, then a row for each system in each group of sentences."""
    titles = [SCORE_FORMATS[name].title for name in GROUP_SCORES]
    yield [title, "source words", "system", *titles, AT_EQUAL_LENGTH]
    order = np.argsort(values, kind="stable")[: np.sum(~np.isnan(values))]
    for group in np.array_split(order, GROUPS):
        some = _some(data, group)
        found = _score(some, ("bleu", "ter", "ribes"))
        label = f"up to {values[group[-1]]:.2f}"
        words = np.mean(list(map(len, some.source)))
        for name in data.systems:
            scores = [_cell(found, name, score) for score in GROUP_SCORES]
            yield [label, f"{words:.1f}", f"`{name}`", *scores, _equal_cell(found, name)]
            label = "…"


def _score(data: EvaluationData, metrics: Sequence[str]) -> Scoring:
    return data.score(metrics, next(iter(data.systems)))


def _some(data: EvaluationData, sentences: Iterable[int]) -> EvaluationData:
    """Return the source, the reference and the translations of some sentences."""

    def some(rows: Sequence[Any]) -> list[Any]:
        return [rows[index] for index in sentences]

    systems = {name: list(map(some, runs)) for name, runs in data.systems.items()}
    return replace(
        data, references=list(map(some, data.references)), systems=systems, source=some(data.source)
    )


def _cell(found: Scoring, system: str, name: str) -> str:
    """Return the mean over the trainings, of BLEU with their standard deviation, and p in brackets."""
    return score_cell(found, system, name, SCORE_FORMATS[name].format, has_deviation=name == "bleu")


def _equal_cell(found: Scoring, system: str) -> str:
    """Return what the system gains at equal length, p in brackets, and of how many sentences."""
    equal = found.equal_length.get(system)
    if equal is None:
        return ""
    compared = equal.comparisons["bleu"]
    gain = SCORE_FORMATS["bleu"].format_difference(compared.difference)
    return f"{gain} ({p_value(compared.p_value)}) of {np.mean(equal.sentences):.0f}"


if __name__ == "__main__":
    raise SystemExit(main())
