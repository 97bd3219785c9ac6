"""Alignments beside the translations, in a file of their own.

Why: ``-report_align`` appends them to the translations, behind `` ||| ``, and prints a list
of weights for every sentence. Neither a scorer nor a reader of alignments can use that file. And an
ensemble of recurrent models cannot report alignments at all.

Can go when ``onmt_translate`` writes alignments to a file.
"""

from __future__ import annotations

import io
from argparse import Namespace
from contextlib import redirect_stdout
from typing import Any

from onmt_preorder.host.wrapping import wrap
from preorder.corpus import write_lines


def adapt() -> None:
    """Add ``-align_output`` to ``onmt_translate``, and keep the weights from being printed."""
    from onmt import opts
    from onmt.translate import translator
    from onmt.utils import alignment, misc
    from onmt.utils.parse import ArgumentParser

    wrap(opts, "translate_opts", _add_option)
    wrap(ArgumentParser, "validate_translate_opts", _validate)
    wrap(translator, "build_translator", _build_translator)
    wrap(translator.Inference, "_translate", _translate)
    wrap(alignment, "build_align_pharaoh", _quietly)
    wrap(misc, "tile", _tile)


class _Split:
    """Stands in for the output file: passes translations on and keeps their alignments."""

    def __init__(self, translations: Any, path: str) -> None:
        self.flush = translations.flush
        self._translations = translations
        self._path = path
        self._alignments: list[str] = []

    def write(self, lines: str) -> None:
        """Write lines ``translation ||| alignment``, with a tab and a score behind them or without."""
        from onmt.constants import DefaultTokens

        for line in lines.removesuffix("\n").split("\n"):
            translation, _, rest = line.rpartition(DefaultTokens.ALIGNMENT_SEPARATOR)
            alignment, tab, score = rest.partition("\t")
            self._translations.write(f"{translation}{tab}{score}\n")
            self._alignments.append(alignment)

    def finish(self) -> None:
        """Write the alignments, one line for each of the translations."""
        write_lines(self._path, self._alignments)


def _add_option(original: Any, parser: Any) -> None:
    original(parser)
    parser.add(
        "--align_output",
        "-align_output",
        default="",
        help="Write each translation's alignment (with -gold_align: that of -tgt) to this file.",
    )


def _validate(original: Any, cls: type, opt: Namespace) -> None:
    opt.report_align |= bool(opt.align_output)
    original(cls, opt)


def _build_translator(original: Any, opt: Namespace, *args: Any, **kwargs: Any) -> Any:
    translator = original(opt, *args, **kwargs)
    if getattr(opt, "align_output", ""):
        translator.out_file = _Split(translator.out_file, opt.align_output)
    return translator


def _translate(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    result = original(self, *args, **kwargs)
    if isinstance(self.out_file, _Split):
        self.out_file.finish()
    return result


def _quietly(original: Any, *args: Any) -> Any:
    with redirect_stdout(io.StringIO()):
        return original(*args)


def _tile(original: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(x, tuple):  # of an ensemble's encoders
        return tuple(original(part, *args, **kwargs) for part in x)
    return original(x, *args, **kwargs)
