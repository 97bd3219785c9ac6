"""How to train a neural BTG preorderer. Imports nothing that is slow to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from preorder.learning.options import DropoutOption, IterationsOption, LearningRateOption, MinibatchOption


@dataclass(frozen=True)
class Options:
    """How to train; each option is explained by its help.

    ``seed`` decides the first weights, what dropout drops and the order in which sentences are
    seen. ``threads`` order held-out lines, and train the ensemble partner; the model does not depend on them.
    """

    iterations: IterationsOption = 6
    minibatch: MinibatchOption = 64
    learning_rate: LearningRateOption = 0.004
    dropout: DropoutOption = 0.5
    hidden: Annotated[int, "number of units of each LSTM", 1 << 14] = 128
    depth: Annotated[int, "number of layers of LSTMs", 100] = 2
    bfloat16: Annotated[
        Literal["auto", "on", "off"],
        "multiply in bfloat16 in training; auto: where the processor or GPU does so faster",
    ] = "auto"
    ensemble: Annotated[
        Literal["perceptron", "none"],
        "perceptron: also train the perceptron of --method btg on the same lines, and combine its orders "
        "with the network's",
    ] = "perceptron"
    seed: int = 1
    threads: int = 1
