"""A sentence as a picture: panels one below the other, drawn with matplotlib, the extra ``plots``."""

from __future__ import annotations

import colorsys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from preorder.analysis.sentence_view import SentenceView, panel_names
from preorder.data import BinaryTree
from preorder.errors import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK, GREY, UNLINKED, PAPER = "#202124", "#5f6368", "#767b80", "#ffffff"

# Lengths are in hundredths of an inch; y grows downwards.
MIN_WIDTH, MARGIN, GAP = 640, 36, 16
SIZE, SMALL = 18, 12.5  # of letters
HEADING = 30  # from a panel's top to its content
TREE_LEVEL, NODE_RADIUS = 34, 10
LINKS = 120  # from the source down to the target
POINTS = 0.72  # in a hundredth of an inch


def sentence_title(view: SentenceView) -> str:
    """Return the title of :func:`draw_sentence`."""
    parts = " and ".join(["its tree"] * (view.tree is not None) + ["its links"] * bool(view.links))
    return ", ".join(filter(None, (f"“{' '.join(view.words)}”", parts, "before and after preordering")))


def draw_sentence(view: SentenceView) -> Figure:
    """Draw a sentence before and after preordering."""
    return draw_sentences([(None, view)])


def draw_sentences(titled: Iterable[tuple[str | None, SentenceView]]) -> Figure:
    """Draw sentences one below the other, each under its title, as :func:`draw_sentence` does."""
    require("matplotlib", "plots")
    from matplotlib.figure import Figure

    figure = Figure(facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    width, bottom = 0.0, MARGIN / 2
    for title, view in titled:
        sheet = _Sheet(axes, sentence_width(view), _colours(view))
        if title is not None:
            sheet.write(MARGIN, bottom + SIZE, title, SIZE, INK, "left")
            bottom += SIZE + GAP / 2
        bottom = sheet.draw(view, bottom)
        width = max(width, sheet.width)
    figure.set_size_inches(width / 100, bottom / 100)
    axes.set(xlim=(0, width), ylim=(bottom, 0))
    return figure


def text_width(text: str) -> float:
    """Return about how wide a text is: wide characters are square, others a little over half as wide."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return SIZE * (wide + 0.6 * (len(text) - wide))


def sentence_width(view: SentenceView) -> float:
    """Return how wide the picture of a sentence is, in hundredths of an inch."""
    rows = [view.words, view.target or ()]
    widths = [sum(map(text_width, row)) + GAP * len(row) for row in rows]
    return max(MIN_WIDTH, *widths) + 2 * MARGIN


def _colours(view: SentenceView) -> list[str]:
    """Return a colour for each source token: a rainbow in the target's order, grey without a link."""
    first: dict[int, int] = {}
    for i, j in view.links:
        first[i] = min(j, first.get(i, j))
    length = len(view.target or ()) or 1

    def colour(token: int) -> str:
        if token not in first:
            return UNLINKED if first else INK
        rgb = colorsys.hls_to_rgb(0.02 + 0.75 * first[token] / length, 0.33, 0.75)
        return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)

    return list(map(colour, range(len(view.words))))


@dataclass(frozen=True)
class _Sheet:
    """Where panels are drawn; each takes the y of its top, and returns the y below it."""

    axes: Axes
    width: float
    colours: Sequence[str]

    def draw(self, view: SentenceView, top: float) -> float:
        """Draw the source as it is, its tree above it, links below it; then preordered."""
        before, after = panel_names(view)
        height = 0.0
        if view.tree is not None and view.tree.nodes:
            before = f"S straight, I inverted; {before}"
            height = self._draw_tree(view.tree, self._centres(view.words), top + HEADING)
        bottom = self._draw_links(view, top, range(len(view.words)), before, height)
        return self._draw_links(view, bottom, view.permutation.order, after)

    def _draw_links(
        self, view: SentenceView, top: float, order: Sequence[int], name: str, tree_height: float = 0
    ) -> float:
        centres = dict(zip(order, self._centres([view.words[i] for i in order]), strict=True))
        targets = self._centres(view.target or ())
        self.write(MARGIN, top + SMALL, name, SMALL, GREY, "left")
        upper = top + tree_height + HEADING + SIZE
        lower = upper + LINKS
        possible = view.alignment.possible if view.alignment is not None else ()
        for i, j in view.links:
            ends = (centres[i], upper + 24), (targets[j], lower - SIZE)
            self._link(*ends, self.colours[i], "--" if (i, j) in possible else "-")
        for i, x in centres.items():
            self.write(x, upper, view.words[i], SIZE, self.colours[i])
            self.write(x, upper + 16, str(view.permutation.positions[i]), SMALL, self.colours[i])
        linked = {j: self.colours[i] for i, j in reversed(view.links)}
        for j, (x, word) in enumerate(zip(targets, view.target or (), strict=True)):
            self.write(x, lower, word, SIZE, linked.get(j, UNLINKED if linked else INK))
        return (lower if targets else upper + 16) + SIZE / 2 + MARGIN / 2

    def _draw_tree(self, tree: BinaryTree, centres: Sequence[float], top: float) -> float:
        """Draw a tree, S on white for straight nodes, I on black for inverted ones; return its height."""
        from matplotlib.collections import LineCollection

        spots = {
            (i, i + 1): (centre, 0) for i, centre in enumerate(centres)
        }  # x, levels above the deepest leaf
        for node in reversed(tree.nodes):  # children first
            (left, low), (right, lower) = spots[node.begin, node.split], spots[node.split, node.end]
            spots[node.begin, node.end] = (left + right) / 2, 1 + max(low, lower)
        height = TREE_LEVEL * spots[0, tree.length][1]
        bottom = top + NODE_RADIUS + height
        points = {span: (x, bottom - TREE_LEVEL * level) for span, (x, level) in spots.items()}
        edges = [
            (points[node.begin, node.end], points[child])
            for node in tree.nodes
            for child in ((node.begin, node.split), (node.split, node.end))
        ]
        look = {"colors": GREY, "linewidths": 1.5 * POINTS, "zorder": 0, "clip_on": False}
        self.axes.add_collection(LineCollection(edges, **look))
        centres_of_nodes = zip(*(points[node.begin, node.end] for node in tree.nodes), strict=True)
        fills = [INK if node.inverted else PAPER for node in tree.nodes]
        look = {"edgecolors": INK, "linewidths": POINTS, "clip_on": False}
        self.axes.scatter(*centres_of_nodes, s=(2 * NODE_RADIUS * POINTS) ** 2, c=fills, **look)
        for node in tree.nodes:
            across, down = points[node.begin, node.end]
            letter, colour = ("I", PAPER) if node.inverted else ("S", INK)
            self.write(across, down + SMALL * 0.36, letter, SMALL, colour)
        return height + NODE_RADIUS

    def _centres(self, words: Sequence[str]) -> list[float]:
        """Return the middle of each word, all spread over the sheet with equal gaps."""
        widths = list(map(text_width, words))
        gap = (self.width - 2 * MARGIN - sum(widths)) / (len(words) - 1) if len(words) > 1 else 0
        begins = accumulate(widths[:-1], lambda x, wide: x + wide + gap, initial=float(MARGIN))
        return [begin + wide / 2 for begin, wide in zip(begins, widths, strict=True)] if words else []

    def write(self, x: float, y: float, text: str, size: float, colour: str, side: str = "center") -> None:
        """Write a text, its base line at y."""
        look = {"fontsize": size * POINTS, "color": colour, "parse_math": False}
        self.axes.text(x, y, text, ha=side, va="baseline", **look)

    def _link(self, begin: tuple[float, float], end: tuple[float, float], colour: str, style: str) -> None:
        """Draw a curve that is upright at both ends."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        middle = (begin[1] + end[1]) / 2
        curve = Path([begin, (begin[0], middle), (end[0], middle), end], [Path.MOVETO, *[Path.CURVE4] * 3])
        look = {"edgecolor": colour, "linewidth": 2.5 * POINTS, "linestyle": style}
        self.axes.add_patch(PathPatch(curve, facecolor="none", clip_on=False, **look))
