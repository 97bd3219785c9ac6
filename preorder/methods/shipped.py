"""The models that come with the package, and the card of each: what it orders, what it has learned from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from preorder.io import files, storage

FOLDER = Path(__file__).parents[1] / "models"
CARD = "card.json"


def shipped_models() -> tuple[str, ...]:
    """Return the names of all models that come with the package."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob(f"*/{CARD}")))


def located(directory: str) -> str:
    """Return a model directory, or where the model of this name lies that comes with the package."""
    shipped = FOLDER / directory
    is_name = directory and os.path.basename(directory) == directory
    return str(shipped) if is_name and shipped.is_dir() and not storage.exists(directory) else directory


def read_card(name: str) -> dict[str, Any]:
    """Return what there is to know of a model that comes with the package: its card, its name, its size.

    That is its ``source`` and ``target`` language, what it was ``trained_on``, its ``licence``, the tau
    ``measured`` on texts, the ``date`` of its training, and its ``size`` in bytes.
    """
    folder = FOLDER / name
    size = sum(path.stat().st_size for path in folder.iterdir())
    return {"name": name, **files.read_json(str(folder / CARD)), "size": size}
