"""Checkpoints that OpenNMT-py writes but cannot read, and trainings that begin from one (``train_from``).

Why:

- ``torch.load`` of torch >= 2.6 unpickles only allowed classes, and checkpoints hold their options as an
  ``argparse.Namespace``. We allow this class and no other: its contents are still plain values and tensors.
- ``save_format: safetensors`` saves ``x.safetensors``; loading looks for ``x.*.safetensors``.
- With ``train_from`` the model's options are the checkpoint's, without a word where the configuration
  differs; without ``encoder_type`` the corpora are read as for another model; and the new checkpoints hold
  the transforms and paths of the first run.

Can go when OpenNMT-py saves its options as a dictionary or allows the class itself, loads what it saves,
compares the two configurations, and saves the data options of the latest run.
"""

from __future__ import annotations

import pickle
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch

from onmt_preorder import options
from onmt_preorder.opennmt.wrapping import adapts
from preorder.data.errors import DataError, UsageError


def allow_options() -> None:
    """Let translation, ``train_from`` and ``onmt_average_models`` load checkpoints."""
    torch.serialization.add_safe_globals([Namespace])


@adapts("onmt.models.model:BaseModel", "load_safe_state_dict")
def _load_safetensors(original: Any, self: Any, model_path: str, *args: Any, **kwargs: Any) -> Any:
    from safetensors.torch import load_file

    path = Path(f"{model_path}.safetensors")
    if not path.is_file():
        return original(self, model_path, *args, **kwargs)
    return self.load_state_dict({"model": load_file(path), "generator": {}}, *args, **kwargs)


def read_options(path: str) -> Namespace:
    """Return the options that a checkpoint was trained with; its weights are not read.

    Raises:
        DataError: the file is missing or is not a checkpoint.
    """
    allow_options()
    try:
        return torch.load(path, map_location="cpu", mmap=True, weights_only=True)["opt"]
    except OSError as error:
        reason = error.strerror if error.filename else None  # else torch could not map half a file
        raise DataError(reason or "not a checkpoint of OpenNMT-py", path) from None
    except (RuntimeError, ValueError, TypeError, KeyError, EOFError, pickle.UnpicklingError):
        raise DataError("not a checkpoint of OpenNMT-py", path) from None


@adapts("onmt.utils.parse:ArgumentParser", "validate_train_opts")
def _validate(original: Any, cls: type, opt: Namespace) -> None:
    original(cls, opt)
    if opt.train_from and not opt.override_opts:
        _compare(opt, read_options(opt.train_from))


def _compare(opt: Namespace, trained: Namespace) -> None:
    if not (options.is_ours(opt) or options.is_ours(trained)):
        return
    for name in ("encoder_type", "decoder_type", *_names(options.add_options)):
        now, then = getattr(opt, name), getattr(trained, name, getattr(opt, name))
        if now != then:
            raise UsageError(f"{name} is {now!r}, but in the model of train_from, {opt.train_from}, {then!r}")


@adapts("onmt.models.model:BaseModel", "load_state_dict")
def _load_weights(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """Say in one line where the checkpoint is one of another model, as ``override_opts`` allows."""
    try:
        return original(self, *args, **kwargs)
    except (AssertionError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"the weights of the checkpoint do not fit the model: {reason}") from None


@adapts("onmt.train_single", "_get_model_opts")
def _get_model_opts(original: Any, opt: Namespace, checkpoint: Any = None) -> Namespace:
    """Save how the text is read now."""
    model_opt = original(opt, checkpoint)
    if checkpoint is not None and options.is_ours(model_opt):
        from onmt.transforms import AVAILABLE_TRANSFORMS

        transforms = AVAILABLE_TRANSFORMS.values()
        of_transforms = (name for transform in transforms for name in _names(transform.add_options))
        for name in ("data", "transforms", "_all_transform", "n_src_feats", *of_transforms):
            setattr(model_opt, name, getattr(opt, name))
    return model_opt


def _names(add_options: Any) -> list[str]:
    from onmt.utils.parse import ArgumentParser

    return list(vars(ArgumentParser.defaults(add_options)))
