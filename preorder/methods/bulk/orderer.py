"""Order the lines of a block, from bytes to bytes.

What is rare is left to Python: lines with ``￨`` or white space inside of tokens, and blocks with anything
wrong in them, so that what is said of it is said in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from preorder.annotate.classes import UNKNOWN
from preorder.data import Sentence
from preorder.data.formats import FORMATTERS, format_features, needs_escape, parse_source
from preorder.data.permutation import Permutation
from preorder.errors import DataError
from preorder.learning.encode import BORDER, Batch, Hashes
from preorder.learning.hashing import hash_tokens, seed_of
from preorder.learning.vocabulary import LAYERS
from preorder.methods.base import HashedPreorderer, binary_trees, permutations
from preorder.methods.bulk.split import Tokens, split
from preorder.methods.bulk.write import write
from preorder.methods.model_directory import Model


class Ordered(NamedTuple):
    """A block as it is written.

    Attributes:
        text: its lines, each with its line end.
        escaped: the first line, from 0, whose words features have to escape, and its words; or None.
    """

    text: str
    escaped: tuple[int, tuple[str, ...]] | None


Column = tuple[np.ndarray, np.ndarray, np.ndarray]
"""A text, uint8, and where the tokens of a layer begin and end in it."""


class BulkOrderer:
    """Orders blocks by a model that has a :class:`HashedPreorderer`; threads may share it."""

    def __init__(self, model: Model, name: str) -> None:
        """Take the model, and the format of the lines, of ``FORMATTERS``."""
        self._model, self._has_seen_lines = model, False
        self._preorderer: HashedPreorderer = model.preorderer
        self._format = name
        self._layers = self._preorderer.token_layers
        hashes = {layer: Hashes(layer) for layer in self._layers}
        self._borders = {layer: hashes[layer][BORDER[0]] for layer in self._layers}
        self._seeds = {layer: seed_of(layer) for layer in {*self._layers, "words"}}
        self._classes: _Classes | None = None
        if model.classes is not None and "classes" in hashes:
            self._classes = _Classes(model.classes.of_word, hashes["classes"])

    def __call__(self, texts: tuple[bytes, ...], lines: int, columns: int) -> Ordered | None:
        """Order the lines of a block; None: something is wrong with it, or it lacks a layer of the model's.

        Args:
            texts: UTF-8 lines, each with its line end: of words; or of words, and of tags, in a file each; or
                of columns of one file, parted by tabs, which are words, tags and possibly classes.
            lines: how many each has.
            columns: of the first text.
        """
        if not all(map(_is_utf8, texts)):
            return None
        blocks = [np.frombuffer(text, np.uint8) for text in texts]
        found = [split(blocks[0], lines, columns), *(split(block, lines, 1) for block in blocks[1:])]
        tables = [tokens for tokens in found if tokens is not None]
        if len(tables) < len(found) or any((tables[0].starts != one.starts).any() for one in tables):
            return None
        given = (
            (block, *bounds)
            for block, tokens in zip(blocks, tables, strict=True)
            for bounds in zip(tokens.begins, tokens.ends, strict=True)
        )
        batch = self._hashed(dict(zip(LAYERS, given, strict=False)), tables[0].starts)
        if batch is None:
            return None
        lines_of = _Lines(texts[0], tables[0])
        if self._model.lowercased and not self._has_seen_lines:
            self._has_seen_lines = True
            self._model.warn_of_capitals(word for line in range(lines) for word in lines_of.words(line))
        if columns == 1 and not lines_of.are_plain():
            return None
        nodes, positions = self._preorderer.parse_hashed(batch)
        if self._format in ("text", "tree"):
            return Ordered(lines_of.formatted(nodes, positions, self._format), None)
        numbers = _orders(positions, tables[0].starts) if self._format == "order" else positions
        text, line_ends = write(blocks[0], tables[0], numbers, self._format == "features")
        if self._format == "features":
            return lines_of.with_escapes(text.tobytes(), line_ends, positions)
        return Ordered(text.tobytes().decode(), None)

    def _hashed(self, given: dict[str, Column], starts: np.ndarray) -> Batch | None:
        """Return the hashes of the layers that the model reads; None: one is neither given nor known."""
        lines, tokens = starts.size - 1, int(starts[-1])
        hashes = np.empty((len(self._layers), tokens + lines + 1), np.uint64)
        first = starts[:-1] + np.arange(lines) + 1
        for layer, row in zip(self._layers, hashes, strict=True):
            if layer in given:
                hash_tokens(*given[layer], starts, self._seeds[layer], row)
            elif layer == "classes" and self._classes is not None:
                hash_tokens(*given["words"], starts, self._seeds["words"], row)
                row[:] = self._classes(row)
            else:
                return None
            row[0], row[starts[1:] + np.arange(1, lines + 1)] = self._borders[layer], self._borders[layer]
        return Batch(hashes, first, np.diff(starts))


class _Classes:
    """The hash of the class of a word, given that of the word."""

    def __init__(self, of_word: Mapping[str, str], of_class: Hashes) -> None:
        of_words = Hashes("words")
        words = np.fromiter(map(of_words.__getitem__, of_word), np.uint64, len(of_word))
        classes = np.fromiter(map(of_class.__getitem__, of_word.values()), np.uint64, len(of_word))
        order = words.argsort()
        self._words, self._classes = words[order], classes[order]
        self._unknown = np.uint64(of_class[UNKNOWN])

    def __call__(self, words: np.ndarray) -> np.ndarray:
        """Return the hashes of the classes of some words: uint64; O(log classes) each."""
        if not self._words.size:
            return np.full_like(words, self._unknown)
        places = np.searchsorted(self._words, words).clip(max=self._words.size - 1)
        return np.where(self._words[places] == words, self._classes[places], self._unknown)


class _Lines:
    """The lines of a block for Python."""

    def __init__(self, text: bytes, tokens: Tokens) -> None:
        self._text, self._tokens = text, tokens
        self._numbers = np.flatnonzero(tokens.odd).tolist()

    def words(self, line: int) -> tuple[str, ...]:
        """Return the words of a line."""
        first, last = self._tokens.starts[line], self._tokens.starts[line + 1]
        bounds = zip(self._tokens.begins[0, first:last], self._tokens.ends[0, first:last], strict=True)
        return tuple(self._text[begin:end].decode() for begin, end in bounds)

    def are_plain(self) -> bool:
        """Say whether each line in which something odd was found can be a source line."""
        try:
            for line in self._numbers:
                parse_source(" ".join(self.words(line)))
        except DataError:
            return False
        return True

    def formatted(self, nodes: np.ndarray, positions: np.ndarray, name: str) -> str:
        """Return all lines in one of the formats."""
        sentences = [Sentence(self.words(line)) for line in range(self._tokens.starts.size - 1)]
        found = binary_trees(nodes, sentences) if name == "tree" else permutations(positions, sentences)
        formatter = FORMATTERS[name]
        return "".join(f"{formatter(*pair)}\n" for pair in zip(sentences, found, strict=True))

    def with_escapes(self, text: bytes, line_ends: np.ndarray, positions: np.ndarray) -> Ordered:
        """Add the lines in which something odd was found to the features, in which they are empty."""
        parts, done, escaped = [], 0, None
        for line in self._numbers:
            words = self.words(line)
            if escaped is None and needs_escape(words):
                escaped = line, words
            first, last = self._tokens.starts[line], self._tokens.starts[line + 1]
            permutation = Permutation(tuple(positions[first:last].tolist()))
            end = int(line_ends[line]) - 1
            parts += text[done:end].decode(), format_features(words, permutation)
            done = end
        return Ordered("".join((*parts, text[done:].decode())), escaped)


def _orders(positions: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the orders of which these are the positions, one sentence after another."""
    firsts = np.repeat(starts[:-1], np.diff(starts))
    orders = np.empty_like(positions)
    orders[firsts + positions] = np.arange(positions.size) - firsts
    return orders


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False
