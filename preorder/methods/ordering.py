"""Order sentences and lines by a model: blocks of lines by compiled code, the rest sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import TYPE_CHECKING, TypeVar

from preorder.annotate.options import AnnotatorOptions
from preorder.annotate.stanza import add_layers
from preorder.data import BinaryTree, Permutation, Sentence
from preorder.data.formats import Escaped, formatted
from preorder.io.files import batched
from preorder.methods.base import HashedPreorderer, Preorderer
from preorder.methods.model_directory import Model
from preorder.methods.registry import METHODS
from preorder.processes import in_order

if TYPE_CHECKING:
    from preorder.metrics.confidence import OrderConfidence

T = TypeVar("T")
Ordering = TypeVar("Ordering", Permutation, BinaryTree)

BATCH = 50_000  # tokens that are ordered at once; two batches are held, whatever the length of the input
BLOCK_FORMATS = ("features", "positions", "order")  # words and trees are written as fast by Python


def orders(
    model: Model,
    sentences: Iterable[Sentence],
    find: Callable[[Sequence[Sentence]], Iterable[T]],
    stanza: AnnotatorOptions | None = None,
    workers: int = 0,
    size: int = BATCH,
) -> Iterator[T]:
    """Yield what ``find`` makes of each sentence, as the model reads it, in batches of ``size`` tokens.

    Stanza first adds its layers where it is given, in so many processes (0: this one). A batch is ordered
    while the one before it is used.
    """
    if stanza is not None:
        sentences = add_layers(map(model.spelled, sentences), stanza, workers=workers)
    batches = batched(map(model.annotate, sentences), size, lambda sentence: len(sentence) + 1)
    with ThreadPoolExecutor(1) as pool:
        for _, found in in_order(lambda batch: pool.submit(find, batch), batches, 1):
            yield from found


def confident(
    preorderer: Preorderer,
    find: Callable[..., list[Ordering]],
    sentences: Sequence[Sentence],
    threads: int = 1,
) -> Iterable[tuple[Ordering, OrderConfidence | None]]:
    """Return what ``find`` does, orders or trees, with their confidences; None: the method has none."""
    found = find(sentences, threads=threads)
    if not METHODS[preorderer.method].has_confidences:
        return zip(found, repeat(None))
    from preorder.metrics.confidence import order_confidence  # imports numba

    permutations = (item.permutation if isinstance(item, BinaryTree) else item for item in found)
    inversions = preorderer.inversions(sentences, threads)
    return list(zip(found, map(order_confidence, permutations, inversions), strict=True))


def ordered_lines(
    model: Model,
    sentences: Sequence[Sentence],
    name: str,
    report: Callable[[Escaped], None],
    stanza: AnnotatorOptions | None = None,
) -> Iterator[str]:
    """Yield the :func:`orders` of sentences in a format; report the first line that features escape."""
    find = model.preorderer.trees if name == "tree" else model.preorderer.order
    return formatted(zip(sentences, orders(model, sentences, find, stanza), strict=True), name, report)


class LineOrderer:
    """Orders blocks of lines, and writes them in a format; threads may share it."""

    def __init__(self, model: Model, name: str) -> None:
        self._model, self._format = model, name
        self._in_blocks = None
        if name in BLOCK_FORMATS and isinstance(model.preorderer, HashedPreorderer):
            from preorder.methods.block_order import BlockOrderer  # imports numba

            self._in_blocks = BlockOrderer(model, model.preorderer, name)

    def __call__(
        self, texts: tuple[bytes, ...], lines: int, columns: int, parse: Callable[[], Iterable[Sentence]]
    ) -> tuple[str, Escaped | None]:
        """Return the ordered lines, and the first of them whose words features have to escape.

        ``parse`` yields the lines of the texts, of so many columns, as sentences, or raises what is wrong.
        """
        if self._in_blocks and lines and self._knows_tags(texts, columns):
            found = self._in_blocks(texts, lines, columns)
            if found:
                return found
        escaped: list[Escaped] = []
        ordered = ordered_lines(self._model, list(parse()), self._format, escaped.append)
        return "".join(f"{line}\n" for line in ordered), next(iter(escaped), None)

    def _knows_tags(self, texts: tuple[bytes, ...], columns: int) -> bool:
        """Return whether the model reads the tags of a block as they stand there."""
        if "tags" not in self._model.preorderer.layers or len(texts) == columns == 1:
            return True
        text = texts[-1].decode(errors="replace")
        if columns > 1:
            text = " ".join(line.split("\t")[1] for line in text.split("\n") if "\t" in line)
        tags = text.split()
        return self._model.tag_reader(tags, self._model.preorderer) == tuple(tags)
