"""A drawing: shapes on a sheet, without a word on how they get on a screen. y grows downwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

INK, GREY, PAPER = "#202124", "#5f6368", "#ffffff"

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Text:
    """A text whose line stands on y."""

    x: float
    y: float
    text: str
    size: float = 18
    colour: str = INK
    anchor: Anchor = "middle"


@dataclass(frozen=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = GREY
    width: float = 1.5


@dataclass(frozen=True)
class Link:
    """A curve that leaves both its ends upright."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Disc:
    """A filled circle with a rim."""

    x: float
    y: float
    radius: float
    fill: str


@dataclass(frozen=True)
class Box:
    """A filled rectangle, its rim grey."""

    x: float
    y: float
    width: float
    height: float
    fill: str


Shape = Text | Line | Link | Disc | Box


@dataclass(frozen=True)
class Drawing:
    """Shapes, the later above the earlier, on a sheet; the title says what they show."""

    width: float
    height: float
    title: str
    shapes: tuple[Shape, ...]
