"""POS tags and syntax trees by Stanza (Qi et al. 2020), for texts of any length.

Sentences go in chunks through Stanza, in as many processes as asked for. What the chunks are does not
depend on how many: so neither does what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import tee
from typing import Any, NamedTuple

from preorder.annotate import stanza_models
from preorder.annotate.stanza_models import StanzaOptions
from preorder.annotate.stanza_pipeline import Annotation, Words, annotate_chunk
from preorder.annotate.workers import in_order
from preorder.data.errors import UsageError
from preorder.data.files import batched
from preorder.data.trees import SyntaxTree
from preorder.data.types import Sentence
from preorder.learning.checkpoint import NO_CHECKPOINTS, Checkpoint, Checkpoints, digest
from preorder.syntax.bracketing import parse_bracketing
from preorder.syntax.conllu import parse_conllu

CHUNK = 5_000
"""Tokens, each sentence's end counted as one: what Stanza's tagger takes at once; more is no faster."""

NOTHING = Annotation((), "")
"""What is said of an empty sentence."""


def annotate(
    sentences: Iterable[Sentence],
    options: StanzaOptions,
    workers: int = 1,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> Iterator[Annotation]:
    """Yield what Stanza says of each sentence, in order; of an empty one, :data:`NOTHING`.

    Holds some chunks a worker, whatever the input's length. Each worker is a process with one thread and its
    own copy of the models.

    Args:
        sentences: with tags, if ``options.tagged``.
        options: what Stanza shall do.
        workers: how many processes; 0: this one.
        checkpoints: a folder where each chunk that is done is kept, and looked for. The caller removes it.

    Raises:
        UsageError: models that are missing, damaged or cannot be downloaded; several processes on one GPU.
        MissingExtraError: Stanza is not installed.
    """
    if options.device == "gpu" and workers > 1:
        raise UsageError("on a GPU there is one worker")
    chunks = _chunks(sentences, _settings(options, stanza_models.prepare(options)), checkpoints)
    for chunk, result in in_order(partial(_work, options), chunks, workers, _Chunk.known):
        chunk.keep(result)
        found = iter(result)
        yield from (next(found) if length else NOTHING for length in chunk.lengths)


def add_layers(sentences: Iterable[Sentence], options: StanzaOptions, **how: Any) -> Iterator[Sentence]:
    """Yield the sentences with tags, and trees if asked for; takes and raises what :func:`annotate` does."""
    for sentence, (tags, tree) in with_annotation(sentences, options, **how):
        yield replace(sentence, tags=tags, tree=_parsed(tree, options) if options.trees else sentence.tree)


def with_annotation(
    sentences: Iterable[Sentence], options: StanzaOptions, **how: Any
) -> Iterator[tuple[Sentence, Annotation]]:
    """Yield each sentence with what Stanza says of it; takes and raises what :func:`annotate` does."""
    given, copy = tee(sentences)
    return zip(given, annotate(copy, options, **how), strict=True)


def _parsed(tree: str, options: StanzaOptions) -> SyntaxTree:
    if options.trees == "constituency":
        return parse_bracketing(tree).tree
    ((_, readings),) = parse_conllu(enumerate((*filter(None, tree.split("\n")), ""), 1))
    return readings[0].tree


class _Chunk(NamedTuple):
    """Sentences without the empty ones among them, and where their annotation is kept."""

    sentences: tuple[Words, ...]
    lengths: tuple[int, ...]  # of all sentences, the empty ones too
    checkpoint: Checkpoint
    key: str

    def known(self) -> list[Annotation] | None:
        """Return what was kept."""
        if not self.sentences:
            return []
        kept = self.checkpoint.load(self.key)
        return kept and [Annotation(tuple(tags), tree) for tags, tree in kept[0]]

    def keep(self, result: Sequence[Annotation]) -> None:
        """Keep what was found, if it is not kept yet."""
        if not self.checkpoint.present:
            self.checkpoint.save(self.key, result, {})


def _settings(options: StanzaOptions, models: Any) -> Any:
    """Return what the result depends on, but for the sentences: where the models lie is of no matter."""
    return [asdict(options) | {"folder": None}, models]


def _chunks(sentences: Iterable[Sentence], settings: Any, checkpoints: Checkpoints) -> Iterator[_Chunk]:
    for batch in batched(sentences, CHUNK, lambda sentence: len(sentence) + 1):
        words = tuple(Words(sentence.words, sentence.tags) for sentence in batch if sentence.words)
        key = digest([settings, words])
        yield _Chunk(words, tuple(map(len, batch)), checkpoints.part(f"annotation-{key}"), key)


def _work(options: StanzaOptions, chunk: _Chunk) -> list[Annotation]:
    return annotate_chunk(options, chunk.sentences)
