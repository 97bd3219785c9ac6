"""Score the translations of a run and compare its systems."""

from __future__ import annotations

import statistics
from dataclasses import asdict
from typing import Any

from preorder.io import files
from preorder.metrics import METRICS
from recipes.costs import parameters, words_per_second
from recipes.finished import RESULTS, Finished, find_finished
from recipes.job import Job
from recipes.leaderboard import markdown, print_leaderboard, title
from recipes.step_runner import Step, StepRunner
from recipes.systems import GOLD, System
from recipes.train import train_log, train_step, translate_step

SCORES = "scores/translations.json"
REPORT = "report.html"
MANIFEST = "report.json"
ROBUSTNESS = "robustness/robustness.json"  # where recipes.robustness was run in this folder
LAST_STEPS = (Step("score", ()), Step("report", ()))
"""Stand for the steps of :func:`score`, whose commands are known once all translations are there."""


def score(job: Job, runner: StepRunner) -> None:
    """Score all finished systems; write ``results.json``, ``results.md`` and the report, and print.

    Raises:
        StepError: a translation is missing, or a command failed.
    """
    finished = find_finished(job, runner)
    runner.run([_score(job, finished)])
    results = _results(job, runner, finished)
    files.write_json(str(job.folder / RESULTS), results)
    files.write_lines(str(job.folder / "results.md"), markdown(results))
    manifest = _manifest(job, results, finished)
    files.write_json(str(job.folder / MANIFEST), manifest)
    runner.run([_report(manifest)])
    print_leaderboard(results)


def _score(job: Job, finished: list[Finished]) -> Step:
    """Compare the systems, each with all its trainings, with the first of them."""
    reference = job.text("test", job.target)
    pairs = [(one.system, job.translation(one.system, seed)) for one in finished for seed in one.seeds]
    command = ("preorder", "score", "--ref", reference, "--tokenize", "none", "--json", "--baseline")
    command += (finished[0].system.name, "--hyp", *(f"{one.name}={path}" for one, path in pairs))
    return Step("score", command, (reference, *(path for _, path in pairs)), (SCORES,), output=SCORES)


def _results(job: Job, runner: StepRunner, finished: list[Finished]) -> dict[str, Any]:
    found = files.read_json(str(job.folder / SCORES))
    systems = {}
    for system, seeds in ((one.system, one.seeds) for one in finished):
        scores: dict[str, Any] = {metric: found["runs"][system.name][metric] for metric in METRICS}
        scores["tau"] = _summary([_tau(job, system)])
        scores["parameters"] = _summary([parameters(job.folder / train_log(system, seed)) for seed in seeds])
        scores["seconds"] = _summary([runner.seconds(train_step(system, seed)) for seed in seeds])
        scores["words_per_second"] = _summary([_speed(job, system, seed) for seed in seeds])
        systems[system.name] = scores | {"seeds": list(seeds), "begins_from": system.begins_from}
    return {
        "size": job.size,
        "source": job.source,
        "target": job.target,
        "seeds": sorted({seed for one in finished for seed in one.seeds}),
        "device": job.device,
        "search": asdict(job.search),
        "changes": job.changes,
        "signature": found["signature"],
        "systems": systems,
        "baseline": finished[0].system.name,
        "significance": found["significance"],
        "best": {metric: found["best"][metric] for metric in METRICS},
    }


def _speed(job: Job, system: System, seed: int) -> float:
    log = translate_step(job, system, seed).log
    return words_per_second(job.folder / log, job.folder / job.text("test", job.source))


def _manifest(job: Job, results: dict[str, Any], finished: list[Finished]) -> dict[str, Any]:
    """Return what ``preorder report`` reads: where the run's files are."""
    report = {
        "title": title(results),
        "source": job.text("test", job.source),
        "references": [job.text("test", job.target)],
        "alignment": job.alignment("test"),
        "tokenize": "none",
        "systems": {one.system.name: _files(job, one.system, one.seeds) for one in finished},
    }
    return report | ({"robustness": ROBUSTNESS} if (job.folder / ROBUSTNESS).exists() else {})


def _report(manifest: dict[str, Any]) -> Step:
    told = [path for one in manifest["systems"].values() for path in (*one["runs"], one.get("positions"))]
    texts = (manifest["source"], *manifest["references"], manifest["alignment"], manifest.get("robustness"))
    reads = dict.fromkeys(path for path in (MANIFEST, *texts, *told) if path)
    return Step("report", ("preorder", "report", ".", "--out", REPORT), tuple(reads), (REPORT,))


def _files(job: Job, system: System, seeds: tuple[int, ...]) -> dict[str, Any]:
    told = {"positions": job.reordered("test", system.order, "positions")} if system.order else {}
    return {"runs": [job.translation(system, seed) for seed in seeds], **told}


def _tau(job: Job, system: System) -> float:
    """Return how well the order that a system is told fits the test set's alignment."""
    evaluation = files.read_json(str(job.folder / job.evaluation(system.order or GOLD)))
    return evaluation["tau"] if system.order else evaluation["monotone"]["tau"]


def _summary(values: list[float]) -> dict[str, Any]:
    """Return mean, sample standard deviation (None of one value) and values, as ``preorder score`` does."""
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return {"mean": statistics.fmean(values), "deviation": deviation, "values": values}
