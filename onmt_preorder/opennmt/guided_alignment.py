"""Links that guide the attention of a training: ``path_align`` with ``lambda_align``.

Why: OpenNMT-py ends in a traceback at a line without links, of which an aligner writes many, and at a link
with a confidence; a link past the end of its sentence ends the training or not, as its batch happens to be.
It refuses links where transforms split words, since it does not map them to the pieces. And only its own
Transformer decoder may learn from links, though ours have the attention for it.

Can go when it reads Pharaoh's format whole, compares links with their sentence and maps them to pieces.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from torch import Tensor

from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.options import is_ours
from onmt_preorder.papers.distortion.options import DECODER as RECURRENT
from onmt_preorder.transformer.options import DECODER as TRANSFORMER
from preorder.alignment.tokens import map_links
from preorder.data import Alignment
from preorder.data.formats import format_alignment, parse_alignment
from preorder.errors import DataError, UsageError

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


@adapts("onmt.utils.parse:ArgumentParser", "_get_all_transform")
def _allow_transforms(original: Any, cls: type, opt: Namespace) -> None:
    """Allow transforms that split, put in and leave out tokens: :func:`put_on_pieces` follows them."""
    weight = getattr(opt, "lambda_align", 0.0)  # onmt_build_vocab has none
    if weight and is_ours(opt):
        opt.lambda_align = 0.0
    try:
        original(cls, opt)
    finally:
        if weight:
            opt.lambda_align = weight


def put_on_pieces(example: dict[str, Any]) -> None:
    """Put the links of an example, which count words of its files, on what the transforms made of the words.

    Raises:
        DataError: a link points past its sentence.
    """
    words = [(example[f"{side}_original"], example[side]) for side in ("src", "tgt")]
    try:
        links = map_links(parse_alignment(" ".join(example["align"])), *words, strict=False)
    except DataError as error:
        raise error.at(*example[_READ_FROM]) from None
    example["align"] = format_alignment(links).split()


@adapts("onmt.inputters.text_utils", "parse_align_idx")
def _parse(original: Any, links: str) -> list[list[int]]:
    return original(links) if links else []


@adapts("onmt.utils.alignment", "make_batch_align_matrix")
def _make_matrix(original: Any, links: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Read the links of a batch, which may have none, as a table of three columns."""
    return original(links.reshape(-1, 3), *args, **kwargs)
