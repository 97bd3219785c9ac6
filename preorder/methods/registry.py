"""The methods: the options of each, and its preorderer, which is imported at use. Imports nothing slow."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any, Literal, NamedTuple

from preorder.data.trees import Binarisation
from preorder.errors import UsageError
from preorder.learning.options import (
    DropoutOption,
    IterationsOption,
    LearningRateOption,
    MinibatchOption,
    WordDropoutOption,
)


@dataclass(frozen=True)
class PerceptronOptions:
    """``btg``: threads solve sentences at the same time."""

    iterations: IterationsOption = 8
    cost: Annotated[float, "what a node that violates the alignment costs in training"] = 1.0
    aggressiveness: Annotated[float, "greatest size of an update's step"] = 0.0035
    minibatch: MinibatchOption = 32
    word_dropout: WordDropoutOption = 0.0
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
    word_dropout: WordDropoutOption = 0.0
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

    binarisation: Annotated[
        Binarisation,
        "how trees are made binary: head (a head is joined with its neighbours first), left or right "
        "(branching)",
    ] = "head"
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
    word_dropout: WordDropoutOption = 0.0
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


class Method(NamedTuple):
    """A way to preorder."""

    options: type[Any]
    preorderer: str  # where in this package it is
    summary: str = ""  # what it does, of all methods that do the same
    needs_trees: bool = False  # a syntax tree of each sentence
    averages: bool = False  # one model can be the mean of several (--members)
    keeps_folds: bool = False  # also of models that have learned from different lines (--keep-folds)
    has_confidences: bool = False  # it says how sure it is of an order (--confidence-out)


SWAPS = "decide for each node of a syntax tree (--trees) whether to swap its children"

METHODS: dict[str, Method] = {
    "btg": Method(
        PerceptronOptions,
        "perceptron_btg.model:BTGPreorderer",
        "find the best binary tree over the words by the scores of a perceptron",
        averages=True,
        has_confidences=True,
    ),
    "neural-btg": Method(
        NeuralBTGOptions,
        "neural_btg.model:NeuralBTGPreorderer",
        "by those of a network",
        averages=True,
        keeps_folds=True,
        has_confidences=True,
    ),
    "rvnn": Method(RecursiveOptions, "tree_swap.model:RvNNPreorderer", SWAPS, needs_trees=True),
    "swap-lstm": Method(ContextualOptions, "tree_swap.model:ContextualPreorderer", SWAPS, needs_trees=True),
}

NEED_TREES = tuple(name for name, method in METHODS.items() if method.needs_trees)


LONG = 15  # tokens of a sentence on average, from which a network is worth its time


def choose_method(sentences: Sequence[Sized], has_trees: bool) -> tuple[str, str]:
    """Return the method for a text where none is named, and why (recipes/kftt/RESULTS.md has the figures)."""
    if find_spec("torch") is None:
        return "btg", "torch is not installed, which the others need"
    if has_trees:
        return "rvnn", "there are syntax trees"
    mean = sum(map(len, sentences)) / max(1, len(sentences))
    lengths = f"source sentences have {mean:.0f} tokens on average"
    if mean < LONG:
        return "btg", lengths
    return "neural-btg", f"{lengths}; it orders long ones better than btg, and trains 2 to 8 times as long"


def check_trees(method: str, given: bool) -> None:
    """Check that syntax trees are given to a method that needs them."""
    if METHODS[method].needs_trees and not given:
        raise UsageError(f"`method` {method} needs syntax `trees`, constituency or dependency")


def check_able(name: str, method: str, ability: str) -> None:
    """Refuse a value where a method lacks this field of :class:`Method`."""
    if not getattr(METHODS[method], ability):
        able = (other for other, one in METHODS.items() if getattr(one, ability))
        raise UsageError(f"`{name}`: of method {' and '.join(able)} alone, not {method}")


def method_class(method: str) -> type[Any]:
    """Import the :class:`preorder.methods.base.Preorderer` of a method."""
    return pkgutil.resolve_name(f"preorder.methods.{METHODS[method].preorderer}")


def summaries() -> str:
    """Return what each method does, in one line."""
    names: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        names.setdefault(method.summary, []).append(name)
    return "; ".join(f"{', '.join(those)}: {summary}" for summary, those in names.items() if summary)


def all_options() -> dict[str, type[Any]]:
    """Return the class of each method's options, as :mod:`preorder.learning.options` takes them."""
    return {name: method.options for name, method in METHODS.items()}
