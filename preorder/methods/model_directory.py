"""A trained model on disk: a directory of which nothing is executed.

It holds ``model.json`` (which method it is, which annotation it needs, how it was trained),
``weights.safetensors`` and, where the model has word classes of its own, ``classes.txt``.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load, save

from preorder.annotate.classes import WordClasses
from preorder.annotate.options import LANGUAGE, TREES, AnnotatorOptions
from preorder.data import Sentence
from preorder.errors import DataError, UsageError, errors_in, shown
from preorder.io import atomic, files, storage
from preorder.io.storage import is_url
from preorder.methods import FORMAT_VERSION
from preorder.methods.base import Preorderer
from preorder.methods.registry import METHODS, method_class
from preorder.methods.shipped import located
from preorder.progress import LOGGER
from preorder.syntax.read import TAGSETS, Tagset

NAMES = DESCRIPTION, WEIGHTS, CLASSES = "model.json", "weights.safetensors", "classes.txt"

FORMAT = "onmt-preorder model"
CHECKSUMS = "checksums"
FIELDS: dict[str, tuple[Any, bool]] = {  # of a description: its type, and whether it must be there
    "format": (str, True),
    "version": (int, True),
    "method": (str, True),
    "language": (str | None, False),
    "needs": (list, False),
    "stanza": (dict | None, False),
    "tagset": (str | None, False),
    "lowercased": (bool, False),
    "training": (dict, False),
    "state": (dict, True),
    CHECKSUMS: (dict, True),
}

MAX_TRIES = 5  # to read a model that another process may be replacing

STANZA_FIELDS = ("trees", "tagset", "tagged")  # of Stanza's options that a model keeps, beside
STANZA_FOLDER = "folder"  # that of its models, an absolute path

LAYER_OPTIONS = {  # what a model may need
    "tags": "POS tags (`tags`)",
    "classes": "word classes (`annot`)",
    "constituency": "constituency trees (`trees`)",
    "dependency": "dependency trees (`trees`)",
}


_PARTS = re.compile(r"[^/|:;,_+·\-]+")  # of a tag, between what separates tagsets
TAGS_LOOKED_AT = 100  # tokens by which the tags of a text are judged
MOST_KNOWN = 0.05  # greatest share that a model knows of another tagset's tags
SHOWN_TAGS = 3


class TagReader:
    """Read tags as a model knows them; warn once if it knows almost none of the first hundred.

    A tag of two tagsets (``NN/名詞``) becomes the part that the model knows, if it knows neither the whole
    tag nor another part. Threads may share a reader.
    """

    def __init__(self) -> None:
        self._read: dict[str, str] = {}
        self._seen: list[str] | None = []

    def __call__(self, tags: Sequence[str], preorderer: Preorderer) -> tuple[str, ...]:
        """Return the tags as the model knows them."""
        for tag in {*tags} - self._read.keys():
            parts = {*_PARTS.findall(tag)} - {tag}
            known = () if not parts or preorderer.knows_tag(tag) else filter(preorderer.knows_tag, parts)
            first, *others = [*known] or [tag]
            self._read[tag] = tag if others else first
        read = tuple(map(self._read.__getitem__, tags))
        self._watch(read, preorderer)
        return read

    def _watch(self, tags: Sequence[str], preorderer: Preorderer) -> None:
        seen = self._seen
        if seen is None:
            return
        seen.extend(tags)
        if len(seen) < TAGS_LOOKED_AT:
            return
        self._seen = None
        counts = Counter(seen)
        known = sum(count for tag, count in counts.items() if preorderer.knows_tag(tag))
        if known <= MOST_KNOWN * len(seen):
            here = ", ".join(tag for tag, _ in counts.most_common(SHOWN_TAGS))
            names = ", ".join(preorderer.tag_names[:SHOWN_TAGS])
            learned = f" ({shown(names)[1:-1]})" if names else ""
            LOGGER.warning(
                f"the text's POS tags ({shown(here)[1:-1]}) are of another tagset than those that the "
                f"model has learned from{learned}: tag the text as its training text was tagged"
            )


@dataclass(frozen=True)
class Model:
    """A preorderer with everything that it needs to order plain text."""

    preorderer: Preorderer
    classes: WordClasses | None = None  # learned with it
    language: str | None = None  # code of the source language
    training: dict[str, Any] = field(default_factory=dict)  # options and statistics, for people to read
    stanza: AnnotatorOptions | None = None  # what Stanza added to the sentences that it was trained on
    tagset: Tagset | None = None  # which tags of CoNLL-U it reads; None: those that the file names
    lowercased: bool = False  # whether the text that it was trained on has letters, but no capitals
    tag_reader: TagReader = field(default_factory=TagReader, compare=False, repr=False)

    def spelled(self, sentence: Sentence) -> Sentence:
        """Return a sentence as the model reads it: in lower case if it has learned from no capitals."""
        return sentence.lowercased() if self.lowercased else sentence

    def annotate(self, sentence: Sentence) -> Sentence:
        """Return a sentence as the preorderer reads it, with the model's word classes; check its layers."""
        sentence = self.spelled(sentence)
        if self.classes is not None:
            sentence = self.classes.add_to(sentence)
        for name in sorted(self.preorderer.layers):
            if getattr(sentence, name) is None:
                raise UsageError(f"the model needs {LAYER_OPTIONS[name]}, and none are given")
        if "tags" in self.preorderer.layers:
            sentence = replace(sentence, tags=self.tag_reader(sentence.tags or (), self.preorderer))
        return sentence


def is_lowercased(sentences: Iterable[Sentence]) -> bool:
    """Return whether a text has letters, but no capitals."""
    words = set(chain.from_iterable(sentence.words for sentence in sentences))
    return any(map(str.islower, words)) and all(word == word.lower() for word in words)


def save_model(model: Model, directory: str) -> None:
    """Write a model directory, whole or not at all, in place of a model that is there."""
    check_replaceable(directory)
    values, arrays = model.preorderer.state()
    stanza = None
    if model.stanza is not None:
        stanza = {name: getattr(model.stanza, name) for name in STANZA_FIELDS}
        stanza[STANZA_FOLDER] = model.stanza.top and os.path.abspath(model.stanza.top)
    description = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "method": model.preorderer.method,
        "language": model.language,
        "needs": sorted(model.preorderer.layers),
        "stanza": stanza,
        "tagset": model.tagset,
        "lowercased": model.lowercased,
        "training": model.training,
        "state": values,
    }
    contents = {WEIGHTS: save(arrays)}
    if model.classes is not None:
        contents[CLASSES] = "".join(f"{line}\n" for line in model.classes.lines()).encode()
    checksums = {name: _checksum(content) for name, content in contents.items()}
    description = json.loads(json.dumps(description | {CHECKSUMS: checksums}))
    description[CHECKSUMS][DESCRIPTION] = _own_checksum(description)
    with atomic.fresh_folder(directory, NAMES) as folder:
        for name, content in contents.items():
            files.write_bytes(os.path.join(folder, name), content)
        files.write_json(os.path.join(folder, DESCRIPTION), description)


def check_replaceable(directory: str, others: Iterable[str] = ()) -> None:
    """Check, before any work, that a model may be written to a directory, in which none of others lies."""
    if not directory:  # which would be the directory that one is in
        raise UsageError("an empty path: name a directory for the model")
    if os.path.exists(directory) and not os.path.isdir(directory):
        raise DataError("exists and is not a directory", directory)
    atomic.check_writable(directory)
    inside = storage.real(directory).rstrip("/") + "/"
    for path in others:
        if path != files.STANDARD and storage.real(path).startswith(inside):
            raise DataError(f"holds {path}: a model needs a directory of its own", directory)
    if is_in_model(Path(storage.real(directory)).parent):
        raise DataError("lies in a model's folder, which holds nothing else: name another", directory)
    names = storage.names(directory)
    if names and not (is_model(directory) and all(name in NAMES for name in names)):
        raise DataError("holds other things than a model: name a new or an empty directory", directory)


def is_model(directory: str) -> bool:
    """Return whether a directory holds a model, whatever else is in it."""
    description = None
    with contextlib.suppress(DataError):
        description = files.read_json(os.path.join(directory, DESCRIPTION))
    return isinstance(description, dict) and description.get("format") == FORMAT


def is_in_model(place: Path) -> bool:
    """Return whether a place is a model's directory, or lies in one, at any depth."""
    return any(is_model(str(folder)) for folder in (place, *place.parents))


def load_model(directory: str) -> Model:
    """Read a model directory, by its path or URL, or the name of one that comes with the package.

    A local one that is being replaced gives the old model or the new one.
    """
    directory = located(directory)
    for _ in range(0 if is_url(directory) else MAX_TRIES - 1):
        with contextlib.suppress(DataError):  # it may have been replaced meanwhile
            return _load(directory)
    return _load(directory)


def checksum(directory: str) -> str:
    """Return a checksum of all that a model directory holds."""
    paths = [os.path.join(located(directory), name) for name in NAMES]
    contents = map(files.read_bytes, filter(storage.exists, paths))
    return _checksum(b"".join(_checksum(content).encode() for content in contents))


def _load(directory: str) -> Model:
    path, weights, names = (os.path.join(directory, name) for name in NAMES)
    description = files.read_json(path)
    with errors_in(path):
        _check(description)
    checksums = description[CHECKSUMS]
    stanza = description.get("stanza") and AnnotatorOptions(description["language"], **description["stanza"])
    try:
        arrays = load(_read(weights, checksums))
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"cannot be read: {error}", weights) from None
    classes = None
    if CLASSES in checksums or storage.exists(names):
        classes = WordClasses.parse(names, _read(names, checksums))
    with errors_in(directory):
        preorderer = method_class(description["method"]).from_state(description["state"], arrays)
    kept = ("language", "training", "tagset", "lowercased")
    given = {name: description[name] for name in kept if name in description}
    return Model(preorderer, classes, stanza=stanza, **given)


def _check(description: Any) -> None:
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise DataError(f"not an {FORMAT}")
    version = description.get("version")
    if version != FORMAT_VERSION:
        raise DataError(f"a model of format version {shown(version)}, not {FORMAT_VERSION}: train it again")
    method = description.get("method")
    if not isinstance(method, str) or method not in METHODS:
        raise DataError(f"unknown method {shown(method)}")
    for name in description:
        if name not in FIELDS:
            raise DataError(f"unknown field {shown(name)}")
    for name, (kind, is_needed) in FIELDS.items():
        if not isinstance(description.get(name), kind) and (is_needed or name in description):
            raise DataError(f"no sound {name}: {shown(description.get(name))}")
    language = description.get("language")
    if language is not None and not LANGUAGE.fullmatch(language):
        raise DataError(f"not the code of a language: {shown(language)}")
    if description.get("tagset") not in (None, *TAGSETS):
        raise DataError(f"no sound tagset: {shown(description['tagset'])}")
    checksums = description[CHECKSUMS]
    if not all(isinstance(checksum, str) for checksum in checksums.values()):
        raise DataError(f"no sound {CHECKSUMS}")
    stanza = description.get("stanza")
    for name in stanza or ():
        if name not in (STANZA_FOLDER, *STANZA_FIELDS):
            raise DataError(f"unknown field {shown(name)} in stanza: train it again")
    if stanza is not None and (
        stanza.keys() - {STANZA_FOLDER} != set(STANZA_FIELDS)
        or not isinstance(folder := stanza.get(STANZA_FOLDER), str | None)
        or (folder is not None and not os.path.isabs(folder))
        or stanza["trees"] not in (None, *TREES)
        or stanza["tagset"] not in TAGSETS
        or not isinstance(stanza["tagged"], bool)
        or language is None
    ):
        raise DataError("what it says of Stanza is damaged")
    if checksums.get(DESCRIPTION) != _own_checksum(description):
        raise DataError("damaged: it is not as it was written")


def _read(path: str, checksums: dict[str, str]) -> bytes:
    content = files.read_bytes(path)
    if checksums.get(os.path.basename(path)) != _checksum(content):
        raise DataError(f"damaged: its checksum is not that in {DESCRIPTION}", path)
    return content


def _checksum(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _own_checksum(description: dict[str, Any]) -> str:
    """Return the checksum of all that a description says but this; how it is laid out does not matter."""
    others = {name: value for name, value in description[CHECKSUMS].items() if name != DESCRIPTION}
    try:
        return _checksum(json.dumps(description | {CHECKSUMS: others}).encode())
    except RecursionError:
        raise DataError("it is nested too deeply") from None
