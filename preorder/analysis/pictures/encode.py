"""Pictures as the content of files: the same result gives the same bytes."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from preorder.analysis.defaults import PICTURES
from preorder.analysis.pictures.style import PARAMETERS
from preorder.errors import UsageError, require, shown
from preorder.io.files import write_bytes
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESOLUTION = 160  # dots an inch
MOST_PIXELS = 2**16  # on either side: more matplotlib does not draw
CJK_FONTS = ("Noto Sans CJK JP", "Noto Sans CJK SC", "IPAGothic", "Hiragino Sans", "Yu Gothic", "MS Gothic")
"""Fonts that may be installed, for letters that DejaVu Sans lacks."""

XML = '<?xml version="1.0" encoding="utf-8"?>'
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class Picture(NamedTuple):
    """The content of a file, and whether there were letters for all its text."""

    data: bytes
    complete: bool


def encode(draw: Callable[[], Figure], title: str, path: str) -> Picture:
    """Return a picture as the content of a file, whose name ends in one of :data:`PICTURES`.

    Args:
        draw: draws the picture.
        title: what it shows, for those who cannot see it.
        path: the file's name.

    Raises:
        MissingExtraError: matplotlib is not installed.
        UsageError: the name ends otherwise, or the picture is too large for a PNG.
    """
    if path.endswith(".svg"):
        return Picture(f"{XML}\n{svg_element(draw, title)}\n".encode(), complete=True)
    if path.endswith(".pdf"):
        unknown = dict.fromkeys(("Creator", "Producer", "CreationDate"))
        return _saved(draw, "pdf", metadata=unknown | {"Title": title})
    if not path.endswith(".png"):
        raise UsageError(f"a picture's name ends in {' or '.join(PICTURES)}: {shown(path)}")
    return _saved(draw, "png", dpi=RESOLUTION, metadata={"Software": None, "Title": title})


def write_picture(draw: Callable[[], Figure], title: str, path: str) -> None:
    """Write a picture as a file, as :func:`encode` makes it, and say so if it lacks letters.

    Raises:
        MissingExtraError, UsageError: as there.
        DataError: the file cannot be written.
    """
    picture = encode(draw, title, path)
    write_bytes(path, picture.data)
    if not picture.complete:
        LOGGER.warning(f"{path}: no installed font has all its characters; an .svg keeps them")


def svg_element(draw: Callable[[], Figure], title: str, transparent: bool = False) -> str:
    """Return a picture as one ``<svg>`` element that can stand in a page, on white or on the page's ground.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    unknown = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    text = _saved(draw, "svg", metadata=unknown, transparent=transparent).data.decode("utf-8")
    head, end, rest = _without_ballast(text[text.index("<svg") :].rstrip()).partition(">")
    title = escape(NOT_IN_XML.sub("\ufffd", title), {'"': "&quot;"})
    rest = NOT_IN_XML.sub("\ufffd", rest)
    return f'{head} role="img" aria-label="{title}"{end}\n <title>{title}</title>{rest}'


def _without_ballast(svg: str) -> str:
    """Leave out names that nothing refers to, groups of one element, and what each word repeats."""
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)  # a page holds several pictures: names would clash
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    families = set(re.findall(r"font-family: [^;]*;", svg))
    if len(families) == 1:  # told once, not with every word
        (family,) = families
        svg = svg.replace(f"{family} ", "").replace("<svg ", f'<svg style="{family}" ', 1)
    svg = re.sub(r"<g>\s*(<text [^<]*</text>|<path [^<]*/>)\s*</g>", r"\1", svg)
    return re.sub(r' d="[^"]*"', lambda path: path[0].replace(" \n", " ").replace("\n", ""), svg)


def _saved(draw: Callable[[], Figure], form: str, **options: object) -> Picture:
    matplotlib = require("matplotlib", "plots")
    stream = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        matplotlib.rcdefaults()  # the user's own settings would change the bytes
        matplotlib.rcParams.update(PARAMETERS)
        if form != "svg":  # which leaves the choice of a font to the program that shows it
            matplotlib.rcParams["font.family"] = ["DejaVu Sans", *_installed(CJK_FONTS)]
        figure = draw()
        if form == "png" and max(figure.get_size_inches()) * RESOLUTION >= MOST_PIXELS:
            raise UsageError("too large for a .png: give fewer or shorter sentences, or write an .svg")
        figure.savefig(stream, format=form, **options)
    return Picture(stream.getvalue(), not any("missing from" in str(warning.message) for warning in caught))


def _installed(names: Sequence[str]) -> list[str]:
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in names if name in installed]
