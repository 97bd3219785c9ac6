"""How to train the logistic regression on nodes. Imports nothing that is slow to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from preorder.alignment.gold import UnalignedOption
from preorder.data.trees import BinarisationOption


@dataclass(frozen=True)
class Options:
    """How to train; each option is explained by its help. ``threads`` is not used."""

    binarisation: BinarisationOption = "head"
    unaligned: UnalignedOption = "free"
    inverse_penalty: Annotated[float, "inverse strength of the regularisation"] = 0.05
    seed: int = 1
    threads: int = 1
