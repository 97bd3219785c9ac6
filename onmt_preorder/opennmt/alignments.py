"""Alignments: those that guide the attention of a training, and those in files beside the translations.

Why: with ``lambda_align`` OpenNMT-py fails at a line without links and at a link with a confidence, and
refuses links where transforms split words. Only its own Transformer decoder may learn from links.

``-report_align`` appends alignments to the translations, behind `` ||| ``, and prints a list of weights for
every sentence. It fails with ensembles.

Can go when OpenNMT-py reads Pharaoh's format whole, maps links to pieces, and writes alignments to files.
"""

from __future__ import annotations

import io
from argparse import Namespace
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

import torch
from torch import Tensor

from onmt_preorder.wrapping import adapts
from preorder.alignment.tokens import map_links, overlapping
from preorder.data import Alignment
from preorder.data.formats import format_alignment, parse_alignment
from preorder.errors import errors_in
from preorder.io.files import write_lines

_READ_FROM = "align_read_from"  # in an example: the file and the line, from 1, of its links

# --- links that guide a training ---


def sure_links(line: str, path: str, line_number: int) -> dict[str, Any]:
    """Return what an example holds of its sure links, ``0-0 1-2``, and where they stand."""
    with errors_in(path, line_number):
        links = format_alignment(Alignment(parse_alignment(line).links))
    return {"align": links, _READ_FROM: (path, line_number)}


def put_on_pieces(example: dict[str, Any]) -> None:
    """Put the links of an example, which count words, on what the transforms made of the words."""
    sides = (overlapping(example[f"{side}_original"], example[side], strict=False) for side in ("src", "tgt"))
    with errors_in(*example.get(_READ_FROM, (None,))):
        links = map_links(parse_alignment(" ".join(example["align"])), *sides)
    example["align"] = format_alignment(links).split()


@adapts("onmt.inputters.text_utils", "parse_align_idx")
def _parse(original: Any, links: str) -> list[list[int]]:
    return original(links) if links else []


@adapts("onmt.utils.alignment", "make_batch_align_matrix")
def _make_matrix(_: Any, links: Tensor, size: Sequence[int], normalize: bool = False) -> Tensor:
    """Make ``[b, target, source]`` of a batch's links, three columns; torch warns of OpenNMT-py's way."""
    matrix = torch.zeros(size, device=links.device)
    indices = tuple(links.reshape(-1, 3).long().T)
    matrix.index_put_(indices, matrix.new_ones(len(indices[0])), accumulate=True)
    return matrix / matrix.sum(-1, keepdim=True).clamp_min(1) if normalize else matrix


# --- files beside the translations ---


class _LinksKeeper:
    """Replaces the output file: passes translations on and keeps their links, for a file with a name."""

    def __init__(self, translations: Any, path: str) -> None:
        self.flush = translations.flush
        self._translations, self._path = translations, path
        self._links = list[str]()

    def write(self, lines: str) -> None:
        """Write lines ``translation ||| i-j …``, some of them followed by a tab and a score."""
        from onmt.constants import DefaultTokens

        for line in lines.removesuffix("\n").split("\n"):
            translation, _, rest = line.rpartition(DefaultTokens.ALIGNMENT_SEPARATOR)
            links, tab, score = rest.partition("\t")
            self._translations.write(f"{translation}{tab}{score}\n")
            self._links.append(links)

    def finish(self) -> None:
        """Write the file, one line for each translation."""
        write_lines(self._path, self._links)


@adapts("onmt.translate.translator", "build_translator")
def _build_translator(original: Any, opt: Namespace, *args: Any, **kwargs: Any) -> Any:
    translator = original(opt, *args, **kwargs)
    if getattr(opt, "align_output", ""):
        translator.out_file = _LinksKeeper(translator.out_file, opt.align_output)
    return translator


@adapts("onmt.translate.translator:Inference", "_translate")
def _translate(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    result = original(self, *args, **kwargs)
    if isinstance(self.out_file, _LinksKeeper):
        self.out_file.finish()
    return result


@adapts("onmt.translate.translator:Translator", "_align_forward")
def _align(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """Leave out the end symbol that our encoder puts after each source sentence: it is no word of it."""
    alignments = original(self, *args, **kwargs)
    if getattr(self.model.encoder, "end_symbol", None) is None:
        return alignments
    return [[rows if rows is None else rows[:, :-1] for rows in best] for best in alignments]


@adapts("onmt.utils.alignment", "build_align_pharaoh")
def _build_align(original: Any, attention: Any) -> tuple[list[str], list[str]]:
    with redirect_stdout(io.StringIO()):
        return original(attention)


@adapts("onmt.transforms.transform:TransformPipe", "apply_reverse")
def _apply_reverse(original: Any, self: Any, translated: str) -> str:
    """Let transforms join the pieces of a translation alone, not the links behind its `` ||| ``."""
    from onmt.constants import DefaultTokens

    translation, separator, links = translated.rpartition(DefaultTokens.ALIGNMENT_SEPARATOR)
    has_links = any(getattr(transform.opts, "report_align", False) for transform in self.transforms)
    if not (separator and has_links):
        return original(self, translated)
    return f"{original(self, translation)}{separator}{links}"


@adapts("onmt.utils.misc", "tile")
def _tile(original: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(x, tuple):  # of an ensemble's encoders, of which some have no final state
        return tuple(_tile(original, part, *args, **kwargs) for part in x)
    return None if x is None else original(x, *args, **kwargs)
