"""Tokens as numbers: hashes for the compiled code, rows of embedding tables for networks.

A hash of 64 bits depends on the token's bytes and its layer's name alone: FNV-1a, mixed by the finaliser of
MurmurHash3; a nanosecond a byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from preorder.compiled import entry_point, inner
from preorder.data import Sentence
from preorder.errors import DataError, UsageError

LAYERS = ("words", "tags", "classes")
"""Layers of a :class:`Sentence` that give each token a string, by attribute, in the order of all arrays."""

WIDTHS = {"words": 128, "tags": 32, "classes": 64}  # of embeddings
UNKNOWN_ROW = 0  # row of every table that stands for all strings without a row of their own
MIN_COUNT = 2  # a string that is rarer in the training text has no row

BORDER = ("\n",)  # no token holds a line break
DROPPED = np.uint64(0x9FB21C651E98DF25)  # in place of a word's hash in training: no feature has it
MOST_CACHED = 1_000_000  # hashes remembered a layer, so that a stream's memory stays bounded


class Batch(NamedTuple):
    """Sentences: token i of s is ``tokens[layer, starts[s] + i]``; borders stand between and at both ends."""

    tokens: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray


class Encoder:
    """Hashes the tokens of some layers; about 0.1 µs a token and layer."""

    def __init__(self, layers: Sequence[str]) -> None:
        self._hashes = {layer: Hashes(layer) for layer in layers}

    def __call__(self, sentences: Sequence[Sentence]) -> Batch:
        """Return the hashes of all tokens."""
        lengths = lengths_of(sentences)
        starts = np.concatenate(([0], np.cumsum(lengths + 1)))[:-1] + 1
        tokens = np.empty((len(self._hashes), int(lengths.sum()) + len(sentences) + 1), np.uint64)
        for row, (layer, hashes) in zip(tokens, self._hashes.items(), strict=True):
            if len(hashes) > MOST_CACHED:
                hashes.clear()
            parts = chain.from_iterable((getattr(sentence, layer), BORDER) for sentence in sentences)
            flat = chain(BORDER, chain.from_iterable(parts))
            row[:] = np.fromiter(map(hashes.__getitem__, flat), np.uint64, row.size)
        return Batch(tokens, starts, lengths)


class Hashes(dict[str, int]):
    """Remembers the 64-bit hashes of a layer's tokens."""

    def __init__(self, layer: str) -> None:
        self._seed = seed_of(layer)

    def __missing__(self, token: str) -> int:
        text = np.frombuffer(token.encode("utf-8", "surrogatepass"), np.uint8)
        self[token] = value = int(hash_bytes(text, self._seed))
        return value


_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_FIRST, _SECOND, _SHIFT = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53), np.uint64(33)


def seed_of(layer: str) -> np.uint64:
    """Return what the hashes of a layer's tokens begin with."""
    return np.uint64(hash_bytes(np.frombuffer(layer.encode(), np.uint8), _OFFSET))


@entry_point
def hash_bytes(text, seed):
    """Return the hash of a whole text, uint8."""
    return _hash(text, 0, text.size, seed)


@entry_point
def hash_tokens(text, begins, ends, starts, seed, out):
    """Write the hash of each token to ``out``, uint64 ``[tokens + lines + 1]``, as in a :class:`Batch`.

    Token t is ``text[begins[t] : ends[t]]``, uint8; line l has those from ``starts[l]`` to ``starts[l + 1]``.
    """
    for line in range(starts.size - 1):
        for token in range(starts[line], starts[line + 1]):
            out[token + line + 1] = _hash(text, begins[token], ends[token], seed)


@inner
def _hash(text, begin, end, seed):
    value = seed
    for i in range(begin, end):
        value = (value ^ np.uint64(text[i])) * _PRIME
    value = (value ^ (value >> _SHIFT)) * _FIRST
    value = (value ^ (value >> _SHIFT)) * _SECOND
    return value ^ (value >> _SHIFT)


def lengths_of(sentences: Sequence[Sentence]) -> np.ndarray:
    """Return the number of tokens of each sentence: int64."""
    return np.fromiter(map(len, sentences), np.int64, len(sentences))


def common_layers(sentences: Iterable[Sentence], word_dropout: float = 0.0) -> list[str]:
    """Return the ``LAYERS`` that every sentence has, in their order; no words if all of them are dropped."""
    sentences = tuple(sentences)
    layers = [name for name in LAYERS if all(getattr(sentence, name) is not None for sentence in sentences)]
    if word_dropout == 1 and layers == ["words"]:
        raise UsageError("word dropout of 1 needs `tags` or word classes to learn from")
    return [name for name in layers if name != "words" or word_dropout < 1]


def frequent(strings: Iterable[str], max_strings: int | None = None) -> tuple[str, ...]:
    """Return the strings there ``MIN_COUNT`` times or more, the most frequent first, then by name."""
    counts = ((-count, string) for string, count in Counter(strings).items() if count >= MIN_COUNT)
    return tuple(string for _, string in sorted(counts)[:max_strings])


class Vocabulary:
    """The rows of the known strings of each layer."""

    def __init__(self, known: dict[str, Iterable[str]]) -> None:
        """Number the strings of each layer, of ``LAYERS``, in the order given, from 1."""
        self.known = {layer: tuple(strings) for layer, strings in known.items()}
        self._rows_of = [{s: row for row, s in enumerate(k, 1)} for k in self.known.values()]

    @classmethod
    def of(
        cls, sentences: Sequence[Sentence], layers: Sequence[str], max_strings: int | None = None
    ) -> Vocabulary:
        """Collect the :func:`frequent` strings of a training text; without ``words``, all are unknown."""
        known = {layer: frequent(_flat(sentences, layer), max_strings) for layer in layers}
        return cls({"words": (), **known})

    @classmethod
    def from_state(cls, known: Any) -> Vocabulary:
        """Rebuild a vocabulary from the values of a model's state."""
        if (
            not isinstance(known, dict)
            or not {"words"} <= set(known) <= set(LAYERS)
            or not all(map(is_strings, known.values()))
        ):
            raise DataError("not the vocabulary of the model's network")
        return cls(known)

    @property
    def rows(self) -> dict[str, int]:
        """How many rows the table of each layer has."""
        return {layer: 1 + len(strings) for layer, strings in self.known.items()}

    def __call__(self, sentences: Sequence[Sentence]) -> np.ndarray:
        """Return the rows of all tokens, one sentence after another: int64 ``[layers, tokens]``."""
        tokens = np.empty((len(self.known), sum(map(len, sentences))), np.int64)
        for rows, layer, row in zip(self._rows_of, self.known, tokens, strict=True):
            found = (rows.get(string, UNKNOWN_ROW) for string in _flat(sentences, layer))
            row[:] = np.fromiter(found, np.int64, row.size)
        return tokens


def is_strings(value: Any) -> TypeGuard[Sequence[str]]:
    """Say whether a value of a model's state is a list of strings."""
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _flat(sentences: Sequence[Sentence], layer: str) -> Iterator[str]:
    return chain.from_iterable(getattr(sentence, layer) for sentence in sentences)
