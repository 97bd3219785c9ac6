"""Where everything of a sentence stands on the sheet: a panel below the other."""

from __future__ import annotations

import colorsys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from preorder.analysis.show.drawing import GREY, INK, PAPER, Box, Disc, Drawing, Line, Link, Shape, Text
from preorder.analysis.show.sentence import Shown, crossings_text
from preorder.data.types import BinaryTree

LEAST_WIDTH, MARGIN, GAP = 640, 36, 16
SIZE, SMALL = 18, 12.5
HEADING = 30  # from a panel's top to its content
LEVEL, RADIUS = 34, 10  # of the tree
LINKS = 120  # from the source down to the target
CELL = 26  # of the matrix
UNALIGNED = "#767b80"


@dataclass(frozen=True)
class _Sheet:
    """The width of the sheet, and a colour for each source token."""

    width: float
    colours: Sequence[str]


def draw(shown: Shown) -> Drawing:
    """Draw a sentence. O(tokens of the source × of the target)."""
    sheet = _Sheet(_width(shown), _colours(shown))
    panels = [_before, _after]
    panels += [_attention_panel] if shown.attention is not None else []
    shapes: list[Shape] = []
    top = MARGIN / 2
    for panel in panels:
        added, height = panel(shown, sheet, top)
        shapes += added
        top += height + MARGIN / 2
    return Drawing(sheet.width, top, _title(shown), tuple(shapes))


def _title(shown: Shown) -> str:
    return f"“{' '.join(shown.words)}”, its tree and its links before and after preordering"


def _width(shown: Shown) -> float:
    rows = [shown.words, shown.target or ()]
    matrix = 0.0
    if shown.attention is not None:
        matrix = _label_width(shown) + sum(_column_widths(shown))
    return (
        max(LEAST_WIDTH, matrix, *(sum(map(text_width, row)) + GAP * len(row) for row in rows)) + 2 * MARGIN
    )


def text_width(text: str, size: float = SIZE) -> float:
    """Return about how wide a text is: wide characters are square, others a little over half as wide."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return size * (wide + 0.6 * (len(text) - wide))


def _colours(shown: Shown) -> list[str]:
    """Return a colour for each source token: a rainbow in the target's order, grey without a link."""
    first: dict[int, int] = {}
    for i, j in shown.links:
        first[i] = min(j, first.get(i, j))
    length = len(shown.target or ()) or 1

    def colour(token: int) -> str:
        if token not in first:
            return UNALIGNED if first else INK
        rgb = colorsys.hls_to_rgb(0.02 + 0.75 * first[token] / length, 0.33, 0.75)
        return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)

    return list(map(colour, range(len(shown.words))))


def _centres(words: Sequence[str], width: float) -> list[float]:
    """Return the middle of each word, all spread over the sheet with equal gaps."""
    widths = list(map(text_width, words))
    gap = (width - 2 * MARGIN - sum(widths)) / (len(words) - 1) if len(words) > 1 else 0
    begins = accumulate(widths[:-1], lambda x, wide: x + wide + gap, initial=MARGIN)
    return [begin + wide / 2 for begin, wide in zip(begins, widths, strict=True)] if words else []


def _heading(text: str, top: float) -> Text:
    return Text(MARGIN, top + SMALL, text, SMALL, GREY, "start")


def _before(shown: Shown, sheet: _Sheet, top: float) -> tuple[list[Shape], float]:
    """Draw the source as it is, its tree above it, links below it."""
    name = "as it is written"
    if shown.tree is None or not shown.tree.nodes:
        return _link_panel(shown, sheet, top, range(len(shown.words)), name)
    shapes, height = _tree(shown.tree, _centres(shown.words, sheet.width), top + HEADING)
    name = f"S straight, I inverted; {name}"
    linked, below = _link_panel(shown, sheet, top + height, range(len(shown.words)), name)
    heading = replace(linked[0], y=linked[0].y - height)
    return [heading, *shapes, *linked[1:]], height + below


def _after(shown: Shown, sheet: _Sheet, top: float) -> tuple[list[Shape], float]:
    return _link_panel(shown, sheet, top, shown.permutation.order, "preordered")


def _link_panel(
    shown: Shown, sheet: _Sheet, top: float, order: Sequence[int], name: str
) -> tuple[list[Shape], float]:
    """Draw the source in an order, the target below it, a curve for each link; the heading comes first."""
    centres = dict(zip(order, _centres([shown.words[i] for i in order], sheet.width), strict=True))
    targets = _centres(shown.target or (), sheet.width)
    places = {token: place for place, token in enumerate(order)}
    crossed = crossings_text((places[i], j) for i, j in shown.links)
    heading = f"{name}: {crossed}" if shown.links else name
    upper = top + HEADING + SIZE
    lower = upper + LINKS
    shapes: list[Shape] = [_heading(heading, top)]
    possible = shown.alignment.possible if shown.alignment is not None else ()
    for i, j in shown.links:
        link = Link(centres[i], upper + 24, targets[j], lower - SIZE, sheet.colours[i], (i, j) in possible)
        shapes.append(link)
    for i, x in centres.items():
        shapes.append(Text(x, upper, shown.words[i], SIZE, sheet.colours[i]))
        shapes.append(Text(x, upper + 16, str(shown.permutation.positions[i]), SMALL, sheet.colours[i]))
    owners = {j: sheet.colours[i] for i, j in reversed(shown.links)}
    unlinked = UNALIGNED if owners else INK
    for j, (x, word) in enumerate(zip(targets, shown.target or (), strict=True)):
        shapes.append(Text(x, lower, word, SIZE, owners.get(j, unlinked)))
    return shapes, (lower if targets else upper + 16) - top + SIZE / 2


def _tree(tree: BinaryTree, centres: Sequence[float], top: float) -> tuple[list[Shape], float]:
    """Draw a tree: S on white where a node keeps its children's order, I on black where it inverts it."""
    heights = _heights(tree)
    height = LEVEL * heights[0, tree.length]
    x: dict[tuple[int, int], float] = {(i, i + 1): centre for i, centre in enumerate(centres)}
    for node in reversed(tree.nodes):  # children first
        x[node.begin, node.end] = (x[node.begin, node.split] + x[node.split, node.end]) / 2
    y = {span: top + RADIUS + height - LEVEL * level for span, level in heights.items()}
    edges: list[Shape] = []
    nodes: list[Shape] = []
    for node in tree.nodes:
        span = (node.begin, node.end)
        for child in ((node.begin, node.split), (node.split, node.end)):
            edges.append(Line(x[span], y[span], x[child], y[child]))
        nodes.append(Disc(x[span], y[span], RADIUS, INK if node.inverted else PAPER))
        letter, colour = ("I", PAPER) if node.inverted else ("S", INK)
        nodes.append(Text(x[span], y[span] + SMALL * 0.36, letter, SMALL, colour))
    return [*edges, *nodes], height + RADIUS


def _heights(tree: BinaryTree) -> dict[tuple[int, int], int]:
    heights = {(i, i + 1): 0 for i in range(tree.length)}
    for node in reversed(tree.nodes):
        children = heights[node.begin, node.split], heights[node.split, node.end]
        heights[node.begin, node.end] = 1 + max(children)
    return heights


def _label_width(shown: Shown) -> float:
    return max(map(text_width, shown.target), default=0) + GAP


def _column_widths(shown: Shown) -> list[float]:
    return [max(CELL, text_width(word, SMALL) + GAP / 2) for word in shown.words]


def _attention_panel(shown: Shown, sheet: _Sheet, top: float) -> tuple[list[Shape], float]:
    """Draw the attention as a matrix of greys: target tokens down, source tokens across."""
    widths = _column_widths(shown)
    lefts = list(accumulate(widths, initial=MARGIN + _label_width(shown)))
    upper = top + HEADING + SMALL
    shapes: list[Shape] = [_heading("attention of target to source tokens, from white, 0, to black, 1", top)]
    for left, width, word, colour in zip(lefts, widths, shown.words, sheet.colours, strict=False):
        shapes.append(Text(left + width / 2, upper, word, SMALL, colour))
    for j, (target, row) in enumerate(zip(shown.target, shown.attention, strict=True)):
        y = upper + 6 + CELL * j
        shapes.append(Text(lefts[0] - GAP / 2, y + CELL / 2 + SIZE * 0.36, target, SIZE, INK, "end"))
        for left, width, weight in zip(lefts, widths, row, strict=False):
            shapes.append(Box(left, y, width, CELL, _grey(weight)))
    return shapes, upper + 6 + CELL * len(shown.target) - top


def _grey(weight: float) -> str:
    return "#" + f"{round(255 * (1 - weight)):02x}" * 3
