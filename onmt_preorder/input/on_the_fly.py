"""Source lines put in order while a translation model trains or translates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from preorder.annotate.stanza import add_layers
from preorder.annotate.stanza_models import StanzaOptions
from preorder.data.errors import UsageError
from preorder.data.formats import parse_tokens, unescape_token
from preorder.data.types import Sentence
from preorder.methods.model_directory import Model, load_model

REMEMBERED = 10_000_000
"""Tokens of lines whose positions are kept, some 200 MB in each data worker."""


class OnTheFly:
    """What ``preorder apply`` does, for lines that come in batches and come again each epoch.

    Lines are remembered while there is room, not the latest of them: those of an epoch come in the same
    order again, so that to drop the oldest for the newest would be to find none.

    Args:
        model: a trained preorderer that needs no more than the words, or what Stanza says of them.
        stanza_folder: where the models of Stanza lie, if it is needed; None: where Stanza keeps them.

    Raises:
        UsageError: the model needs annotation that only files give.
    """

    def __init__(self, model: Model, stanza_folder: str | None = None) -> None:
        self.model = model
        self._stanza = _stanza(model, stanza_folder)
        self._known: dict[str, tuple[int, ...]] = {}
        self._room = REMEMBERED
        if self._stanza is None:
            model.annotate(Sentence(()))

    def positions(self, lines: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the position of each word of each line; the words are escaped as in features.

        New lines go through the preorderer together; the others are looked up.
        """
        new = list(dict.fromkeys(line for line in lines if line not in self._known))
        found = dict(zip(new, self._order(new), strict=True))
        result = [found[line] if line in found else self._known[line] for line in lines]
        for line, positions in found.items():
            if len(positions) <= self._room:
                self._known[line] = positions
                self._room -= len(positions)
        return result

    def _order(self, lines: Sequence[str]) -> list[tuple[int, ...]]:
        sentences: Iterable[Sentence] = (
            Sentence(tuple(map(unescape_token, parse_tokens(line)))) for line in lines
        )
        if self._stanza is not None:
            sentences = add_layers(sentences, self._stanza, workers=0)
        orders = self.model.preorderer.order([self.model.annotate(sentence) for sentence in sentences])
        return [order.positions for order in orders]


@lru_cache(maxsize=2)
def load(directory: str, stanza_folder: str | None = None) -> OnTheFly:
    """Load a model directory, once a process: training and validation share what is remembered.

    Raises:
        DataError: the directory is missing or damaged.
        UsageError: the model needs annotation that only files give.
    """
    return OnTheFly(load_model(directory), stanza_folder)


def _stanza(model: Model, folder: str | None) -> StanzaOptions | None:
    if model.stanza is None:
        return None
    if model.stanza.tagged:
        raise UsageError("the preorderer's trees are made from POS tags in a file: lines alone do not do")
    return replace(model.stanza, folder=folder)
