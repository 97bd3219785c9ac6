"""The page of one gallery."""

from __future__ import annotations

from preorder.analysis.page.content import anchor, content
from preorder.analysis.page.document import document, links
from preorder.analysis.show.gallery import Gallery

NAME = "gallery"


def gallery_page(title: str, gallery: Gallery) -> str:
    """Return the whole page.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    titles = {anchor(NAME, one): one.title for one in gallery.sentences}
    return document(title, links("Sentences", titles), content(gallery, NAME))
