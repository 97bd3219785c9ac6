"""Stanza in one process: a chunk of sentences annotated.

What Stanza makes difficult, and how it is met here:

- an empty sentence raises IndexError: callers give none;
- a sentence in which the constituency parser runs in circles is left out of the results, and all are lost
  with an AssertionError: the chunk is halved until that sentence is alone, and gets a flat tree;
- the dependency parser needs memory and time of the square of the length and more: sentences of more than
  ``LONGEST`` tokens are parsed in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from preorder.annotate.stanza_models import StanzaOptions, load

LONGEST = 200  # tokens that are parsed at once
NONE = "_"

_TAGGING = "tokenize,pos"


class Words(NamedTuple):
    """A sentence for Stanza: its tokens, at least one, and its tags where it comes with some."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None


class Annotation(NamedTuple):
    """What Stanza says of a sentence.

    Attributes:
        tags: one a token.
        tree: a bracketing in one line, or the rows of CoNLL-U, without an end of line; None where no
            trees are asked for.
    """

    tags: tuple[str, ...]
    tree: str | None


def annotate_chunk(options: StanzaOptions, sentences: Sequence[Words]) -> list[Annotation]:
    """Annotate sentences, none of them empty, in this process and on one thread.

    The models stay loaded for the next call with the same options.

    Raises:
        UsageError: the models cannot be loaded, or there is no GPU where one is asked for.
        MissingExtraError: Stanza is not installed.
    """
    return _annotator(options).annotate(sentences)


@lru_cache(maxsize=1)
def _annotator(options: StanzaOptions) -> Annotator:
    return Annotator(load(options), options)


class _Row(NamedTuple):
    """A word in CoNLL-U."""

    form: str
    upos: str
    xpos: str
    features: str
    head: int  # from 1; 0: none
    relation: str


class _Parsed(NamedTuple):
    """A piece of a sentence: its tags, and the bracketings below its root or its rows of CoNLL-U."""

    tags: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    rows: tuple[_Row, ...] = ()


@dataclass(frozen=True)
class Annotator:
    """A loaded ``stanza.Pipeline`` and what it was loaded for."""

    pipeline: Any
    options: StanzaOptions

    def annotate(self, sentences: Sequence[Words]) -> list[Annotation]:
        """Annotate sentences, none of them empty."""
        starts = [range(0, len(sentence.words), LONGEST) for sentence in sentences]
        pieces = [
            Words(words[start : start + LONGEST], tags and tags[start : start + LONGEST])
            for (words, tags), of_sentence in zip(sentences, starts, strict=True)
            for start in of_sentence
        ]
        parsed = iter(self._parsed(pieces))
        return [self._joined([next(parsed) for _ in of_sentence]) for of_sentence in starts]

    def _joined(self, pieces: Sequence[_Parsed]) -> Annotation:
        tags = tuple(tag for piece in pieces for tag in piece.tags)
        if self.options.trees is None:
            return Annotation(tags, None)
        if self.options.trees == "constituency":
            phrases = " ".join(phrase for piece in pieces for phrase in piece.phrases)
            return Annotation(tags, f"(ROOT {phrases})")
        return Annotation(tags, "\n".join(_conllu([piece.rows for piece in pieces])))

    def _parsed(self, pieces: Sequence[Words]) -> list[_Parsed]:
        try:
            sentences = self._document(pieces).sentences
        except AssertionError:  # a sentence was lost
            if len(pieces) == 1:
                return [self._flat(pieces[0])]
            half = len(pieces) // 2
            return self._parsed(pieces[:half]) + self._parsed(pieces[half:])
        return [self._read(sentence, piece) for sentence, piece in zip(sentences, pieces, strict=True)]

    def _document(self, pieces: Sequence[Words]) -> Any:
        """Run the pipeline; the parser sees the tags that the pieces come with, if they do."""
        words = [list(piece.words) for piece in pieces]
        if not self.options.tagged:
            return self.pipeline(words)
        document = self.pipeline(words, processors=_TAGGING)
        for sentence, piece in zip(document.sentences, pieces, strict=True):
            for word, tag in zip(sentence.words, piece.tags, strict=True):
                if self.options.trees == "constituency":
                    word.upos = word.xpos = tag  # the parser reads the one or the other
                else:
                    setattr(word, self.options.tagset, tag)
        return self.pipeline(document, processors="lemma,constituency,depparse")

    def _read(self, sentence: Any, piece: Words) -> _Parsed:
        tags = piece.tags or self._tags(sentence)
        if self.options.trees == "constituency":
            return _Parsed(tags, tuple(f"{child:O}" for child in sentence.constituency.children))
        if self.options.trees is None:
            return _Parsed(tags)
        rows = (
            _Row(word.text, word.upos or NONE, word.xpos or NONE, word.feats or NONE, word.head, word.deprel)
            for word in sentence.words
        )
        return _Parsed(tags, rows=tuple(rows))

    def _tags(self, sentence: Any) -> tuple[str, ...]:
        """Return the tags asked for; where a treebank has none of its own, the universal ones."""
        own = self.options.tagset == "xpos"
        return tuple((own and word.xpos) or word.upos or NONE for word in sentence.words)

    def _flat(self, piece: Words) -> _Parsed:
        """Return a piece as tagged words without any phrase."""
        tags = piece.tags or self._tags(self.pipeline([list(piece.words)], processors=_TAGGING).sentences[0])
        leaves = zip(map(_escaped, tags), map(_escaped, piece.words), strict=True)
        return _Parsed(tags, tuple(f"({tag} {word})" for tag, word in leaves))


def _escaped(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")


def _conllu(pieces: Sequence[Sequence[_Row]]) -> Iterator[str]:
    """Yield the rows of a sentence; the roots of all pieces but the first depend on the first's."""
    root = next(number for number, row in enumerate(pieces[0], 1) if row.head == 0)
    before = 0
    for rows in pieces:
        for number, row in enumerate(rows, before + 1):
            head, relation = row.head + before, row.relation
            if row.head == 0 and before:
                head, relation = root, "parataxis"
            fields = (number, row.form, NONE, row.upos, row.xpos, row.features, head, relation, NONE, NONE)
            yield "\t".join(map(str, fields))
        before += len(rows)
