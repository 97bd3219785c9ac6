"""How to train a neural BTG preorderer: the only home of its options. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from preorder.alignment.unaligned import UnalignedOption


@dataclass(frozen=True)
class Options:
    """How to train.

    ``seed`` is of the first weights, of what dropout drops and of the order in which sentences are
    seen; ``threads`` is of what computes a minibatch. The others are explained by their help.
    """

    unaligned: UnalignedOption = "free"
    iterations: Annotated[int, "passes over the sentences, at most"] = 8
    patience: Annotated[int, "stop when so many iterations have not raised tau on the held-out lines"] = 4
    minibatch: Annotated[int, "sentences solved under the same weights"] = 64
    learning_rate: Annotated[float, "greatest step of Adam; it rises first, then falls to nothing"] = 0.003
    dropout: Annotated[float, "share of what layers hand on that is left out in training"] = 0.5
    hidden: Annotated[int, "size of each LSTM's state"] = 128
    depth: Annotated[int, "layers of LSTMs"] = 2
    adviser: Annotated[
        Literal["perceptron", "none"],
        "train also the perceptron of --method btg on the same lines, and count its orders when in doubt",
    ] = "perceptron"
    seed: int = 1
    threads: int = 1
