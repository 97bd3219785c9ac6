"""A system's configuration, and which of the prepared sources it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from recipes.job import CONFIGS, Job

PREDICTED, GOLD = "predicted", "gold"
KEPT = "gold_kept"  # the gold order in which unaligned words keep their places (Chen et al. 2020, §4)


def config_path(job: Job, system: str) -> Path:
    """Return the file that describes a system."""
    return CONFIGS / job.size / f"{system}.yaml"


def read_config(job: Job, system: str) -> dict[str, Any]:
    """Read a system's options as they stand in ``config/``, with those of subwords and the job's changes."""
    subwords = [CONFIGS / f"subwords-{job.subwords}.yaml"] if job.subwords else []
    files = [path.read_text(encoding="utf-8") for path in (config_path(job, system), *subwords)]
    return yaml.safe_load("\n".join(files)) | job.changes


def reads_text(system: str) -> bool:
    """Return whether a system reads words that were put in order, not positions beside them."""
    return system.endswith("_text")


def order_of(job: Job, system: str) -> str | None:
    """Return whose order a system is told in translation: ``predicted``, ``gold``, or None for none."""
    if GOLD in system.split("_"):
        return GOLD
    encoded = read_config(job, system).get("preorder_encoding")
    return PREDICTED if encoded or reads_text(system) else None


def supervision_of(job: Job, system: str) -> str | None:
    """Return whose order a system learns from and is not told in translation, or None."""
    if read_config(job, system).get("explicit_reordering", "none") == "none":
        return None
    return PREDICTED if PREDICTED in system.split("_") else KEPT


def source_file(job: Job, system: str, part: str) -> str:
    """Return what a system reads as source: plain text, reordered text or ``token￨position``."""
    supervision = supervision_of(job, system)
    if supervision and part != "test":
        return job.reordered(part, supervision, "features")
    order = order_of(job, system)
    if order is None:
        return job.text(part, job.source)
    return job.reordered(part, order, "text" if reads_text(system) else "features")
