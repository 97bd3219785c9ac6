"""Files that appear under their names only when they are complete.

Why: OpenNMT-py writes translations and checkpoints in place: what was there is lost when it is interrupted or
the disk is full, and half a file stays. Into a file named ``.gz`` it writes plain text.

Can go when its commands write beside a file and then rename.
"""

from __future__ import annotations

import contextlib
from argparse import Namespace
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from onmt_preorder.wrapping import adapts
from preorder.command_line.paths import check_outputs
from preorder.errors import UsageError
from preorder.io import files
from preorder.io.atomic import atomic_file, is_special
from preorder.io.storage import compressed, split_suffix

# What ends when both files of a checkpoint with safetensors are written, else None.
_both: ContextVar[contextlib.ExitStack | None] = ContextVar("both", default=None)


@adapts("onmt.bin.translate", "translate")
def _translate(original: Any, opt: Namespace) -> None:
    path = opt.output
    if path == files.STANDARD:
        raise UsageError("-output -: name a file, or take onmt_preorder translate")
    outputs = filter(None, (path, opt.align_output))
    check_outputs(list(filter(None, (opt.src, opt.tgt, *opt.models))), list(outputs))
    if is_special(path):
        original(opt)
        return
    with atomic_file(path) as temporary:
        opt.output = str(temporary)
        original(opt)
        if split_suffix(path)[1]:
            translations = temporary.read_bytes()
            with temporary.open("wb") as stream, compressed(stream, path) as text:
                text.write(translations)


@adapts("onmt.models.model_saver", "torch.save")
@adapts("onmt.bin.average_models", "torch.save")
@adapts("onmt.bin.release_model", "torch.save")
def _save(original: Any, value: Any, file: Any) -> None:
    if is_special(str(file)):
        original(value, file)
        return
    # Given a name, torch would write that of the temporary file into the checkpoint.
    with _whole(str(file)) as temporary, temporary.open("wb") as stream:
        original(value, stream)


@adapts("onmt.models.model_saver:ModelSaver", "_st_save")
def _save_both(original: Any, *args: Any) -> Any:
    """Let the weights appear before the ``.pt`` that needs them: where that is, the checkpoint is whole."""
    import safetensors.torch

    def save_weights(tensors: dict[str, Any], path: str) -> None:
        with _whole(path) as temporary:  # of copies, as tied weights share memory
            save_file({name: tensor.clone() for name, tensor in tensors.items()}, temporary)

    module = vars(safetensors.torch)
    save_file = module["save_file"]  # which OpenNMT-py imports as it saves
    with contextlib.ExitStack() as both:
        before = _both.set(both)  # which ends what was written last first
        module["save_file"] = save_weights
        try:
            return original(*args)
        finally:
            module["save_file"] = save_file
            _both.reset(before)


def _whole(path: str) -> contextlib.AbstractContextManager[Path]:
    both = _both.get()
    file = atomic_file(path)
    return file if both is None else contextlib.nullcontext(both.enter_context(file))
