"""What pictures of results have in common: sizes, fonts, and looks of systems that differ without colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from preorder.errors import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 5.4  # inches; text keeps its size where a picture is set as wide as a page's column
HEIGHT = 2.5  # of a panel
INTERVAL = {"capsize": 2, "elinewidth": 0.8, "capthick": 0.8}

PARAMETERS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial"],
    "font.size": 9.5,
    "grid.color": "#d9d9d9",
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: it can be searched, and read aloud
    "svg.hashsalt": "onmt-preorder",  # else names inside the file are random
}


@dataclass(frozen=True)
class Style:
    """How a system is drawn; the seven styles differ in line, marker and hatch, not only in colour."""

    colour: str
    line: Any
    marker: str
    hatch: str


_STYLES = (
    Style("#000000", "-", "o", ""),
    Style("#d55e00", "--", "s", "///"),
    Style("#0072b2", "-.", "^", "---"),
    Style("#009e73", ":", "D", "\\\\\\"),
    Style("#cc79a7", (0, (5, 1, 1, 1, 1, 1)), "v", "xxx"),
    Style("#a6761d", (0, (8, 2)), "P", "|||"),
    Style("#56b4e9", (0, (1, 3)), "X", "+++"),
)


def styles(names: Sequence[str]) -> dict[str, Style]:
    """Return a style for each name, in order; the eighth has that of the first."""
    return {name: _STYLES[k % len(_STYLES)] for k, name in enumerate(names)}


def new_figure(panels: int) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels one below the other.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require("matplotlib", "plots")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT * panels + 0.4), layout="constrained")
    return figure, list(figure.subplots(panels, 1, squeeze=False)[:, 0])


def add_legend(figure: Figure, handles: Mapping[str, Any]) -> None:
    """Put one legend above all panels; names in it are plain text, whatever characters they have."""
    longest = max(map(cell_len, handles)) * 0.6 * PARAMETERS["font.size"] / 72  # inches
    columns = min(4, max(1, int(WIDTH / (longest + 0.6))))
    legend = figure.legend(handles.values(), range(len(handles)), loc="outside upper left", ncols=columns)
    for text, name in zip(legend.get_texts(), handles, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
