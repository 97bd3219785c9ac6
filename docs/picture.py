"""Draw the worked example of Kawara et al. 2021, before and after preordering.

``python docs/picture.py > docs/example.svg``
"""

from __future__ import annotations

import colorsys
import sys
import unicodedata
from collections.abc import Sequence
from xml.sax.saxutils import escape

from preorder.types import Permutation

SOURCE = "I like the pen that my father bought yesterday".split()
POSITIONS = Permutation((0, 8, 6, 7, 5, 1, 2, 4, 3))
TARGET = "私 は 父 が 昨日 買っ た ペン が 好き だ".split()
LINKS = ((0, 0), (1, 9), (3, 7), (5, 2), (6, 2), (7, 5), (8, 4))

WIDTH, MARGIN = 900, 40
ROW, PANEL = 150, 270  # between the two sides; from one panel to the next
SIZE, SMALL = 20, 13
UNALIGNED, GREY = "#9aa0a6", "#5f6368"


def draw() -> str:
    """Return the picture as SVG."""
    identity = Permutation.identity(len(SOURCE))
    panels = (("as it is written", identity), ("preordered: the links no longer cross", POSITIONS))
    height = PANEL * len(panels) + MARGIN // 2
    body = [
        line
        for number, (title, permutation) in enumerate(panels)
        for line in _panel(title, permutation, MARGIN + number * PANEL)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" text-anchor="middle" role="img">',
            "<title>An English sentence and its Japanese translation, before and after preordering</title>",
            f'<rect width="{WIDTH}" height="{height}" rx="12" fill="#ffffff"/>',
            *body,
            "</svg>",
        ]
    )


def _panel(title: str, permutation: Permutation, top: float) -> list[str]:
    """Draw the source in an order above the target, a curve for each link."""
    centres = _centres(permutation.apply(SOURCE))
    sources = [centres[place] for place in permutation.positions]
    targets = _centres(TARGET)
    colours = _colours()
    upper, lower = top + 42, top + 42 + ROW
    heading = f'<text x="{MARGIN}" y="{top}" text-anchor="start" font-size="{SMALL}" fill="{GREY}">'
    lines = [heading + escape(title) + "</text>"]
    for i, j in LINKS:
        x, y, middle = sources[i], targets[j], (upper + lower) / 2 - 4
        path = f"M{x:.1f} {upper + 26} C{x:.1f} {middle} {y:.1f} {middle} {y:.1f} {lower - 22}"
        lines.append(f'<path d="{path}" fill="none" stroke="{colours[i]}" stroke-width="2.5"/>')
    for i, word in enumerate(SOURCE):
        colour = colours.get(i, UNALIGNED)
        lines.append(_text(sources[i], upper, SIZE, colour, word))
        lines.append(_text(sources[i], upper + 18, SMALL, colour, str(POSITIONS.positions[i])))
    linked = {j: colours[i] for i, j in LINKS}
    for j, word in enumerate(TARGET):
        lines.append(_text(targets[j], lower, SIZE, linked.get(j, UNALIGNED), word))
    return lines


def _centres(words: Sequence[str]) -> list[float]:
    """Return where words stand, spread over the width with equal gaps."""
    widths = [sum(SIZE if unicodedata.east_asian_width(c) == "W" else SIZE * 0.56 for c in w) for w in words]
    gap = (WIDTH - 2 * MARGIN - sum(widths)) / (len(words) - 1)
    begins = [MARGIN + sum(widths[:k]) + gap * k for k in range(len(words))]
    return [begin + width / 2 for begin, width in zip(begins, widths, strict=True)]


def _colours() -> dict[int, str]:
    """Return a colour for each aligned source word: they run through the rainbow in the target's order."""
    colours = {}
    for i, j in LINKS:
        rgb = colorsys.hls_to_rgb(0.02 + 0.75 * j / len(TARGET), 0.38, 0.75)
        colours[i] = "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
    return colours


def _text(x: float, y: float, size: int, colour: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}">{escape(text)}</text>'


if __name__ == "__main__":
    sys.stdout.write(draw() + "\n")
