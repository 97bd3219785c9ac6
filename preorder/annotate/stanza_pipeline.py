"""Sentences annotated by Stanza, in one process.

What Stanza cannot do, and what is done about it:

- An empty sentence raises an IndexError: Stanza does not see it.
- Where the constituency parser does not come to an end with a sentence, an AssertionError says that the
  sentence is missing, and all are lost: they are halved until that one is alone, and it gets a flat tree.
- The dependency parser needs memory and time of the square of the length and more: sentences of more than
  ``MAX_LENGTH`` tokens are parsed in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from preorder.annotate.stanza_models import StanzaOptions, load
from preorder.data.sentence import Sentence

MAX_LENGTH = 200  # tokens that are parsed at once
NONE = "_"  # an empty field of CoNLL-U

_TAGGING = "tokenize,pos"


class Annotation(NamedTuple):
    """What Stanza says of a sentence.

    Attributes:
        tags: the tag of each token.
        tree: a bracketing in a line, or lines of CoNLL-U, without a line end; None where none is asked for.
    """

    tags: tuple[str, ...]
    tree: str | None


EMPTY = Annotation((), "")
"""The annotation of an empty sentence."""


def annotate_chunk(options: StanzaOptions, sentences: Sequence[Sentence]) -> list[Annotation]:
    """Annotate sentences in this process, on one thread; raises what :func:`load` does.

    The models stay loaded for the next call with the same options.
    """
    return _annotator(options).annotate(sentences)


@lru_cache(maxsize=1)
def _annotator(options: StanzaOptions) -> Annotator:
    return Annotator(load(options), options)


class _Parsed(NamedTuple):
    """A piece of a sentence: its tags, and the bracketings below its root or Stanza's words with heads."""

    tags: tuple[str, ...]
    phrases: Sequence[str] = ()
    words: Sequence[Any] = ()


@dataclass(frozen=True)
class Annotator:
    """A loaded ``stanza.Pipeline`` and the options that it was loaded with."""

    pipeline: Any
    options: StanzaOptions

    def annotate(self, sentences: Sequence[Sentence]) -> list[Annotation]:
        """Annotate sentences."""
        pieces = [_pieces(sentence) for sentence in sentences]
        parsed = iter(self._parsed(list(chain.from_iterable(pieces))))
        return [self._joined(list(islice(parsed, len(of_sentence)))) for of_sentence in pieces]

    def _joined(self, pieces: Sequence[_Parsed]) -> Annotation:
        if not pieces:
            return EMPTY
        tags = tuple(tag for piece in pieces for tag in piece.tags)
        if self.options.trees is None:
            return Annotation(tags, None)
        if self.options.trees == "constituency":
            phrases = " ".join(phrase for piece in pieces for phrase in piece.phrases)
            return Annotation(tags, f"(ROOT {phrases})")
        return Annotation(tags, "\n".join(_conllu([piece.words for piece in pieces])))

    def _parsed(self, pieces: Sequence[Sentence]) -> list[_Parsed]:
        if not pieces:
            return []
        try:
            sentences = self._document(pieces).sentences
        except AssertionError:  # a sentence was lost
            if len(pieces) == 1:
                return [self._flat(pieces[0])]
            half = len(pieces) // 2
            return self._parsed(pieces[:half]) + self._parsed(pieces[half:])
        return [self._read(sentence, piece) for sentence, piece in zip(sentences, pieces, strict=True)]

    def _document(self, pieces: Sequence[Sentence]) -> Any:
        """Run the pipeline; the parser reads the tags that the pieces have, if they have some."""
        words = [list(piece.words) for piece in pieces]
        if not self.options.tagged:
            return self.pipeline(words)
        document = self.pipeline(words, processors=_TAGGING)
        for sentence, piece in zip(document.sentences, pieces, strict=True):
            for word, tag in zip(sentence.words, piece.tags, strict=True):
                if self.options.trees == "constituency":
                    word.upos = word.xpos = tag  # some models read the one, some the other
                else:
                    setattr(word, self.options.tagset, tag)
        return self.pipeline(document, processors="lemma,constituency,depparse")

    def _read(self, sentence: Any, piece: Sentence) -> _Parsed:
        tags = piece.tags or self._tags(sentence)
        if self.options.trees == "constituency":
            for leaf, tag in zip(sentence.constituency.yield_preterminals(), tags, strict=True):
                leaf.label = tag  # some models read the other tagset
            return _Parsed(tags, tuple(f"{child:O}" for child in sentence.constituency.children))
        return _Parsed(tags, words=sentence.words)

    def _tags(self, sentence: Any) -> tuple[str, ...]:
        """Return the tags of the tagset, or where it has none, of the other; as a tree would write them."""
        own = self.options.tagset == "xpos"
        pairs = ((word.xpos, word.upos) if own else (word.upos, word.xpos) for word in sentence.words)
        tags = (one or other or NONE for one, other in pairs)
        return tuple(map(_escaped, tags) if self.options.trees == "constituency" else tags)

    def _flat(self, piece: Sentence) -> _Parsed:
        """Return a piece of tagged words without phrases."""
        tags = piece.tags or self._tags(self.pipeline([list(piece.words)], processors=_TAGGING).sentences[0])
        leaves = zip(map(_escaped, tags), map(_escaped, piece.words), strict=True)
        return _Parsed(tags, tuple(f"({tag} {word})" for tag, word in leaves))


def _pieces(sentence: Sentence) -> list[Sentence]:
    """Return a sentence in pieces of ``MAX_LENGTH`` tokens; an empty one has none."""
    parts = (slice(start, start + MAX_LENGTH) for start in range(0, len(sentence), MAX_LENGTH))
    return [Sentence(sentence.words[part], sentence.tags and sentence.tags[part]) for part in parts]


def _escaped(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")


def _conllu(pieces: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a sentence; the roots of later pieces depend on the root of the first."""
    root = next(number for number, word in enumerate(pieces[0], 1) if word.head == 0)
    before = 0
    for words in pieces:
        for number, word in enumerate(words, before + 1):
            head, relation = word.head + before, word.deprel
            if word.head == 0 and before:
                head, relation = root, "parataxis"
            tags = (word.upos or NONE, word.xpos or NONE, word.feats or NONE)
            yield "\t".join(map(str, (number, word.text, NONE, *tags, head, relation, NONE, NONE)))
        before += len(words)
