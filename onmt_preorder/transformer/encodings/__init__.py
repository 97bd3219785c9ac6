"""The encodings of positions in an encoder: a file for each, small objects without state.

A new encoding is a subclass of :class:`Encoding` in a file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from onmt_preorder.transformer.attention import Positions, RelativePart

ORIGINAL, PREORDERED = "original", "preordered"


@dataclass(frozen=True)
class Encoding:
    """An encoding of the positions in one order, which changes nothing.

    Shape legend: b batch, n length, h heads, d size of a head.
    """

    rotates: ClassVar[bool] = False
    has_parts: ClassVar[bool] = False

    order: str = PREORDERED
    """Whose positions: those of the source's :data:`ORIGINAL` order, or :data:`PREORDERED` ones."""

    def embed(self, embedded: Tensor, _: Positions) -> Tensor:
        """Encode positions in the embeddings of a batch, ``(b, n, size)``, before their dropout."""
        return embedded

    def rotate(self, query: Tensor, key: Tensor, _: Positions) -> tuple[Tensor, Tensor]:
        """Encode positions in queries and keys, ``(b, h, n, d)``."""
        return query, key

    def tables(self, _: int) -> nn.Module | None:
        """Make the parameters that each layer has for heads of a size; they are named by the order."""
        return None

    def parts(self, _: Any, __: Positions) -> tuple[RelativePart, ...]:
        """Return what attention adds by distance, given the layer's ``tables`` and the positions."""
        return ()
