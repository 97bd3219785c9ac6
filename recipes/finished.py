"""Which systems of a run are finished: those that this command names, and those of earlier commands."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from preorder.errors import PreorderError
from recipes.job import Job
from recipes.prepare import source_steps
from recipes.step_runner import StepRunner
from recipes.systems import System, read_system
from recipes.train import config_of, steps_of

RESULTS = "results.json"


@dataclass(frozen=True)
class Finished:
    """A system, and the seeds with which it is trained."""

    system: System
    seeds: tuple[int, ...]


def find_finished(job: Job, runner: StepRunner) -> list[Finished]:
    """Return the job's systems, and all others that were trained and translated with the same options.

    They stand in the order of the last results, or in that of the job where it names all of these.
    """
    found: dict[str, tuple[System, set[int]]] = {
        system.name: (system, set(job.seeds)) for system in job.systems
    }
    others = []
    for name, seed in _translated(job):
        if name in found and seed in found[name][1]:
            continue
        system = _finished(job, runner, name, seed)
        if system is None:
            others.append(f"{name} with seed {seed}")
        else:
            found.setdefault(name, (system, set()))[1].add(seed)
    if others:
        runner.say(f"not in the results, since other options or data made them: {', '.join(others)}")
    return [Finished(found[name][0], tuple(sorted(found[name][1]))) for name in _in_order(job, list(found))]


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


def _finished(job: Job, runner: StepRunner, name: str, seed: int) -> System | None:
    """Return a system of an earlier command if its steps are done as this job would do them on any device."""
    try:
        system = read_system(name, job.size, job.subwords)
        on_disk = yaml.safe_load((job.folder / job.config(system, seed)).read_text(encoding="utf-8"))
    except (PreorderError, OSError, UnicodeDecodeError, yaml.YAMLError):
        return None
    for device in ("cpu", "gpu"):
        on_device = replace(job, device=device)
        if on_disk == _as_read(config_of(on_device, system, seed)) and all(
            map(runner.is_done, [*source_steps(job, system), *steps_of(on_device, system, seed)])
        ):
            return system
    return None


def _as_read(config: dict[str, Any]) -> Any:
    return yaml.safe_load(yaml.safe_dump(config, allow_unicode=True))


def _in_order(job: Job, found: Sequence[str]) -> list[str]:
    earlier = [name for name in _last_results(job) if name in found]
    named = [system.name for system in job.systems]
    return [*dict.fromkeys([*(() if set(earlier) <= set(named) else earlier), *named, *found])]


def _last_results(job: Job) -> list[str]:
    try:
        results = json.loads((job.folder / RESULTS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    systems = results.get("systems") if isinstance(results, dict) else None
    return list(systems) if isinstance(systems, dict) else []
