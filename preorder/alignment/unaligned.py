"""What training asks of tokens without a link: an option of every method. Quick to import."""

from __future__ import annotations

from typing import Annotated, Literal

UnalignedTokens = Literal["free", "gold"]

UnalignedOption = Annotated[
    UnalignedTokens,
    "in training, a token without a link may go anywhere (free) or stays with its nearest aligned neighbour "
    "(gold)",
]
