"""How to train the logistic regression on nodes: the only home of its options. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from preorder.alignment.unaligned import UnalignedOption
from preorder.data.trees import BinarisationOption


@dataclass(frozen=True)
class Options:
    """How to train; all but ``seed`` and ``threads``, which it has no use for, is explained by its help."""

    binarisation: BinarisationOption = "head"
    unaligned: UnalignedOption = "free"
    inverse_penalty: Annotated[float, "how little large weights cost"] = 0.05
    seed: int = 1
    threads: int = 1
