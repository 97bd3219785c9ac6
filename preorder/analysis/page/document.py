"""What every page of HTML here has: its head, its style, and what a browser may load for it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from preorder.analysis.page.html import Markup, element, escape

CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What a browser may load for the page: nothing."""

DOCTYPE = "<!doctype html>"


def document(title: str, navigation: str, *main: str) -> str:
    """Return a whole page: its title above the navigation, the main part below."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=CONTENT_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", _resource("report.css")),
    )
    body = element(
        "body",
        element("header", element("h1", title), navigation),
        element("main", *main),
        element("script", _resource("report.js")),
    )
    return f"{DOCTYPE}\n{element('html', head, body, lang='en')}\n"


def is_page(path: Path) -> bool:
    """Say whether a file begins as a page does."""
    with path.open("rb") as stream:
        beginning = stream.read(500).decode(errors="replace")
    return beginning.startswith(DOCTYPE) and str(escape(CONTENT_POLICY)) in beginning


def links(label: str, headings: Mapping[str, str]) -> Markup:
    """Return a list of links to headings, given by their ids."""
    items = (element("li", element("a", heading, href=f"#{name}")) for name, heading in headings.items())
    return element("nav", element("ul", *items), aria_label=label)


def _resource(name: str) -> Markup:
    return Markup(files(__package__).joinpath(name).read_text(encoding="utf-8"))
