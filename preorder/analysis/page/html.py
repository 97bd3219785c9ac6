"""HTML made of elements; text is escaped unless it is known to be HTML."""

from __future__ import annotations

from html import escape

EMPTY = frozenset({"meta", "br"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | bool) -> Markup:
    """Return an element; an attribute that is True has no value, one that is False is left out.

    ``class_`` and ``for_`` stand for the names that Python keeps; ``_`` inside a name for ``-``.
    """
    head = tag
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        if value is True:
            head += f" {name}"
        elif value is not False:
            head += f' {name}="{escape(value)}"'
    if tag in EMPTY:
        return Markup(f"<{head}>")
    return Markup(f"<{head}>{join(*children)}</{tag}>")


def join(*parts: str) -> Markup:
    """Return parts one after another."""
    return Markup("".join(part if isinstance(part, Markup) else escape(part) for part in parts))
