"""The tables of the study of KFTT: how good links and orders are, by the hand alignments of hand-test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from preorder.alignment.gold import gold_permutation
from preorder.alignment.target_groups import target_groups
from preorder.data import files
from preorder.data.formats import parse_positions, read_alignments
from preorder.data.types import Alignment, Permutation
from preorder.metrics.preordering import Preordering
from preorder.metrics.significance import resampled_totals
from recipes.kftt.experiments import DIRECTIONS, EXPERIMENTS, ORACLE

SEED = 1  # of the bootstrap
TAU = 1  # column of tau_nakagawa
COMPLETE = 3


def write_tables(folder: Path, seconds: Callable[[str], float]) -> None:
    """Write results.json and results.md of all that is done in a folder."""
    results = {"alignment": list(_alignment_rows(folder)), "order": list(_order_rows(folder, seconds))}
    files.write_json(str(folder / "results.json"), results)
    files.write_lines(str(folder / "results.md"), _markdown(results))


def _alignment_rows(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("lines-*/links/*.all.align.json")):
        lines, name = int(path.parts[-3].removeprefix("lines-")), path.name.removesuffix(".all.align.json")
        scores = json.loads(path.read_text(encoding="utf-8"))
        yield {"lines": lines, "links": name} | {key: scores[key] for key in ("precision", "recall", "f1")}


def _order_rows(folder: Path, seconds: Callable[[str], float]) -> Iterator[dict[str, Any]]:
    for direction in DIRECTIONS:
        gold = list(read_alignments(str(folder / "data/hand-test.align")))
        gold = gold if direction == "en-ja" else [alignment.reversed() for alignment in gold]
        for experiment in EXPERIMENTS:
            path = folder / experiment.orders(direction)
            if path.exists():
                orders = list(files.read_parsed(str(path), parse_positions))
                yield {
                    "direction": direction,
                    "table": experiment.table,
                    "name": experiment.name,
                    **measured(gold, orders),
                    "seconds": 0.0 if experiment.method == ORACLE else seconds(experiment.model(direction)),
                }


def measured(gold: Sequence[Alignment], orders: Sequence[Permutation]) -> dict[str, Any]:
    """Return how well orders fit hand-made links: tau_nakagawa of linked and of all tokens, 0 to 1.

    Each with the bounds of 95 % of resamples of the sentences, and without any reordering.
    """
    linked = Preordering([target_groups(one, len(order)) for one, order in zip(gold, orders, strict=True)])
    everything = Preordering(
        [gold_permutation(one, len(order)).positions for one, order in zip(gold, orders, strict=True)]
    )
    unreordered = [Permutation.identity(len(order)) for order in orders]
    found: dict[str, Any] = {}
    for name, metric in (("linked", linked), ("all", everything)):
        statistics = metric.statistics(orders)
        (totals,) = resampled_totals([statistics[None]], SEED)
        scores = totals[:, 0, TAU] / totals[:, 0, -1]
        found[name] = _mean(statistics, TAU)
        found[f"{name}_interval"] = np.percentile(scores, (2.5, 97.5)).round(4).tolist()
        found[f"{name}_unreordered"] = _mean(metric.statistics(unreordered), TAU)
    return found | {"complete": _mean(linked.statistics(orders), COMPLETE)}


def _mean(statistics: np.ndarray, column: int) -> float:
    totals = statistics.sum(0)
    return round(float(totals[column] / totals[-1]), 4)


def _markdown(results: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    yield from ("# Links", "", "| lines | links | precision | recall | F1 |", "|---:|---|---:|---:|---:|")
    for row in results["alignment"]:
        scores = " | ".join(f"{row[key]:.3f}" for key in ("precision", "recall", "f1"))
        yield f"| {row['lines']:,} | {row['links']} | {scores} |"
    orders = results["order"]
    for direction, table in dict.fromkeys((row["direction"], row["table"]) for row in orders):
        rows = [row for row in orders if (row["direction"], row["table"]) == (direction, table)]
        yield from ("", f"# {table}, {direction}", "")
        yield from ("| | linked tokens | all tokens | complete match | s |", "|---|---:|---:|---:|---:|")
        first = rows[0]
        yield f"| unreordered | {first['linked_unreordered']:.4f} | {first['all_unreordered']:.4f} | | |"
        for row in rows:
            scores = " | ".join(_with_interval(row, key) for key in ("linked", "all"))
            yield f"| {row['name']} | {scores} | {row['complete']:.3f} | {row['seconds']:.0f} |"


def _with_interval(row: dict[str, Any], key: str) -> str:
    low, high = row[f"{key}_interval"]
    return f"{row[key]:.4f} ({low:.3f}–{high:.3f})"
