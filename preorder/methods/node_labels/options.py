"""How to train what labels given trees. Imports nothing that is slow to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from preorder.data.trees import BinarisationOption
from preorder.learning.options import DropoutOption, IterationsOption, LearningRateOption, MinibatchOption

Weighting = Literal["nodes", "pairs"]
SizeOption = Annotated[
    int,
    "number of units: of the vectors of words and nodes (rvnn), of the LSTMs and hidden layer (swap-lstm)",
    1 << 14,
]


@dataclass(frozen=True)
class RecursiveOptions:
    """How to train the recursive network; each option is explained by its help.

    ``seed`` decides the first weights, what dropout drops and the order in which sentences are seen.
    ``threads`` order held-out lines; the model does not depend on them.
    """

    binarisation: BinarisationOption = "head"
    category: Annotated[Literal["on", "off"], "whether the network sees the categories of nodes"] = "on"
    weighting: Annotated[
        Weighting,
        "how much a node counts in training: nodes: all the same; pairs: by the number of pairs of tokens "
        "that its label puts in order",
    ] = "pairs"
    inverted_weight: Annotated[
        float, "factor by which an inverted node counts more in training than a straight one"
    ] = 1.0
    iterations: IterationsOption = 5
    minibatch: MinibatchOption = 500
    learning_rate: LearningRateOption = 0.002
    dropout: DropoutOption = 0.2
    vocabulary: Annotated[
        int, "maximum number of words with an embedding of their own, the most frequent ones", 10**8
    ] = 50_000
    size: SizeOption = 200
    seed: int = 1
    threads: int = 1


@dataclass(frozen=True)
class ContextualOptions(RecursiveOptions):
    """How to train the contextual network: the same options, with defaults of its own."""

    iterations: IterationsOption = 6
    minibatch: MinibatchOption = 32
    dropout: DropoutOption = 0.3
    size: SizeOption = 128
