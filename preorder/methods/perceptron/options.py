"""How to train a BTG preorderer: the only home of its options. Imports nothing that is slow to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from preorder.alignment.unaligned import UnalignedOption


@dataclass(frozen=True)
class Options:
    """How to train.

    ``seed`` is of the order in which sentences are seen, ``threads`` the sentences solved at a time:
    the model does not depend on it. The others are explained by their help.
    """

    unaligned: UnalignedOption = "free"
    iterations: Annotated[int, "passes over the sentences, at most"] = 20
    patience: Annotated[int, "stop when so many iterations have not raised tau on the held-out lines"] = 8
    cost: Annotated[float, "what a node that violates the alignment costs, in training"] = 1.0
    aggressiveness: Annotated[float, "greatest step of an update"] = 0.003
    minibatch: Annotated[int, "sentences solved under the same weights"] = 32
    seed: int = 1
    threads: int = 1
