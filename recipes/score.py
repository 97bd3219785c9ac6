"""Score the translations of a run and compare its systems."""

from __future__ import annotations

import json
import statistics
from typing import Any

from preorder.cli.table import print_table
from preorder.data import files
from preorder.metrics.metric import METRICS
from recipes.finished import RESULTS, Finished, find_finished
from recipes.job import Job
from recipes.step_runner import Step, StepRunner
from recipes.systems import PREDICTED, System
from recipes.train import train_step

SCORES = "scores/translations.json"
COLUMNS = {"bleu": ("BLEU", 2), "ribes": ("RIBES", 4), "tau": ("tau", 3), "seconds": ("training, s", 0)}


def score(job: Job, runner: StepRunner) -> None:
    """Score all finished systems, write ``results.json``, ``results.md`` and ``report.json``, and print.

    Raises:
        StepError: a translation is missing, or a command failed.
    """
    finished = find_finished(job, runner)
    runner.run([_score(job, finished)])
    results = _results(job, runner, finished)
    files.write_json(str(job.folder / RESULTS), results)
    files.write_lines(str(job.folder / "results.md"), _markdown(results))
    files.write_json(str(job.folder / "report.json"), _report(job, results, finished))
    print_table(_title(results), *_table(results))


def _score(job: Job, finished: list[Finished]) -> Step:
    """Compare the systems, each with all its trainings, with the first of them."""
    reference = job.text("test", job.target)
    pairs = [(one.system, job.translation(one.system, seed)) for one in finished for seed in one.seeds]
    command = ("preorder", "score", "--ref", reference, "--tokenize", "none", "--json", "--baseline")
    command += (finished[0].system.name, "--hyp", *(f"{one.name}={path}" for one, path in pairs))
    return Step("score", command, (reference, *(path for _, path in pairs)), (SCORES,), output=SCORES)


def _results(job: Job, runner: StepRunner, finished: list[Finished]) -> dict[str, Any]:
    found = json.loads((job.folder / SCORES).read_text())
    systems = {}
    for system, seeds in ((one.system, one.seeds) for one in finished):
        scores: dict[str, Any] = {metric: found["runs"][system.name][metric] for metric in METRICS}
        scores["tau"] = _summary([_tau(job, system)])
        scores["seconds"] = _summary([runner.seconds(train_step(system, seed)) for seed in seeds])
        systems[system.name] = scores | {"seeds": list(seeds)}
    return {
        "size": job.size,
        "source": job.source,
        "target": job.target,
        "seeds": sorted({seed for one in finished for seed in one.seeds}),
        "device": job.device,
        "beam": job.beam,
        "changes": job.changes,
        "signature": found["signature"],
        "systems": systems,
        "significance": found["significance"],
    }


def _report(job: Job, results: dict[str, Any], finished: list[Finished]) -> dict[str, Any]:
    """Return what ``preorder report`` reads: where the run's files are."""
    report = {
        "title": _title(results),
        "source": job.text("test", job.source),
        "references": [job.text("test", job.target)],
        "alignment": job.alignment("test"),
        "tokenize": "none",
        "systems": {one.system.name: _files(job, one.system, one.seeds) for one in finished},
    }
    robustness = "robustness/robustness.json"  # where recipes.robustness was run in this folder
    return report | ({"robustness": robustness} if (job.folder / robustness).exists() else {})


def _files(job: Job, system: System, seeds: tuple[int, ...]) -> dict[str, Any]:
    told = {"positions": job.reordered("test", system.order, "positions")} if system.order else {}
    return {"runs": [job.translation(system, seed) for seed in seeds], **told}


def _tau(job: Job, system: System) -> float:
    """Return how well the order that a system is told fits the test set's alignment."""
    evaluation = json.loads((job.folder / job.evaluation(system.order or PREDICTED)).read_text())
    return evaluation["tau"] if system.order else evaluation["monotone"]["tau"]


def _summary(values: list[float]) -> dict[str, Any]:
    """Return mean, sample standard deviation (None of one value) and values, as ``preorder score`` does."""
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return {"mean": statistics.fmean(values), "deviation": deviation, "values": values}


def _cells(scores: dict[str, Any]) -> list[str]:
    cells = []
    for name, (_, digits) in COLUMNS.items():
        mean, deviation = scores[name]["mean"], scores[name]["deviation"]
        cells.append(f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}"))
    return cells


def _title(results: dict[str, Any]) -> str:
    counts = sorted({len(system["seeds"]) for system in results["systems"].values()})
    number = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    seeds = "one training" if counts == [1] else f"mean ± standard deviation of {number} trainings"
    return f"{results['source']} → {results['target']}, size {results['size']}, {seeds} per system"


def _table(results: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and the rows."""
    columns = ["system", *(title for title, _ in COLUMNS.values())]
    return columns, [[system, *_cells(scores)] for system, scores in results["systems"].items()]


def _markdown(results: dict[str, Any]) -> list[str]:
    columns, rows = _table(results)
    rule = ["---", *("---:" for _ in COLUMNS)]
    return [_title(results), "", *(f"| {' | '.join(row)} |" for row in (columns, rule, *rows))]
