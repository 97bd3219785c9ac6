"""Text inside XML."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def allowed(text: str) -> str:
    """Return a text with U+FFFD for each character that XML 1.0 cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def escaped(text: str) -> str:
    """Return a text as XML, fit for content and for attributes in double quotes."""
    return escape(allowed(text), {'"': "&quot;"})
