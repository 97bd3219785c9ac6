"""The checkpoints of a training, ``MODEL_step_N.pt``, and which of them the validation liked best."""

from __future__ import annotations

import re
from pathlib import Path


def paths(model: Path) -> dict[int, Path]:
    """Return the checkpoint of each step that is there, in order, by the training's ``save_model``."""
    name = re.compile(rf"{re.escape(model.name)}_step_([0-9]{{1,18}})\.pt")
    folder = model.parent.iterdir() if model.parent.is_dir() else ()
    matches = ((path, name.fullmatch(path.name)) for path in folder)
    return dict(sorted((int(match[1]), path) for path, match in matches if match))


def by_perplexity(found: dict[int, float]) -> list[tuple[int, float]]:
    """Sort steps and validation perplexities: the best first, the first of equals before the others."""
    return sorted(found.items(), key=lambda item: (item[1], item[0]))
