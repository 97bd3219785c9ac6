"""POS tags and syntax trees by Stanza (Qi et al. 2020), for texts of any length.

Chunks of sentences are annotated in one or more processes. The number of processes changes neither the chunks
nor the annotation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, NamedTuple

from preorder.annotate import stanza_models
from preorder.annotate.stanza_models import StanzaOptions
from preorder.annotate.stanza_pipeline import EMPTY, Annotation, annotate_chunk
from preorder.data.sentence import Sentence
from preorder.data.trees import SyntaxTree
from preorder.errors import UsageError
from preorder.io.files import batched
from preorder.learning.checkpoint import NO_CHECKPOINTS, Checkpoint, Checkpoints, digest
from preorder.syntax.bracketing import parse_bracketing
from preorder.syntax.conllu import parse_conllu
from preorder.workers import in_processes

CHUNK = 5_000
"""Tokens, and one more for each sentence, that a worker gets at once: what Stanza's tagger takes at once."""


def annotate(
    sentences: Iterable[Sentence],
    options: StanzaOptions,
    workers: int = 1,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> Iterator[tuple[Sentence, Annotation]]:
    """Yield each sentence with what Stanza says of it, in order.

    Holds a few chunks for each worker, whatever the length of the input. Each worker is a process with one
    thread and its own copy of the models.

    Args:
        sentences: with tags, if ``options.tagged``.
        options: what Stanza is to do.
        workers: their number; 0: this process does the work.
        checkpoints: a folder in which each finished chunk is kept, and looked up. The caller removes it.

    Raises:
        UsageError: models are missing or damaged or cannot be downloaded; or several workers on one GPU.
        MissingExtraError: Stanza is not installed.
    """
    if options.device == "gpu" and workers > 1:
        raise UsageError("on a GPU there is one worker")
    chunks = _chunks(sentences, _settings(options, stanza_models.prepare(options)), checkpoints)
    for chunk, result in in_processes(partial(_work, options), chunks, workers, _Chunk.known):
        chunk.keep(result)
        yield from zip(chunk.sentences, result, strict=True)


def add_layers(sentences: Iterable[Sentence], options: StanzaOptions, **how: Any) -> Iterator[Sentence]:
    """Yield the sentences with tags and, if asked for, trees; takes and raises what :func:`annotate` does."""
    for sentence, (tags, tree) in annotate(sentences, options, **how):
        yield replace(sentence, tags=tags, tree=_parsed(tree, options) if options.trees else sentence.tree)


def _parsed(tree: str, options: StanzaOptions) -> SyntaxTree:
    if options.trees == "constituency":
        return parse_bracketing(tree).tree
    ((_, readings),) = parse_conllu(enumerate((*filter(None, tree.split("\n")), ""), 1))
    return readings[0].tree


class _Chunk(NamedTuple):
    """Sentences that a worker gets at once, and where their annotation is kept."""

    sentences: Sequence[Sentence]
    checkpoint: Checkpoint
    key: str

    def known(self) -> list[Annotation] | None:
        """Return the annotation if it was kept, or if nothing has to be annotated."""
        if not any(self.sentences):
            return [EMPTY] * len(self.sentences)
        kept = self.checkpoint.load(self.key)
        return kept and [Annotation(tuple(tags), tree) for tags, tree in kept[0]]

    def keep(self, result: Sequence[Annotation]) -> None:
        """Keep the annotation, unless it is kept already."""
        if not self.checkpoint.present:
            self.checkpoint.save(self.key, result, {})


def _settings(options: StanzaOptions, models: Any) -> Any:
    """Return what the annotation of a sentence depends on: not on the folder in which the models are."""
    return [asdict(options) | {"folder": None}, models]


def _chunks(sentences: Iterable[Sentence], settings: Any, checkpoints: Checkpoints) -> Iterator[_Chunk]:
    for batch in batched(sentences, CHUNK, lambda sentence: len(sentence) + 1):
        key = digest([settings, [(sentence.words, sentence.tags) for sentence in batch]])
        yield _Chunk(batch, checkpoints.part(f"annotation-{key}"), key)


def _work(options: StanzaOptions, chunk: _Chunk) -> list[Annotation]:
    return annotate_chunk(options, chunk.sentences)
