"""Links that guide the attention of a training: ``path_align`` with ``lambda_align``.

Why: OpenNMT-py ends in a traceback at a line without links, of which an aligner writes many, and at a link
with a confidence; a link past the end of its sentence ends the training or not, as its batch happens to be.
And only its own Transformer decoder may learn from links, though ours have the attention for it.

Can go when it reads Pharaoh's format whole, and compares links with their sentence.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from torch import Tensor

from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.papers.distortion.options import DECODER as RECURRENT
from onmt_preorder.transformer.options import DECODER as TRANSFORMER
from preorder.data.errors import DataError, UsageError
from preorder.data.formats import format_alignment, parse_alignment
from preorder.data.types import Alignment

_READ_FROM = "align_read_from"  # in an example: the file and the line, from 1, of its links


@adapts("onmt.utils.parse:ArgumentParser", "validate_model_opts")
def _allow_our_decoders(original: Any, cls: type, opt: Namespace) -> None:
    """Check ``lambda_align`` for our decoders here: OpenNMT-py allows its own Transformer alone."""
    weight = opt.lambda_align
    ours = opt.decoder_type in (RECURRENT, TRANSFORMER)
    opt.lambda_align = 0.0 if ours else weight
    try:
        original(cls, opt)
    finally:
        opt.lambda_align = weight
    layer, layers = opt.alignment_layer, opt.dec_layers
    if weight and opt.decoder_type == TRANSFORMER and not -layers <= layer < layers:
        raise UsageError(f"alignment_layer {layer}: the decoder has {layers} layers, the last is -1")


def sure_links(line: str, path: str, line_number: int) -> dict[str, Any]:
    """Return what an example holds of its sure links: ``0-0 1-2``, without confidences, and where they stand.

    Raises:
        DataError: a link is malformed.
    """
    try:
        links = format_alignment(Alignment(parse_alignment(line).links))
    except DataError as error:
        raise error.at(path, line_number) from None
    return {"align": links, _READ_FROM: (path, line_number)}


@adapts("onmt.inputters.dynamic_iterator:DynamicDatasetIter", "_tuple_to_json_with_tokIDs")
def _compare_with_sentences(original: Any, self: Any, lines: list[Any]) -> list[Any]:
    """Check the links of each example against its tokens, as the transforms have left them."""
    examples = original(self, lines)
    for example in examples:
        if _READ_FROM in example:
            source, target = (
                len(example["src"]["src_ids"]),
                len(example["tgt"]["tgt_ids"]) - 2,
            )  # begin and end
            try:
                parse_alignment(example["align"]).check_within(source, target)
            except DataError as error:
                raise error.at(*example[_READ_FROM]) from None
    return examples


@adapts("onmt.inputters.text_utils", "parse_align_idx")
def _parse(original: Any, links: str) -> list[list[int]]:
    return original(links) if links else []


@adapts("onmt.utils.alignment", "make_batch_align_matrix")
def _make_matrix(original: Any, links: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Read the links of a batch, which may have none, as a table of three columns."""
    return original(links.reshape(-1, 3), *args, **kwargs)
