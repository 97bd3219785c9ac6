"""WMT's test sets and translations as they come: ``.sgm``, and the XML that followed it.

Both hold segments, ``<seg id="1">…</seg>``. A file of SGML has one side, or one system. One of XML has
sources, references and translations (``<src>``, ``<ref>``, ``<hyp>``) of each document.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from preorder.data.texts import MARKUP, text_lines
from preorder.errors import DataError
from preorder.io.files import display_name, first_filled, read_lines

Role = Literal["src", "ref", "hyp"]

_TAG = re.compile(r"<(src|ref|hyp|srcset|refset|tstset|doc|seg)\b([^>]*)>([^<]*)", re.I)
_WHOSE = re.compile(r"\b(?:sysid|translator|system)\s*=\s*[\"']([^\"']*)", re.I)
_SETS = {"srcset": "src", "refset": "ref", "tstset": "hyp"}


def read_sentences(path: str, role: Role) -> Iterator[str]:
    """Yield the lines of a text, or the segments of a role in markup.

    Raise a DataError for other files, and if there are no such segments, or those of several systems.
    """
    first, lines = first_filled(read_lines(path))
    if not MARKUP.match(first):
        yield from text_lines(path, lines)
        return
    yield from segments(path, lines, role)


def segments(path: str, lines: Iterable[str], role: Role) -> list[str]:
    """Return the segments of a role in markup, each in one line, with entities resolved."""
    found: dict[str, dict[str, list[str]]] = {}  # by role, then by translator or system
    current, whose = str(role), ""
    for tag, attributes, text in _TAG.findall("\n".join(lines)):
        tag, named = tag.lower(), _WHOSE.search(attributes)
        if tag == "seg":
            line = " ".join(html.unescape(text).split())
            found.setdefault(current, {}).setdefault(whose, []).append(line)
        elif tag in _SETS:
            current, whose = _SETS[tag], ""
        else:
            current = current if tag == "doc" else tag
            whose = named[1] if named else ""
    # The name of a set may be wrong (translations are often called refset): take the only side.
    sides = found.get(role, {}) if len(found) > 1 else next(iter(found.values()), {})
    if len(sides) != 1:
        what = f"segments of {', '.join(sides)}: give those of one" if sides else f"no <seg> of {role}"
        raise DataError(what, display_name(path))
    return next(iter(sides.values()))
