"""The methods: the options of each, and its preorderer, which is imported at use. Imports nothing slow."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from preorder.data.trees import BinarisationOption
from preorder.errors import UsageError
from preorder.learning.options import DropoutOption, IterationsOption, LearningRateOption, MinibatchOption


@dataclass(frozen=True)
class PerceptronOptions:
    """``btg``: threads solve sentences at the same time."""

    iterations: IterationsOption = 8
    cost: Annotated[float, "what a node that violates the alignment costs in training"] = 1.0
    aggressiveness: Annotated[float, "greatest size of an update's step"] = 0.0035
    minibatch: MinibatchOption = 32
    weights: Annotated[int, "most weights that the model keeps, the largest ones", 10**9] = 3_000_000
    seed: int = 1
    threads: int = 1


@dataclass(frozen=True)
class NeuralBTGOptions:
    """``neural-btg``: threads order held-out lines, and train the ensemble partner."""

    iterations: IterationsOption = 6
    minibatch: MinibatchOption = 64
    learning_rate: LearningRateOption = 0.004
    dropout: DropoutOption = 0.5
    hidden: Annotated[int, "number of units of each LSTM", 1 << 14] = 128
    depth: Annotated[int, "number of layers of LSTMs", 100] = 2
    bfloat16: Annotated[
        Literal["auto", "off"],
        "multiply in bfloat16 in training; auto: where the processor or GPU does so faster",
    ] = "auto"
    ensemble: Annotated[
        Literal["perceptron", "none"],
        "perceptron: also train the perceptron of --method btg on the same lines, and combine its orders "
        "with the network's",
    ] = "perceptron"
    seed: int = 1
    threads: int = 1


Weighting = Literal["nodes", "pairs"]
SizeOption = Annotated[
    int,
    "number of units: of the vectors of words and nodes (rvnn), of the LSTMs and hidden layer (swap-lstm)",
    1 << 14,
]


@dataclass(frozen=True)
class RecursiveOptions:
    """``rvnn``: threads order held-out lines."""

    binarisation: BinarisationOption = "head"
    category: Annotated[Literal["on", "off"], "whether the network sees the categories of nodes"] = "on"
    weighting: Annotated[
        Weighting,
        "how much a node counts in training: nodes: all the same; pairs: by the number of pairs of tokens "
        "that its label puts in order",
    ] = "pairs"
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
    """``swap-lstm``: the same options, with other defaults."""

    iterations: IterationsOption = 6
    minibatch: MinibatchOption = 32
    dropout: DropoutOption = 0.3
    size: SizeOption = 128


METHODS: dict[str, tuple[type[Any], str]] = {
    "btg": (PerceptronOptions, "perceptron.model:BTGPreorderer"),
    "neural-btg": (NeuralBTGOptions, "neural_btg.model:NeuralBTGPreorderer"),
    "rvnn": (RecursiveOptions, "tree_swap.model:RvNNPreorderer"),
    "swap-lstm": (ContextualOptions, "tree_swap.model:ContextualPreorderer"),
}
"""Name of a method → its options, and where in this package its preorderer is."""

NEED_TREES = ("rvnn", "swap-lstm")  # a syntax tree of each sentence


def check_trees(method: str, given: bool) -> None:
    """Check that syntax trees are given to a method that needs them."""
    if method in NEED_TREES and not given:
        kinds = "constituency or dependency, with --lang"
        raise UsageError(f"--method {method} needs syntax trees: --trees F, or --trees {kinds}")


def method_class(method: str) -> type[Any]:
    """Import the :class:`preorder.methods.base.Preorderer` of a method."""
    return pkgutil.resolve_name(f"preorder.methods.{METHODS[method][1]}")


def all_options() -> dict[str, type[Any]]:
    """Return the class of each method's options, as :mod:`preorder.learning.options` takes them."""
    return {method: options for method, (options, _) in METHODS.items()}
