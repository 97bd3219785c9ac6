"""The galleries of a run: a few sentences of the test set in each order."""

from __future__ import annotations

from collections.abc import Sequence

from preorder.analysis.evaluation_data import EvaluationData
from preorder.analysis.show.choose import draw
from preorder.analysis.show.gallery import Gallery, Numbered
from preorder.analysis.show.sentence import SentenceView
from preorder.data.errors import DataError
from preorder.data.formats import parse_tokens
from preorder.progress import LOGGER

SENTENCES = 10
MAX_LENGTH = 40  # tokens, on either side


def order_galleries(
    data: EvaluationData, orders: Sequence[str], alignment_path: str | None
) -> dict[str, Gallery]:
    """Return for each named order the same sentences, drawn by the data's seed.

    They are linked to the first reference, have 1 to ``MAX_LENGTH`` tokens on either side, and links that can
    be sorted. There is none if there is no such sentence; nor, which is said, if the reference has fewer
    tokens than the links ask for: then it is not the text that was aligned.
    """
    if not (data.source and data.alignments and orders):
        return {}
    targets = [parse_tokens(line) for line in data.references[0]]
    for number, (alignment, target) in enumerate(zip(data.alignments, targets, strict=True), 1):
        try:
            alignment.check_within(None, len(target))
        except DataError as error:
            reason = "the reference is not the text that was aligned, so no sentences are drawn"
            LOGGER.warning(f"{error.at(alignment_path, number)}: {reason}")
            return {}
    fitting = [i for i in range(len(targets)) if _fits(data, i, len(targets[i]))]
    chosen, total = draw(fitting, SENTENCES, data.seed)
    if not chosen:
        return {}
    fitted = f"{total} sentences of at most {MAX_LENGTH} tokens"
    text = f"{len(chosen)} of {fitted}, drawn at random, seed {data.seed}"

    def view(name: str, i: int) -> SentenceView:
        return SentenceView(data.source[i], data.orders[name][i], None, targets[i], data.alignments[i])

    return {name: Gallery(text, tuple(Numbered(i + 1, view(name, i)) for i in chosen)) for name in orders}


def _fits(data: EvaluationData, i: int, target_length: int) -> bool:
    lengths = len(data.source[i]), target_length
    return data.target_groups[i] is not None and all(1 <= length <= MAX_LENGTH for length in lengths)
