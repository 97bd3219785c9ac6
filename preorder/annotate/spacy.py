"""Dependency trees and tags by models of spaCy's, such as ``ja_ginza``, in the form of Stanza's pipelines.

A model's tokenizer, entities and code are not loaded.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from preorder.errors import UsageError, message_of, require

_USED = ("transformer", "tok2vec", "tagger", "morphologizer", "parser")


def _installed(model: str) -> Path | None:
    spec = importlib.util.find_spec(model) if model.isidentifier() else None
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def resolved(model: str) -> str:
    """Return the name of an installed package, or the absolute path of a folder."""
    return model if _installed(model) else os.path.abspath(model)


def find(model: str) -> Path:
    """Return the folder of a model, given a path or the name of a package, which is not imported."""
    require("spacy", "spacy")
    folder = _installed(model) or Path(model)
    found = [*folder.glob("config.cfg"), *folder.glob("*/config.cfg")]
    if not found:
        raise UsageError(f"{model}: neither a folder of a spaCy model nor an installed package with one")
    return found[0].parent


def checksum(model: str) -> str:
    """Return a checksum of the files of a model, independent of their place and time."""
    folder, state = find(model), blake2b(digest_size=16)
    for path in sorted(filter(Path.is_file, folder.rglob("*"))):
        state.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return state.hexdigest()


class SpacyPipeline:
    """A stand-in for ``stanza.Pipeline``: called with lists of words, it returns sentences of words."""

    def __init__(self, model: str, use_gpu: bool) -> None:
        spacy = require("spacy", "spacy")
        folder = find(model)
        own = {"nlp.tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}
        try:
            if use_gpu:
                spacy.require_gpu()
            names = spacy.util.load_config(folder / "config.cfg")["nlp"]["pipeline"]
            unused = [name for name in names if name not in _USED]
            self._nlp = spacy.load(folder, exclude=["tokenizer", *unused], config=own)
        except Exception as error:  # damaged models raise all kinds
            raise UsageError(f"spaCy cannot load {model}: {message_of(error)}") from None
        if "parser" not in self._nlp.pipe_names:
            raise UsageError(f"{model}: the model has no parser")

    def __call__(self, given: Any, **_: Any) -> Any:
        """Tag and parse sentences; return a document with given tags as it is."""
        if not isinstance(given, list):
            return given
        from spacy.tokens import Doc

        documents = (Doc(self._nlp.vocab, words=words) for words in given)
        parsed = self._nlp.pipe(documents, batch_size=64)
        return SimpleNamespace(sentences=[SimpleNamespace(words=_words(document)) for document in parsed])


def _words(document: Sequence[Any]) -> list[SimpleNamespace]:
    """Return words with heads from 1, 0 for the root; of several roots the others depend on the last."""
    *others, root = [token.i for token in document if token.head.i == token.i]
    heads = {**dict.fromkeys(others, (root + 1, "parataxis")), root: (0, "root")}
    words = []
    for token in document:
        head, relation = heads.get(token.i, (token.head.i + 1, token.dep_))
        tags = {"upos": token.pos_, "xpos": token.tag_, "feats": str(token.morph)}
        words.append(SimpleNamespace(text=token.text, head=head, deprel=relation, **tags))
    return words
