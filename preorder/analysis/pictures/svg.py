"""A picture as a value of the Python API."""

from __future__ import annotations

from dataclasses import dataclass, field

from preorder.analysis.pictures.encode import XML
from preorder.data.files import write_lines


@dataclass(frozen=True)
class SvgPicture:
    """A picture that a notebook shows where it is the value of a cell.

    Attributes:
        title: what it shows, for those who cannot see it.
        svg: the ``<svg>`` element.
    """

    title: str
    svg: str = field(repr=False)

    def save(self, path: str) -> None:
        """Write it as a file, as ``preorder show`` does.

        Raises:
            DataError: the file cannot be written.
        """
        write_lines(path, [XML, self.svg])

    def _repr_svg_(self) -> str:
        """What Jupyter asks for."""
        return self.svg
