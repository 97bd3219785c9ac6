"""Score the translations of a run and compare its systems: scores, costs, the table and the report."""

from __future__ import annotations

import contextlib
import re
import statistics
from dataclasses import asdict, replace
from datetime import date
from itertools import product
from typing import Any

import yaml

from preorder import __version__
from preorder.analysis.results import TRANSLATION_SCORES
from preorder.errors import DataError, PreorderError, UsageError
from preorder.io import files
from preorder_recipes.configuration import GOLD, System, read_system
from preorder_recipes.pipeline.checkpoints import last_number, read_log, validated
from preorder_recipes.pipeline.job import Job, host_of
from preorder_recipes.pipeline.prepare import source_steps
from preorder_recipes.pipeline.runner import StepRunner
from preorder_recipes.pipeline.steps import Stamps, Step
from preorder_recipes.pipeline.train import config_of, options_of, steps_of

RESULTS = "results.json"
SCORES = "scores/translations.json"
REPORT = "report.html"
MANIFEST = "report.json"
ROBUSTNESS = "robustness/robustness.json"  # where preorder_recipes.robustness was run in this folder
LAST_STEPS = (Step("score", ()), Step("report", ()))
"""Stand for the steps of :func:`score`, whose commands are known once all translations are there."""

PARAMETERS = re.compile(r"\* number of parameters: ([0-9]+)")
_LEAST = 0.05  # seconds of a translation: the log rounds to tenths

Finished = list[tuple[System, tuple[int, ...]]]
"""Systems, and the seeds with which each is trained; the first is the baseline."""


def score(job: Job, runner: StepRunner) -> None:
    """Score all finished systems; write ``results.json``, ``results.md`` and the report, and print."""
    from preorder_recipes.pipeline.leaderboard import markdown, print_leaderboard, title  # slow to import

    finished = find_finished(job, runner)
    runner.run([_score(job, finished)])
    results = _results(job, runner, finished)
    files.write_json(str(job.folder / RESULTS), results)
    files.write_lines(str(job.folder / "results.md"), markdown(results))
    manifest = _manifest(job, title(results), finished) | {"facts": _facts(job, finished)}
    if warnings := _not_converged(job, finished):
        manifest["warnings"] = warnings
    files.write_json(str(job.folder / MANIFEST), manifest)
    runner.run([_report(manifest)])
    print_leaderboard(results)


def find_finished(job: Job, runner: StepRunner) -> Finished:
    """Return the job's systems, and all others that were trained and translated with the same options.

    They stand in the order of the last results, or in that of the job where it names all of these. A
    UsageError: one of the job's was trained or translated otherwise.
    """
    known = {system.name: system for system in with_earlier(job).systems}
    named, others = [system.name for system in job.systems], []
    found: dict[str, set[int]] = {}
    for name, seed in _translated(job):
        if name in known and _is_finished(job, runner, known[name], seed):
            found.setdefault(name, set()).add(seed)
        else:
            others.append(f"{name} with seed {seed}")
    for name, seed in product(named, job.seeds):
        if seed not in found.get(name, ()):
            why = "is not done with these options and data: an earlier stage does it"
            raise UsageError(f"{name} with seed {seed} {why}")
    if others:
        why = "other options, other data or files of your own made them"
        runner.say(f"not in the results, since {why}: {', '.join(others)}")
    earlier = [name for name in _last_results(job) if name in found]
    order = dict.fromkeys([*(() if set(earlier) <= set(named) else earlier), *named, *found])
    return [(known[name], tuple(sorted(found[name]))) for name in order]


def with_earlier(job: Job) -> Job:
    """Return the job with the systems that earlier commands have trained in its folder.

    What these read is prepared anew with the data, so that no result of old data stands in the table.
    """
    systems = {system.name: system for system in job.systems}
    for name, _ in _translated(job):
        if name not in systems:
            with contextlib.suppress(PreorderError):  # no longer in config/, or without this size
                systems[name] = read_system(name, job.size, job.subwords)
    return replace(job, systems=tuple(systems.values()))


def _translated(job: Job) -> list[tuple[str, int]]:
    """Return name and seed of each training whose translation is there."""
    folders = [path.parent for path in job.folder.glob(f"systems/*/seed*/test.{job.target}")]
    seeds = [(path.parent.name, path.name.removeprefix("seed")) for path in folders]
    return sorted((name, int(seed)) for name, seed in seeds if seed.isdecimal())


def _is_finished(job: Job, runner: StepRunner, system: System, seed: int) -> bool:
    """Say whether the steps of an earlier command are done as this job would do them on any device."""
    trained = job.trained(system)
    path = job.folder / job.config(trained, seed)
    on_disk = yaml.safe_load(path.read_bytes()) if path.exists() else None
    for device in ("cpu", "gpu"):
        on_device = replace(job, device=device)
        steps = (*source_steps(job, system), *steps_of(on_device, system, seed))
        if on_disk == config_of(on_device, trained, seed) and all(map(runner.is_done, steps)):
            return True
    return False


def _last_results(job: Job) -> list[str]:
    with contextlib.suppress(DataError, KeyError, TypeError):
        return list(files.read_json(str(job.folder / RESULTS))["systems"])
    return []


def _score(job: Job, finished: Finished) -> Step:
    """Compare the systems, each with all its trainings, with the first of them."""
    reference = job.text("test", job.target)
    pairs = [(system.name, job.translation(system, seed)) for system, seeds in finished for seed in seeds]
    command = ["preorder", "score", "--ref", reference, "--tokenize", "none", "--json", "--baseline"]
    command += [finished[0][0].name, "--hyp", *(f"{name}={path}" for name, path in pairs)]
    return Step("score", tuple(command), (reference, *(path for _, path in pairs)), (SCORES,), output=SCORES)


def _results(job: Job, runner: StepRunner, finished: Finished) -> dict[str, Any]:
    found = files.read_json(str(job.folder / SCORES))
    words = len((job.folder / job.text("test", job.source)).read_text(encoding="utf-8").split())
    systems = {}
    for system, seeds in finished:
        steps = [steps_of(job, system, seed) for seed in seeds]
        trainings, _, translations = zip(*steps, strict=True)
        times = [host_of(job).seconds(job, runner.stamps, step) for step in translations]
        costs = {
            **({"tau": [_tau(job, system)]} if job.has_links else {}),
            "parameters": [last_number(PARAMETERS, job.folder / step.log) for step in trainings],
            "seconds": [runner.stamps.seconds(step.name) for step in trainings],
            "words_per_second": [words / max(_LEAST, time) for time in times],
        }
        systems[system.name] = {metric: found["runs"][system.name][metric] for metric in TRANSLATION_SCORES}
        for name, values in costs.items():  # as ``preorder score`` gives them: of a sample
            deviation = statistics.stdev(values) if len(values) > 1 else None
            summary = {"mean": statistics.fmean(values), "deviation": deviation, "values": values}
            systems[system.name][name] = summary
        systems[system.name] |= {"seeds": list(seeds), "begins_from": system.begins_from}
    return {
        "size": job.size,
        "source": job.source,
        "target": job.target,
        "seeds": sorted({seed for _, seeds in finished for seed in seeds}),
        "device": job.device,
        "search": asdict(job.search),
        "changes": job.changes,
        "preorderer": job.preorderer and {"model": job.preorderer, "adapted": job.adapt},
        "signature": found["signature"],
        "systems": systems,
        "baseline": finished[0][0].name,
        "significance": found["significance"],
        "best": {metric: found["best"][metric] for metric in TRANSLATION_SCORES},
    }


def _tau(job: Job, system: System) -> float:
    """Return the tau of the order that a system reads."""
    order = files.read_json(str(job.folder / job.evaluation(system.order or GOLD)))
    return (order if system.order else order["monotone"])["tau"]


def _manifest(job: Job, title: str, finished: Finished) -> dict[str, Any]:
    """Return what ``preorder report`` reads: where the run's files are."""
    systems: dict[str, dict[str, Any]] = {}
    for system, seeds in finished:
        systems[system.name] = {"runs": [job.translation(system, seed) for seed in seeds]}
        if system.about:
            systems[system.name]["about"] = system.about
        if system.order and job.has_links:  # without them the report has no use for it
            systems[system.name]["positions"] = job.reordered("test", system.order, "positions")
    curves = job.folder / ROBUSTNESS
    has_curves = curves.exists() and Stamps(curves.parent).hold()
    report = {
        "title": title,
        "source": job.text("test", job.source),
        "references": [job.text("test", job.target)],
        **({"alignment": job.alignment("test")} if job.has_links else {}),
        "tokenize": "none",
        "systems": systems,
    }
    return report | ({"robustness": ROBUSTNESS} if has_curves else {})


def _facts(job: Job, finished: Finished) -> dict[str, str]:
    """Return how the run was made; its date is that of the last translation."""
    made = [job.folder / job.translation(system, seed) for system, seeds in finished for seed in seeds]
    steps = {int(options_of(job, job.trained(system), 1)["train_steps"]) for system, _ in finished}
    return {
        "training pairs": f"{job.pairs:,}",
        "training steps": " or ".join(f"{number:,}" for number in sorted(steps)),
        "seeds": ", ".join(map(str, sorted({seed for _, seeds in finished for seed in seeds}))),
        "size": job.size,
        "commands": "commands.sh, beside this page",
        "version": f"onmt-preorder {__version__}",
        "date": str(date.fromtimestamp(max(path.stat().st_mtime for path in made))),
    }


def _not_converged(job: Job, finished: Finished) -> list[str]:
    """Return a warning for each training whose last checkpoint is its best: it might have gone on."""
    logs = {
        f"{trained.name} with seed {seed}": job.folder / steps_of(job, trained, seed)[0].log
        for system, seeds in finished
        for trained in [job.trained(system)]
        for seed in seeds
    }
    found = {name: validated(read_log(log)) for name, log in logs.items()}
    return [
        f"{name} may not have converged: the last of its {len(ranked)} validations has the best {measure}."
        for name, (measure, ranked) in found.items()
        if len(ranked) > 1 and ranked[0][0] == max(step for step, _ in ranked)
    ]


def _report(manifest: dict[str, Any]) -> Step:
    made = [path for one in manifest["systems"].values() for path in (*one["runs"], one.get("positions"))]
    others = (manifest.get(name) for name in ("alignment", "robustness"))
    texts = (manifest["source"], *manifest["references"], *others)
    reads = dict.fromkeys(path for path in (MANIFEST, *texts, *made) if path)
    return Step("report", ("preorder", "report", ".", "--out", REPORT), tuple(reads), (REPORT,))
