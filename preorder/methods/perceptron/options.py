"""How to train a BTG preorderer. Imports nothing that is slow to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from preorder.learning.options import IterationsOption, MinibatchOption


@dataclass(frozen=True)
class Options:
    """How to train; each option is explained by its help.

    ``seed`` decides the order in which sentences are seen. ``threads`` is how many sentences are solved
    at a time; the model does not depend on it.
    """

    iterations: IterationsOption = 8
    cost: Annotated[float, "what a node that violates the alignment costs in training"] = 1.0
    aggressiveness: Annotated[float, "greatest size of an update's step"] = 0.0035
    minibatch: MinibatchOption = 32
    seed: int = 1
    threads: int = 1
