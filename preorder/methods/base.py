"""What every way to preorder has in common, and how its models lie on disk.

A model directory holds ``model.json`` (what it is, what it needs, how it was trained),
``weights.safetensors`` (arrays) and, where the model has word classes of its own,
``classes.txt``. Nothing in it is executed.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from preorder.annotate.classes import WordClasses
from preorder.annotate.stanza_models import StanzaOptions
from preorder.data import files
from preorder.data.errors import DataError, UsageError
from preorder.data.types import NO_LINES, BinaryTree, Bitext, Permutation, Sentence
from preorder.learning.checkpoint import NO_CHECKPOINT, Checkpoint

FORMAT = "onmt-preorder model"
VERSION = 2

METHODS = {
    "btg": ("preorder.methods.perceptron.options:Options", "preorder.methods.perceptron.model:BTGPreorderer"),
    "neural-btg": (
        "preorder.methods.neural.options:Options",
        "preorder.methods.neural.model:NeuralBTGPreorderer",
    ),
    "swap-logistic": (
        "preorder.methods.node_labels.logistic.options:Options",
        "preorder.methods.node_labels.logistic.model:SwapLogisticPreorderer",
    ),
    "rvnn": (
        "preorder.methods.node_labels.recursive.options:Options",
        "preorder.methods.node_labels.recursive.model:RvNNPreorderer",
    ),
    "swap-lstm": (
        "preorder.methods.node_labels.recursive.options:ContextualOptions",
        "preorder.methods.node_labels.recursive.model:ContextualPreorderer",
    ),
}
"""Name of a method → its options, light to import, and its class, imported at use."""

ATTACHMENT = "links.weights"
"""The array that a model has beside its method's own where unaligned tokens are attached."""

STANZA_LAYERS = ("trees", "tagset", "tagged")
"""What a model notes of the options of Stanza: not where its models lay, nor on which device it ran."""

LAYERS = {
    "tags": "POS tags (--pos)",
    "classes": "word classes (--classes)",
    "constituency": "constituency trees (--trees)",
    "dependency": "dependency trees (--trees)",
}
"""Layers of annotation that a model may need, and how to give them."""


class Preorderer(Protocol):
    """A trained preorderer: a pure function of annotated sentences."""

    method: ClassVar[str]

    @classmethod
    def fit(
        cls, bitext: Bitext, options: Any, held_out: Bitext = NO_LINES, checkpoint: Checkpoint = NO_CHECKPOINT
    ) -> tuple[Preorderer, dict[str, Any]]:
        """Learn from annotated sentences and their alignments, as in :mod:`preorder.learning.training_loop`.

        Args:
            bitext: the lines to learn from.
            options: the method's own.
            held_out: lines with the same layers, by which the best iteration is found.
            checkpoint: from which, if it is there, training goes on.

        Returns:
            The preorderer, and figures of its training for ``model.json``.
        """

    @property
    def layers(self) -> frozenset[str]:
        """Names of the layers of a :class:`Sentence` that it reads beside the words."""

    def order(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        """Return the reordering of each sentence."""

    def trees(self, sentences: Sequence[Sentence], threads: int = 1) -> list[BinaryTree]:
        """Return the tree behind each reordering."""

    def best_orders(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, Permutation]]]:
        """Return the k best distinct reorderings of each sentence with their scores, best first.

        The score of a reordering is that of the best tree behind it; there are fewer where the method
        gives fewer to so short a sentence. The first is what :meth:`order` returns.
        """

    def best_trees(
        self, sentences: Sequence[Sentence], k: int, threads: int = 1
    ) -> list[list[tuple[float, BinaryTree]]]:
        """Return the trees behind the :meth:`best_orders`."""

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Preorderer:
        """Rebuild a preorderer.

        Raises:
            DataError: the state is not one of this method.
        """


@dataclass(frozen=True)
class Model:
    """A preorderer with all that raw text needs to reach it.

    Attributes:
        preorderer: the method's own part.
        classes: word classes learned with it, or None.
        language: source language code, or None.
        training: options and figures of its training, for people to read.
        stanza: what Stanza added to the sentences that it was trained on, or None.
    """

    preorderer: Preorderer
    classes: WordClasses | None = None
    language: str | None = None
    training: dict[str, Any] = field(default_factory=dict)
    stanza: StanzaOptions | None = None

    def annotate(self, sentence: Sentence) -> Sentence:
        """Add the layers that the model can make itself.

        Raises:
            UsageError: a layer that it needs is neither given nor derivable.
        """
        if self.classes is not None and sentence.classes is None:
            sentence = replace(sentence, classes=self.classes.of(sentence.words))
        for name in self._needs:
            if getattr(sentence, name) is None:
                raise UsageError(f"the model needs {LAYERS[name]}, and none are given")
        return sentence

    @cached_property
    def _needs(self) -> list[str]:
        return sorted(self.preorderer.layers)


def save_model(model: Model, directory: str) -> None:
    """Write a model directory, whole or not at all.

    Raises:
        DataError: it cannot be written.
    """
    values, arrays = model.preorderer.state()
    description = {
        "format": FORMAT,
        "version": VERSION,
        "method": model.preorderer.method,
        "language": model.language,
        "needs": sorted(model.preorderer.layers),
        "stanza": model.stanza and {name: getattr(model.stanza, name) for name in STANZA_LAYERS},
        "training": model.training,
        "state": values,
    }
    with files.atomic_directory(directory) as folder:
        files.write_json(str(folder / "model.json"), description)
        # Not by save_file, which makes files that none but their owner can read.
        (folder / "weights.safetensors").write_bytes(save(arrays))
        if model.classes is not None:
            files.write_lines(str(folder / "classes.txt"), model.classes.lines())


def load_model(directory: str) -> Model:
    """Read a model directory.

    Raises:
        DataError: it is missing, damaged, or of a version that we do not know.
    """
    folder = Path(directory)
    path = str(folder / "model.json")
    description = files.read_json(path)
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise DataError(f"not an {FORMAT}", path)
    if description.get("version") != VERSION:
        raise DataError(f"version {description.get('version')} of the format, not {VERSION}", path)
    if description.get("method") not in METHODS:
        raise DataError(f"unknown method {description.get('method')!r}", path)
    try:
        arrays = load_file(folder / "weights.safetensors")
    except (OSError, SafetensorError) as error:
        raise DataError(f"cannot be read: {error}", str(folder / "weights.safetensors")) from None
    classes_path = folder / "classes.txt"
    return Model(
        _rebuilt(description, arrays),
        WordClasses.read(str(classes_path)) if classes_path.exists() else None,
        description.get("language"),
        description.get("training", {}),
        _stanza(description, path),
    )


def _stanza(description: dict[str, Any], path: str) -> StanzaOptions | None:
    values = description.get("stanza")
    if values is None:
        return None
    if not isinstance(values, dict) or set(values) != set(STANZA_LAYERS):
        raise DataError("what it says of Stanza is damaged", path)
    return StanzaOptions(description.get("language"), **values)


def _rebuilt(description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Preorderer:
    preorderer = method_class(description["method"]).from_state(description["state"], arrays)
    if ATTACHMENT not in arrays:
        return preorderer
    from preorder.methods.unaligned.preorderer import Attaching

    return Attaching.of(preorderer, arrays[ATTACHMENT])


def method_class(method: str) -> type[Any]:
    """Import the class of a method."""
    return _imported(METHODS[method][1])


def all_options() -> dict[str, type[Any]]:
    """Return the options of each method, as :mod:`preorder.learning.options` takes them."""
    return {method: _imported(options) for method, (options, _) in METHODS.items()}


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
