"""A picture as a value of the Python API."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from preorder.analysis.pictures.encode import svg_element, write_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class DrawnPicture:
    """A picture that a notebook shows where it is the value of a cell.

    Attributes:
        title: what it shows, for those who cannot see it.
        draw: draws it.
    """

    title: str
    draw: Callable[[], Figure] = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as a file, as ``preorder show`` does: SVG, PNG or PDF, as the suffix of its name says.

        Raises:
            UsageError: the suffix is another; or the picture is too large for a PNG.
            DataError: the file cannot be written.
        """
        write_picture(self.draw, self.title, os.fspath(path))

    def _repr_svg_(self) -> str:
        """What Jupyter asks for."""
        return svg_element(self.draw, self.title)
