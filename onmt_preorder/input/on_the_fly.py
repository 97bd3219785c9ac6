"""Preordering of source lines while a translation model trains or translates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from preorder.annotate.options import remembered_folder
from preorder.data import Sentence
from preorder.data.formats import parse_tokens, unescape_token
from preorder.errors import UsageError
from preorder.methods.model_directory import Model, load_model
from preorder.methods.ordering import orders

MAX_REMEMBERED_TOKENS = 10_000_000
"""Tokens of all lines whose positions are remembered: some 200 MB in each data worker."""


class OnTheFlyPreorderer:
    """Does what ``preorder apply`` does, for lines that come in batches and come again each epoch.

    Lines hold words, escaped as in features. Their positions are remembered until the memory is full; none is
    dropped for a newer one, as an epoch's lines come in the same order again. ``stanza_folder`` has Stanza's
    models where the preorderer needs them; None: where they were in its training, or Stanza's default.
    """

    def __init__(self, model: Model, stanza_folder: str | None = None) -> None:
        self.model = model
        self._known: dict[str, tuple[int, ...]] = {}
        self._room = MAX_REMEMBERED_TOKENS  # tokens
        self._stanza = model.stanza and replace(
            model.stanza, folder=remembered_folder(model.stanza, stanza_folder)
        )
        if self._stanza is None:
            if stanza_folder:
                raise UsageError("preorder_stanza_dir has no effect: the preorderer does not need Stanza")
            model.annotate(Sentence(()))  # raises where the model needs annotation
        elif self._stanza.tagged:
            raise UsageError(
                "the preorderer needs trees made from POS tags in a file, which cannot be made on the fly"
            )

    def positions(self, lines: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the position of each word of each line."""
        new = list(dict.fromkeys(line for line in lines if line not in self._known))
        found = dict(zip(new, self._order(new), strict=True))
        result = [found[line] if line in found else self._known[line] for line in lines]
        for line, positions in found.items():
            if len(positions) <= self._room:
                self._known[line] = positions
                self._room -= len(positions)
        return result

    def _order(self, lines: Sequence[str]) -> list[tuple[int, ...]]:
        words = (map(unescape_token, parse_tokens(line)) for line in lines)
        sentences = map(Sentence, map(tuple, words))
        found = orders(self.model, sentences, self.model.preorderer.order, self._stanza)
        return [order.positions for order in found]


def put_positions(
    lines: Iterable[Sequence[str]], positions: Iterable[list[str]], directory: str, stanza_folder: str
) -> None:
    """Fill in the positions of those of the lines of words that have none, by the model of a directory."""
    from onmt_preorder.input.positions import NO_POSITION  # imports torch

    plain = [each for each in zip(lines, positions, strict=True) if set(each[1]) == {NO_POSITION}]
    if plain:
        found = load(directory, stanza_folder).positions([" ".join(words) for words, _ in plain])
        for (_, places), order in zip(plain, found, strict=True):
            places[:] = map(str, order)


@lru_cache(maxsize=8)
def load(directory: str, stanza_folder: str = "") -> OnTheFlyPreorderer:
    """Load a model directory, once a process: training and validation share what it remembers."""
    return OnTheFlyPreorderer(load_model(directory), stanza_folder or None)
