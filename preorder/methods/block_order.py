"""Order the lines of a block, from bytes to bytes, by compiled code that runs on several threads at once.

A block is UTF-8, and each of its lines ends in ``\\n``. Python orders the rare rest: lines with ``￨`` or
white space in a token, and blocks with an error, whose message is written in one place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from preorder.annotate.classes import UNKNOWN_CLASS
from preorder.compiled import entry_point, inner
from preorder.data import Permutation
from preorder.data.formats import (
    FEATURE_SEPARATOR,
    Escaped,
    format_features,
    is_odd,
    needs_escape,
    parse_source,
)
from preorder.errors import DataError
from preorder.learning.encode import BORDER, LAYERS, Batch, Hashes, hash_tokens, seed_of
from preorder.methods.base import HashedPreorderer
from preorder.methods.model_directory import Model

SPACE, TAB, NEWLINE, RETURN = 32, 9, 10, 13

Ordered = tuple[str, Escaped | None]
"""A block as it is written; and its first line whose words must be escaped."""

Column = tuple[np.ndarray, np.ndarray, np.ndarray]  # a text, uint8, and where a layer's tokens begin and end


class BlockOrderer:
    """Orders blocks by a model and its preorderer, which parses hashes; threads may share it."""

    def __init__(self, model: Model, preorderer: HashedPreorderer, name: str) -> None:
        self._model = model
        self._preorderer = preorderer
        self._format = name
        self._layers = self._preorderer.token_layers
        hashes = {layer: Hashes(layer) for layer in self._layers}
        self._borders = {layer: hashes[layer][BORDER[0]] for layer in self._layers}
        self._seeds = {layer: seed_of(layer) for layer in {*self._layers, "words"}}
        self._classes: tuple[np.ndarray, np.ndarray] | None = None
        if model.classes is not None and "classes" in hashes:
            self._classes = _hashed_classes(model.classes.of_word, hashes["classes"])

    def __call__(self, texts: tuple[bytes, ...], lines: int, columns: int) -> Ordered | None:
        """Order a block; None: it is wrong, or lacks a layer that the model reads.

        The texts are of words; of words and of tags; or one of columns: words, tags, and possibly classes.
        """
        try:
            decoded = [text.decode() for text in texts]
        except UnicodeDecodeError:
            return None
        names = LAYERS[: max(columns, len(texts))]
        if self._model.lowercased:  # it reads the words as one more text has them
            words_alone = decoded[0] if columns == 1 else re.sub("\t.*", "", decoded[0])
            texts, names = (*texts, words_alone.lower().encode()), (*names, "words")
        blocks = [np.frombuffer(text, np.uint8) for text in texts]
        split = [_split(blocks[0], lines, columns), *(_split(block, lines, 1) for block in blocks[1:])]
        tables = [tokens for tokens in split if tokens is not None]
        if len(tables) < len(split) or any((tables[0].starts != one.starts).any() for one in tables):
            return None
        starts = tables[0].starts
        given = (
            (block, *bounds)
            for block, tokens in zip(blocks, tables, strict=True)
            for bounds in zip(tokens.begins, tokens.ends, strict=True)
        )
        batch = self._hashed(dict(zip(names, given, strict=True)), starts)
        if batch is None:
            return None

        def words(line: int) -> tuple[str, ...]:
            tokens = slice(starts[line], starts[line + 1])
            bounds = zip(tables[0].begins[0, tokens], tables[0].ends[0, tokens], strict=True)
            return tuple(texts[0][begin:end].decode() for begin, end in bounds)

        odd = np.fromiter(map(is_odd, decoded[0].split("\n")), np.bool_, lines)
        odd_lines = {line: words(line) for line in np.flatnonzero(odd).tolist()}
        try:
            for line in odd_lines.values() if columns == 1 else ():
                parse_source(" ".join(line))
        except DataError:
            return None
        _, positions = self._preorderer.parse_hashed(batch)
        numbers = positions
        if self._format == "order":
            firsts = np.repeat(starts[:-1], np.diff(starts))
            numbers = np.empty_like(positions)
            numbers[firsts + positions] = np.arange(positions.size) - firsts
        text, line_ends = _write(blocks[0], tables[0], odd, numbers, self._format == "features")
        if self._format != "features":
            return text.tobytes().decode(), None
        features = {}
        for line, found in odd_lines.items():
            order = Permutation(tuple(positions[starts[line] : starts[line + 1]].tolist()))
            features[line] = format_features(found, order)
        escaped = ((line, words) for line, words in odd_lines.items() if needs_escape(words))
        return _with_lines(text.tobytes(), line_ends, features), next(escaped, None)

    def _hashed(self, given: dict[str, Column], starts: np.ndarray) -> Batch | None:
        """Return the hashes of the layers that the model reads; None: one is neither given nor known."""
        lines, tokens = starts.size - 1, int(starts[-1])
        hashes = np.empty((len(self._layers), tokens + lines + 1), np.uint64)
        first = starts[:-1] + np.arange(lines) + 1
        for layer, row in zip(self._layers, hashes, strict=True):
            if layer == "classes" and self._classes is not None:
                hash_tokens(*given["words"], starts, self._seeds["words"], row)
                words, classes = self._classes
                places = np.searchsorted(words, row, "right") - 1
                row[:] = np.where(words[places] == row, classes[places], classes[0])
            elif layer in given:
                hash_tokens(*given[layer], starts, self._seeds[layer], row)
            else:
                return None
            row[0], row[starts[1:] + np.arange(1, lines + 1)] = self._borders[layer], self._borders[layer]
        return Batch(hashes, first, np.diff(starts))


def _hashed_classes(of_word: Mapping[str, str], of_class: Hashes) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes of the words, ascending, and of their classes; first 0, and that of unknown words."""
    words = np.fromiter(map(Hashes("words").__getitem__, of_word), np.uint64, len(of_word))
    classes = np.fromiter(map(of_class.__getitem__, of_word.values()), np.uint64, len(of_word))
    order, unknown = words.argsort(), of_class[UNKNOWN_CLASS]
    return np.insert(words[order], 0, np.uint64(0)), np.insert(classes[order], 0, np.uint64(unknown))


def _with_lines(text: bytes, line_ends: np.ndarray, lines: Mapping[int, str]) -> str:
    """Fill in lines that are empty."""
    parts: list[str] = []
    done = 0
    for line, content in lines.items():
        end = int(line_ends[line]) - 1
        parts += text[done:end].decode(), content
        done = end
    return "".join((*parts, text[done:].decode()))


class Tokens(NamedTuple):
    """The tokens of some columns of a block's lines; every column of a line has as many."""

    begins: np.ndarray  # int32 [columns, tokens]: token t is text[begins[t] : ends[t]]
    ends: np.ndarray
    starts: np.ndarray  # int64 [lines + 1]: line s has the tokens from starts[s] to starts[s + 1]


def _split(text: np.ndarray, lines: int, columns: int) -> Tokens | None:
    """Find the tokens of a block; None: a line has not so many columns, or as many tokens in each.

    They are those of :func:`preorder.data.formats.parse_tokens`; columns end at tabs. None, too, above 2 GiB.
    """
    if text.size > np.iinfo(np.int32).max:
        return None
    most = text.size // 2 + 1
    begins, ends = np.empty((2, columns, most), np.int32)
    starts = np.zeros(lines + 1, np.int64)
    if not _find_tokens(text, begins, ends, starts):
        return None
    tokens = int(starts[-1])
    return Tokens(begins[:, :tokens], ends[:, :tokens], starts)


@entry_point
def _find_tokens(text, begins, ends, starts):
    """Fill all but ``text``; say whether every line has all columns, equally long."""
    columns = begins.shape[0]
    counts = np.zeros(columns, np.int64)
    column, line, begin, line_begin = 0, 0, -1, 0
    for i in range(text.size):
        byte = text[i]
        if byte > SPACE or byte not in (SPACE, TAB, NEWLINE, RETURN):
            if begin < 0:
                begin = i
            continue
        if begin >= 0:
            begins[column, counts[column]], ends[column, counts[column]] = begin, i
            counts[column] += 1
        begin = -1
        if byte == TAB and columns > 1:
            column += 1
            if column == columns:
                return False
        elif byte == NEWLINE:
            is_empty = i == line_begin or (i == line_begin + 1 and text[line_begin] == RETURN)
            if column != columns - 1 and not is_empty:
                return False
            for other in range(1, columns):
                if counts[other] != counts[0]:
                    return False
            line += 1
            starts[line] = counts[0]
            column, line_begin = 0, i + 1
    return True


_SEPARATOR = np.frombuffer(FEATURE_SEPARATOR.encode(), np.uint8)
_ZERO = ord("0")


def _write(
    text: np.ndarray, tokens: Tokens, odd: np.ndarray, numbers: np.ndarray, features: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Format sentences as ``token￨number``, or as numbers from 0 to n: uint8, and where each ends.

    As features, ``odd`` lines are left empty.
    """
    lengths = np.diff(tokens.starts)
    digits = len(str(lengths.max(initial=0)))
    most = text.size + numbers.size * (digits + len(_SEPARATOR) + 3) + lengths.size
    out, line_ends = np.empty(most, np.uint8), np.empty(lengths.size, np.int64)
    words = tokens.begins[0], tokens.ends[0]
    size = _write_lines(features, text, *words, tokens.starts, odd, numbers, out, line_ends)
    return out[:size], line_ends


@entry_point
def _write_lines(features, text, begins, ends, starts, odd, numbers, out, line_ends):
    at = 0
    for line in range(line_ends.size):
        for token in range(starts[line], starts[line + 1]):
            if features and odd[line]:
                break
            if token > starts[line]:
                out[at] = SPACE
                at += 1
            if features:
                at = _put(text, begins[token], ends[token], out, at)
                at = _put(_SEPARATOR, 0, _SEPARATOR.size, out, at)
            at = _put_number(numbers[token], out, at)
        out[at] = NEWLINE
        at += 1
        line_ends[line] = at
    return at


@inner
def _put(text, begin, end, out, at):
    for i in range(begin, end):
        out[at] = text[i]
        at += 1
    return at


@inner
def _put_number(number, out, at):
    size, rest = 1, number // 10
    while rest > 0:
        size, rest = size + 1, rest // 10
    for i in range(at + size - 1, at - 1, -1):
        out[i] = _ZERO + number % 10
        number //= 10
    return at + size
