"""The models that come with the package, and the card of each: what it orders, what it has learned from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preorder.errors import DataError, errors_in
from preorder.io import files, storage

FOLDER = Path(__file__).parents[1] / "models"
CARD = "card.json"


@dataclass(frozen=True)
class Text:
    """A bitext from which a model has learned."""

    name: str
    pairs: int
    licence: str


@dataclass(frozen=True)
class Measurement:
    """How right a model's orders are on a text: Kendall's tau, −1 to 1, of tokens with links."""

    text: str
    unreordered: float
    tau: float


@dataclass(frozen=True)
class Card:
    """What there is to know of a model before one takes it."""

    name: str
    source: str  # language of the text that it orders
    target: str  # the languages in whose order it puts it
    trained_on: tuple[Text, ...]
    licence: str
    measured: tuple[Measurement, ...]
    date: str  # of the training: YYYY-MM-DD
    size: int  # in bytes


def shipped_models() -> tuple[str, ...]:
    """Return the names of all models that come with the package."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob(f"*/{CARD}")))


def located(directory: str) -> str:
    """Return a model directory, or where the model of this name lies that comes with the package."""
    shipped = FOLDER / directory
    is_name = directory and os.path.basename(directory) == directory
    return str(shipped) if is_name and shipped.is_dir() and not storage.exists(directory) else directory


def read_card(name: str) -> Card:
    """Read the card of a model that comes with the package; a DataError: the card is damaged."""
    folder = FOLDER / name
    value: Any = files.read_json(str(folder / CARD))
    with errors_in(str(folder / CARD)):
        try:
            trained_on = tuple(Text(**one) for one in value.pop("trained_on"))
            measured = tuple(Measurement(**one) for one in value.pop("measured"))
            size = sum(path.stat().st_size for path in folder.iterdir())
            return Card(name, trained_on=trained_on, measured=measured, size=size, **value)
        except (AttributeError, KeyError, TypeError):
            raise DataError("not the card of a model") from None
