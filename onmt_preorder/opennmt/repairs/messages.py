"""Errors that a user can mend, in one line.

Why: OpenNMT-py shows the traceback of every error, in its own process and in those that it starts, and 220
lines of usage before what is wrong with an option; files that it needs and does not find it does not name.
An ``UnboundLocalError`` hides what is wrong with the first line that a data worker reads. ``-log_file`` of a
training ends where the training begins.

Can go when its commands catch a class of errors that plug-ins can raise.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from onmt_preorder.uncaught import EXIT_STATUS, OURS, last_line, show_errors_in_one_line
from onmt_preorder.wrapping import adapts
from preorder.command_line import visible
from preorder.errors import MAX_REASON, DataError, PreorderError, UsageError, message_of

_AFTER_HELP = re.compile(r"argument -h/--help: ignored explicit argument '(.*)'")  # of -hidden_size, say


def show_errors() -> None:
    """Show in one line what a user can mend: in OpenNMT-py's commands more than errors of ours.

    Also what the system refuses, files that are no checkpoints, and what the checks of options find.
    """
    show_errors_in_one_line(_explain_in_commands)


@adapts("onmt.utils.parse:ArgumentParser", "error")
def _error(_: Any, self: Any, message: str) -> None:
    message = _AFTER_HELP.sub(r"unknown option: -h\1", message)
    self.exit(EXIT_STATUS, f"{visible(self.prog)}: {visible(message)}\n")


@adapts("onmt.utils.logging", "init_logger")
def _init_logger(original: Any, *args: Any, **kwargs: Any) -> Any:
    """Keep ``-log_file`` where the logger is only asked for, as by the reader of corpora."""
    files = [each for each in logging.getLogger("onmt").handlers if isinstance(each, logging.FileHandler)]
    logger = original(*args, **kwargs)
    if not args and not kwargs:
        logger.handlers += files
    return logger


def check_file(file_path: str | None, info: str) -> None:
    """Refuse what is no file, which messages call ``info``."""
    if not file_path:
        raise UsageError(f"{info}: no file is given")
    if not os.path.isfile(file_path):
        is_there = os.path.exists(file_path)
        raise DataError(f"{info}: {'not a file' if is_there else 'there is no such file'}", file_path)


@adapts("onmt.utils.parse:DataOptsCheckerMixin", "_validate_file")
def _validate_file(_: Any, file_path: str | None, info: str) -> None:
    check_file(file_path, info)


@adapts("onmt.transforms.tokenize:SentencePieceTransform", "warm_up")
@adapts("onmt.transforms.tokenize:BPETransform", "warm_up")
@adapts("onmt.transforms.tokenize:ONMTTokenizerTransform", "warm_up")
def _load_subword_models(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    try:
        original(self, *args, **kwargs)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        for side in ("src", "tgt"):
            check_file(getattr(self, f"{side}_subword_model"), f"{side}_subword_model")
        raise UsageError(f"src_subword_model, tgt_subword_model: {error}") from None


@adapts("onmt.inputters.dynamic_iterator:WeightedMixer", "__iter__")
def _mix(original: Any, self: Any) -> Iterator[Any]:
    try:
        yield from original(self)
    except UnboundLocalError as error:
        if isinstance(error.__context__, PreorderError):
            raise error.__context__ from None
        raise


@adapts("onmt.modules.embeddings:PositionalEncoding", "forward")
def _encode_positions(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    from onmt.modules.embeddings import SequenceTooLongError

    try:
        return original(self, *args, **kwargs)
    except SequenceTooLongError:
        reason = f"a line has more tokens than the model has positions, {len(self.pe)}"
        raise DataError(reason) from None


@adapts("onmt.utils.distributed:ErrorHandler", "signal_handler")
def _signal_handler(original: Any, *args: Any) -> None:
    """Raise an error of ours again that a child process has reported as text."""
    try:
        original(*args)
    except Exception as error:
        line = last_line(error)
        if OURS.match(line):
            raise PreorderError(OURS.sub("", line)) from None
        raise


def _explain_in_commands(error: BaseException, frames: Sequence[FrameType]) -> str | None:
    is_command = any(frame.f_globals.get("__package__") == "onmt.bin" for frame in frames)
    return _explain(error, frames) if is_command else None


def _explain(error: BaseException, frames: Sequence[FrameType]) -> str | None:
    """Return the line for an error in one of OpenNMT-py's commands, or None where it is no user's mistake."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        return f"{error.filename}: {error.strerror}" if error.filename else last_line(error)
    is_check = frames[-1].f_globals.get("__name__") == "onmt.utils.parse"  # of options
    if isinstance(error, AssertionError | ValueError) and error.args and is_check:
        return message_of(error, MAX_REASON)
    return None
