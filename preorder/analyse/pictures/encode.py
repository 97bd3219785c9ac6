"""Pictures as the content of files: the same result gives the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from preorder.analyse.pictures.style import PARAMETERS
from preorder.errors import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESOLUTION = 160  # dots an inch


def encode(draw: Callable[[], Figure], title: str, path: str) -> bytes:
    """Return the content of a file of the sort that its name says.

    Args:
        draw: draws the picture.
        title: what it shows, for those who cannot see it.
        path: the file's name.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if path.endswith(".svg"):
        return f'<?xml version="1.0" encoding="utf-8"?>\n{svg_element(draw, title)}\n'.encode()
    return _saved(draw, "png", dpi=RESOLUTION, metadata={"Software": None, "Title": title})


def svg_element(draw: Callable[[], Figure], title: str, transparent: bool = False) -> str:
    """Return a picture as one ``<svg>`` element that can stand in a page, on white or on the page's ground.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    unknown = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    text = _saved(draw, "svg", metadata=unknown, transparent=transparent).decode("utf-8")
    text = text[text.index("<svg") :].rstrip()
    text = re.sub(r'<g id="[^"]*">', "<g>", text)  # nothing refers to these, and pages hold several pictures
    head, end, rest = text.partition(">")
    return f'{head} role="img" aria-label="{_attribute(title)}"{end}\n <title>{escape(title)}</title>{rest}'


def _attribute(text: str) -> str:
    return escape(text, {'"': "&quot;"})


def _saved(draw: Callable[[], Figure], form: str, **options: object) -> bytes:
    matplotlib = require("matplotlib", "plots")
    stream = io.BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the user's own settings would change the bytes
        matplotlib.rcParams.update(PARAMETERS)
        draw().savefig(stream, format=form, **options)
    return stream.getvalue()
