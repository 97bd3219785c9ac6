"""The tables of the study of KFTT: how good links and orders are, by the hand alignments of hand-test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from preorder.alignment.gold import gold_permutation, target_groups
from preorder.data import Alignment, Bitext, Permutation
from preorder.data.formats import parse_positions, parse_source, read_alignments, read_plain
from preorder.io import files
from preorder.methods.tree_swap.oracle import best_labels, count_pairs, flat_keys
from preorder.methods.tree_swap.trees import forest, positions
from preorder.metrics.orders import Preordering, TargetGroups, evaluate
from preorder.metrics.significance import draw_runs, resampled, resampled_totals
from preorder.syntax.read import TreeFile, add_trees
from preorder_recipes.pipeline.runner import StepRunner

if TYPE_CHECKING:
    from preorder_recipes.kftt.study import Experiment

SEED = 1  # of the bootstrap
TEST = "data/hand-test"


def write_tables(runner: StepRunner, experiments: Iterable[Experiment]) -> None:
    """Write results.json and results.md of all that is done in a folder."""
    folder = runner.folder
    results = {"alignment": list(_alignment_rows(folder)), "order": list(_order_rows(runner, experiments))}
    files.write_json(str(folder / "results.json"), results)
    files.write_lines(str(folder / "results.md"), _markdown(results))


def _alignment_rows(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("lines-*/links/*.all.align.json")):
        lines, name = int(path.parts[-3].removeprefix("lines-")), path.name.removesuffix(".all.align.json")
        scores = json.loads(path.read_text(encoding="utf-8"))
        yield {"lines": lines, "links": name} | {key: scores[key] for key in ("precision", "recall", "f1")}


def _order_rows(runner: StepRunner, experiments: Iterable[Experiment]) -> Iterator[dict[str, Any]]:
    folder, experiments = runner.folder, list(experiments)
    gold = list(read_alignments(str(folder / f"{TEST}.align")))
    for direction in dict.fromkeys(direction for each in experiments for direction in each.directions):
        links = gold if direction == "en-ja" else [alignment.reversed() for alignment in gold]
        for experiment in experiments:
            path = folder / experiment.orders(direction)
            if path.exists():
                orders = list(files.read_parsed(str(path), parse_positions))
                row = {"direction": direction, "table": experiment.table, "name": experiment.name}
                seconds = runner.seconds(experiment.model(direction))
                yield row | measured(links, orders) | {"seconds": seconds}
    for layer in ("constituency", "dependency"):
        if (trees := folder / f"{TEST}.en.{layer}").exists():
            row = {"direction": "en-ja", "table": "syntax", "name": f"the best order of {layer} trees"}
            orders = best_orders(str(folder / f"{TEST}.en"), str(trees), gold)
            yield row | measured(gold, orders) | {"seconds": 0.0}


def best_orders(source: str, trees: str, alignments: Sequence[Alignment]) -> list[Permutation]:
    """Return the best order of each sentence that its tree allows, by the links."""
    sentences = list(add_trees(source, read_plain(source, parse_source), TreeFile(trees)))
    grown = forest(sentences, "head")
    flat = positions(grown, best_labels(count_pairs(grown, flat_keys(Bitext(sentences, list(alignments))))))
    return [Permutation(tuple(part.tolist())) for part in np.split(flat, grown.starts[1:])]


def measured(gold: Sequence[Alignment], orders: Sequence[Permutation]) -> dict[str, Any]:
    """Return how well orders fit hand-made links: tau_nakagawa of linked and of all tokens, 0 to 1.

    Each with the bounds of 95 % of resamples of the sentences, and without any reordering.
    """
    pairs = list(zip(gold, map(len, orders), strict=True))
    linked = [target_groups(alignment, length) for alignment, length in pairs]
    everything = [gold_permutation(alignment, length).positions for alignment, length in pairs]
    found: dict[str, Any] = {}
    for name, groups in (("linked", linked), ("all", everything)):
        evaluation = evaluate(groups, orders)
        found[name] = round(evaluation.tau_nakagawa, 4)
        found[f"{name}_interval"] = [round(bound, 4) for bound in _interval(groups, orders)]
        found[f"{name}_unreordered"] = round(evaluation.monotone.tau_nakagawa, 4)
    return found | {"complete": round(evaluate(linked, orders).complete_match, 4)}


def _interval(groups: Sequence[TargetGroups | None], orders: Sequence[Permutation]) -> tuple[float, float]:
    metric = Preordering(groups)
    statistics = metric.statistics(orders)[None]
    (totals,) = resampled_totals([statistics], SEED)
    tau = next(score for score in metric.scores if score.name == "tau_nakagawa")
    return resampled(tau, statistics, totals, draw_runs(1, SEED, "")).interval


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
