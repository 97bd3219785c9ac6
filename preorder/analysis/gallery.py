"""Sentences before and after preordering, written to files and shown in notebooks."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial

from preorder.analysis import PAGE
from preorder.analysis.plots import svg_element, write_picture
from preorder.analysis.report import page
from preorder.analysis.sentence_picture import draw_sentence, draw_sentences, sentence_title
from preorder.analysis.sentence_view import Gallery, Numbered, SentenceView
from preorder.io.files import write_lines


def write_gallery(gallery: Gallery, page_title: str, path: str) -> None:
    """Write sentences to a file: the suffix chooses a page or a picture."""
    if path.endswith(PAGE):
        write_lines(path, [page(page_title, gallery=gallery)])
    else:
        drawn = [(None if gallery.is_single else one.title, one.view) for one in gallery.drawn]
        title = f"{len(drawn)} sentences before and after preordering"
        if gallery.is_single:
            title = sentence_title(drawn[0][1])
        write_picture(partial(draw_sentences, drawn), title, path)


@dataclass(frozen=True)
class DrawnPicture:
    """A sentence that a notebook shows as a picture where it is the value of a cell."""

    title: str  # what it shows, for those who cannot see it
    view: SentenceView = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sentence to a file, in the format of its suffix, as ``preorder show --out`` does.

        The suffixes are ``.svg``, ``.png``, ``.pdf`` and ``.html`` (a page).

        Raises:
            UsageError: the suffix is another; or the picture is too large for a PNG.
            DataError: the file cannot be written.
            MissingExtraError: matplotlib is not installed.

        Example:
            >>> model.picture("they like books").save("books.svg")
        """
        gallery = Gallery("1 sentence", (Numbered(1, self.view),), True)
        write_gallery(gallery, self.title, os.fspath(path))

    def _repr_svg_(self) -> str:
        return svg_element(partial(draw_sentence, self.view), self.title)
