"""Lines ordered by any model: in blocks by compiled code, what that leaves sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from preorder.data import Sentence
from preorder.data.formats import FORMATTERS, needs_escape
from preorder.methods.model_directory import TAGS_LOOKED_AT, Model

BLOCK_FORMATS = ("features", "positions", "order")  # words and trees are written as fast by Python

Escaped = tuple[int, tuple[str, ...]]  # a line, from 0, and its words


class LineOrderer:
    """Orders blocks of lines, and writes them in a format; threads may share it."""

    def __init__(self, model: Model, name: str) -> None:
        self._model, self._format = model, name
        self._in_blocks = None
        if name in BLOCK_FORMATS and hasattr(model.preorderer, "parse_hashed"):
            from preorder.methods.block_order import BlockOrderer  # imports numba

            self._in_blocks = BlockOrderer(model, name)

    def __call__(
        self, texts: tuple[bytes, ...], lines: int, columns: int, parse: Callable[[], Iterable[Sentence]]
    ) -> tuple[str, Escaped | None]:
        """Return the ordered lines, and the first of them whose words features have to escape.

        ``parse`` yields the lines of the texts, of so many columns, as sentences, or raises what is wrong.
        """
        if self._in_blocks and lines and (found := self._in_blocks(texts, lines, columns)):
            if "tags" in self._model.preorderer.layers and not self._model.tag_watch.is_over:
                for sentence in islice(parse(), TAGS_LOOKED_AT):
                    self._model.annotate(sentence)
            return found
        sentences = list(parse())
        preorderer = self._model.preorderer
        find = preorderer.trees if self._format == "tree" else preorderer.order
        ordered = find(list(map(self._model.annotate, sentences)))
        text = "".join(f"{line}\n" for line in map(FORMATTERS[self._format], sentences, ordered))
        lines_of = enumerate(sentence.words for sentence in sentences)
        escaped = (line for line in lines_of if self._format == "features" and needs_escape(line[1]))
        return text, next(escaped, None)
