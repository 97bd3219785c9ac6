"""How to train the networks that label given trees: the only home of their options. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from preorder.alignment.unaligned import UnalignedOption
from preorder.data.trees import BinarisationOption

Weighting = Literal["nodes", "pairs"]
Switch = Literal["on", "off"]


@dataclass(frozen=True)
class Options:
    """How to train the recursive network.

    ``seed`` is of the first weights, of what dropout drops and of the order in which sentences are
    seen; ``threads`` is of what computes a minibatch. The others are explained by their help.
    """

    binarisation: BinarisationOption = "head"
    unaligned: UnalignedOption = "free"
    category: Annotated[Switch, "whether the category of a node tells its label"] = "on"
    weighting: Annotated[
        Weighting, "what counts the same in training: nodes, or pairs of tokens that a node decides"
    ] = "pairs"
    inverted_weight: Annotated[float, "how much more an inverted node counts in training than a straight"] = (
        1.0
    )
    iterations: Annotated[int, "passes over the sentences, at most"] = 5
    patience: Annotated[int, "stop when so many iterations have not raised tau on the held-out lines"] = 4
    minibatch: Annotated[int, "sentences solved under the same weights"] = 500
    learning_rate: Annotated[float, "greatest step of Adam; it rises first, then falls to nothing"] = 0.002
    dropout: Annotated[float, "share of what layers see that is left out in training"] = 0.2
    vocabulary: Annotated[int, "most words with an embedding of their own, the frequent ones"] = 50_000
    size: Annotated[
        int, "of vectors: those of words and nodes (rvnn), states and hidden layer (swap-lstm)"
    ] = 200
    seed: int = 1
    threads: int = 1


@dataclass(frozen=True)
class ContextualOptions(Options):
    """How to train the contextual network; as :class:`Options`, with defaults of its own."""

    iterations: Annotated[int, "passes over the sentences, at most"] = 6
    minibatch: Annotated[int, "sentences solved under the same weights"] = 32
    dropout: Annotated[float, "share of what layers see that is left out in training"] = 0.3
    size: Annotated[int, "of the states of LSTMs and of the hidden layer"] = 128
