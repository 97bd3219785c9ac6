"""A trained model on disk.

A model directory holds ``model.json`` (which method it is, which annotation it needs, how it was trained),
``weights.safetensors`` (arrays) and, where the model has word classes of its own, ``classes.txt``. Nothing in
it is executed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from preorder.annotate.classes import WordClasses
from preorder.annotate.stanza_models import StanzaOptions
from preorder.data import files
from preorder.data.errors import DataError, UsageError
from preorder.data.types import Sentence
from preorder.learning.checkpoint import Arrays
from preorder.methods.base import ATTACHMENT, Preorderer
from preorder.methods.registry import METHODS, method_class

FORMAT = "onmt-preorder model"
VERSION = 2

STANZA_FIELDS = ("trees", "tagset", "tagged")
"""The options of Stanza that a model keeps: not where its models lay, nor on which device it ran."""

LAYER_OPTIONS = {
    "tags": "POS tags (--pos)",
    "classes": "word classes (--classes)",
    "constituency": "constituency trees (--trees)",
    "dependency": "dependency trees (--trees)",
}
"""The layers of annotation that a model may need, and the options that give them."""


@dataclass(frozen=True)
class Model:
    """A preorderer with everything that it needs to order plain text.

    Attributes:
        preorderer: of any method.
        classes: word classes learned with it, or None.
        language: source language code, or None.
        training: options and statistics of its training, for people to read.
        stanza: what Stanza added to the sentences that it was trained on, or None.
    """

    preorderer: Preorderer
    classes: WordClasses | None = None
    language: str | None = None
    training: dict[str, Any] = field(default_factory=dict)
    stanza: StanzaOptions | None = None

    def annotate(self, sentence: Sentence) -> Sentence:
        """Add the word classes if the model has its own, and check that no layer is missing.

        Raises:
            UsageError: the sentence lacks a layer that the model needs.
        """
        if self.classes is not None and sentence.classes is None:
            sentence = self.classes.add_to(sentence)
        for name in sorted(self.preorderer.layers):
            if getattr(sentence, name) is None:
                raise UsageError(f"the model needs {LAYER_OPTIONS[name]}, and none are given")
        return sentence


def save_model(model: Model, directory: str) -> None:
    """Write a model directory, whole or not at all; a DataError says that it cannot be written."""
    values, arrays = model.preorderer.state()
    description = {
        "format": FORMAT,
        "version": VERSION,
        "method": model.preorderer.method,
        "language": model.language,
        "needs": sorted(model.preorderer.layers),
        "stanza": model.stanza and {name: getattr(model.stanza, name) for name in STANZA_FIELDS},
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
        _preorderer(description, arrays),
        WordClasses.read(str(classes_path)) if classes_path.exists() else None,
        description.get("language"),
        description.get("training", {}),
        _stanza(description, path),
    )


def _stanza(description: dict[str, Any], path: str) -> StanzaOptions | None:
    values = description.get("stanza")
    if values is None:
        return None
    if not isinstance(values, dict) or set(values) != set(STANZA_FIELDS):
        raise DataError("what it says of Stanza is damaged", path)
    return StanzaOptions(description.get("language"), **values)


def _preorderer(description: dict[str, Any], arrays: Arrays) -> Preorderer:
    preorderer = method_class(description["method"]).from_state(description["state"], arrays)
    if ATTACHMENT not in arrays:
        return preorderer
    from preorder.methods.unaligned.preorderer import AttachingPreorderer  # compiled code: slow to import

    return AttachingPreorderer.of(preorderer, arrays[ATTACHMENT])
