"""What training asks of tokens without a link: an option of every method. Light to import."""

from __future__ import annotations

from typing import Annotated, Literal

UnalignedTokens = Literal["free", "gold"]

UnalignedOption = Annotated[
    UnalignedTokens,
    "a token without a link may go anywhere (free), or belongs with its nearest aligned neighbour (gold)",
]
