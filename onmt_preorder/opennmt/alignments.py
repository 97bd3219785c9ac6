"""Alignments and attention in files beside the translations.

Why: ``-report_align`` appends alignments to the translations, behind `` ||| ``, where neither a scorer nor a
reader of alignments can use them, and prints a list of weights for every sentence. The attention itself
cannot be had at all, nor the alignments of an ensemble of recurrent models.

Can go when ``onmt_translate`` writes alignments and attention to files.
"""

from __future__ import annotations

import io
import json
from argparse import Namespace
from contextlib import redirect_stdout
from contextvars import ContextVar
from typing import Any

from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.papers.distortion.options import puts_end_symbols
from preorder.data import Alignment
from preorder.data.formats import format_alignment
from preorder.io.files import write_lines

DIGITS = 6
_writes_attention: ContextVar[bool] = ContextVar("writes_attention", default=False)


class _AttentionKeeper:
    """Replaces the output file: passes translations on and keeps their attention.

    Args:
        translations: the output file.
        align_path, attention_path: files to write, or the empty string.
    """

    def __init__(self, translations: Any, align_path: str, attention_path: str) -> None:
        self.flush = translations.flush
        self._translations = translations
        self._align_path, self._attention_path = align_path, attention_path
        self._attention: list[str] = []

    def write(self, lines: str) -> None:
        """Write lines ``translation ||| [[weight, …], …]``, some of them followed by a tab and a score."""
        from onmt.constants import DefaultTokens

        for line in lines.removesuffix("\n").split("\n"):
            translation, _, rest = line.rpartition(DefaultTokens.ALIGNMENT_SEPARATOR)
            attention, tab, score = rest.partition("\t")
            self._translations.write(f"{translation}{tab}{score}\n")
            self._attention.append(attention)

    def finish(self) -> None:
        """Write the files, one line for each translation."""
        if self._attention_path:
            write_lines(self._attention_path, self._attention)
        if self._align_path:
            write_lines(self._align_path, map(_hard_alignment, map(json.loads, self._attention)))


def _hard_alignment(attention: list[list[float]]) -> str:
    """Link each target word to the source word of highest weight, as ``i-j`` from 0."""
    links = ((row.index(max(row)), target) for target, row in enumerate(attention))
    return format_alignment(Alignment(frozenset(links)))


@adapts("onmt.opts", "translate_opts")
def _add_options(original: Any, parser: Any) -> None:
    original(parser)
    for name, what in (("align", "alignment as i-j from 0"), ("attention", "attention as JSON")):
        what = f"Write the {what} of each translation to this file, with -gold_align of each line of -tgt."
        parser.add(f"--{name}_output", f"-{name}_output", default="", help=what)


@adapts("onmt.utils.parse:ArgumentParser", "validate_translate_opts")
def _validate(original: Any, cls: type, opt: Namespace) -> None:
    opt.report_align |= bool(opt.align_output or opt.attention_output)
    original(cls, opt)


@adapts("onmt.translate.translator", "build_translator")
def _build_translator(original: Any, opt: Namespace, *args: Any, **kwargs: Any) -> Any:
    translator = original(opt, *args, **kwargs)
    paths = getattr(opt, "align_output", ""), getattr(opt, "attention_output", "")
    if any(paths):
        translator.out_file = _AttentionKeeper(translator.out_file, *paths)
    return translator


@adapts("onmt.translate.translator:Inference", "_translate")
def _translate(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    if not isinstance(self.out_file, _AttentionKeeper):
        return original(self, *args, **kwargs)
    before = _writes_attention.set(True)
    try:
        result = original(self, *args, **kwargs)
    finally:
        _writes_attention.reset(before)
    self.out_file.finish()
    return result


@adapts("onmt.translate.translator:Translator", "_align_forward")
def _align(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """Leave out the end symbol that our encoder puts after each source sentence: it is no word of it."""
    alignments = original(self, *args, **kwargs)
    if not puts_end_symbols(self.model.encoder):
        return alignments
    return [[rows if rows is None else rows[:, :-1] for rows in best] for best in alignments]


@adapts("onmt.utils.alignment", "build_align_pharaoh")
def _build_align(original: Any, attention: Any) -> tuple[list[str], list[str]]:
    """Put the attention itself behind `` ||| `` where :class:`_AttentionKeeper` takes it from there."""
    if _writes_attention.get():
        rounded = [[round(weight, DIGITS) for weight in row] for row in attention.tolist()]
        return [json.dumps(rounded, separators=(",", ":"))], []
    with redirect_stdout(io.StringIO()):
        return original(attention)


@adapts("onmt.utils.misc", "tile")
def _tile(original: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(x, tuple):  # of an ensemble's encoders
        return tuple(original(part, *args, **kwargs) for part in x)
    return original(x, *args, **kwargs)
