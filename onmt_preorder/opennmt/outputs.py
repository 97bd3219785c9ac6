"""Files that appear under their names only when they are complete.

Why: OpenNMT-py empties the file of the translations before it begins, and writes checkpoints in place: what
was there is lost when it is interrupted, killed or the disk is full, and half a file stays.

Can go when its commands write beside a file and then rename.
"""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace
from typing import Any

from onmt_preorder.opennmt.wrapping import adapts
from preorder.data.atomic import atomic_file, is_special
from preorder.data.errors import UsageError


@adapts("onmt.bin.translate", "translate")
def _translate(original: Any, opt: Namespace) -> None:
    path = opt.output
    if is_special(path):
        original(opt)
        return
    _check_not_read(path, opt)
    with atomic_file(path) as temporary:
        opt.output = str(temporary)
        original(opt)


def _check_not_read(path: str, opt: Namespace) -> None:
    """Refuse to replace a file that the translation needs.

    Raises:
        UsageError: the output is an input.
    """
    for given in (opt.src, opt.tgt, *opt.models):
        if given and os.path.exists(path) and os.path.exists(given) and os.path.samefile(path, given):
            raise UsageError(f"{path} would be overwritten while it is needed: name another -output")


@adapts("torch", "save")
def _save(original: Any, value: Any, file: Any, *args: Any, **kwargs: Any) -> None:
    """Write checkpoints of OpenNMT-py whole; what other programs save is left to them."""
    caller = sys._getframe(2).f_globals.get("__name__", "")  # beyond what ``wrap`` makes
    if not caller.startswith("onmt.") or not isinstance(file, str | os.PathLike) or is_special(str(file)):
        original(value, file, *args, **kwargs)
        return
    # Given a name, torch would write that of the temporary file into the checkpoint.
    with atomic_file(str(file)) as temporary, temporary.open("wb") as stream:
        original(value, stream, *args, **kwargs)


@adapts("onmt.bin.build_vocab", "build_vocab_main")
def _build_vocab(original: Any, opts: Namespace) -> None:
    """Refuse what would only be refused after all texts have been read."""
    if not opts.overwrite:
        for path in filter(None, (opts.src_vocab, opts.tgt_vocab)):
            if os.path.exists(path):
                raise UsageError(f"{path} is there already: -overwrite replaces it")
    original(opts)


@adapts("onmt.bin.build_vocab", "init_pool")
def _init_pool(original: Any, *args: Any) -> None:
    """Leave Ctrl-C to the parent, which ends its children: they would show a traceback each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    original(*args)
