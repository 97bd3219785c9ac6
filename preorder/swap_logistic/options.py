"""How to train the logistic regression on nodes: the only home of its options. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from preorder.btg.options import Unaligned
from preorder.trees.types import Binarisation


@dataclass(frozen=True)
class Options:
    """How to train; all but ``seed`` and ``threads``, which it has no use for, is explained by its help."""

    binarisation: Annotated[
        Binarisation,
        "how trees are made binary: head (what is beside the head joins it first), left or right branching",
    ] = "head"
    unaligned: Annotated[
        Unaligned,
        "a token without a link may go anywhere (free), or belongs with its nearest aligned neighbour (gold)",
    ] = "free"
    inverse_penalty: Annotated[float, "how little large weights cost"] = 0.05
    seed: int = 1
    threads: int = 1
