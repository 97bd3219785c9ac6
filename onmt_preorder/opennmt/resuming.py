"""Resuming a training (``train_from``).

Why: OpenNMT-py takes the model's options from the checkpoint and says nothing where the configuration
differs; with a configuration without ``encoder_type`` the corpora are read as for another model; and the
new checkpoints hold the transforms and paths of the first run.

Can go when OpenNMT-py compares the two, and saves the data options of the latest run.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder import options
from onmt_preorder.opennmt.checkpoints import read_options
from onmt_preorder.opennmt.wrapping import wrap
from preorder.data.errors import UsageError


def adapt() -> None:
    """Compare the configuration with the checkpoint; save how the text is read now."""
    from onmt import train_single
    from onmt.utils.parse import ArgumentParser

    wrap(ArgumentParser, "validate_train_opts", _validate)
    wrap(train_single, "_get_model_opts", _get_model_opts)


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


def _get_model_opts(original: Any, opt: Namespace, checkpoint: Any = None) -> Namespace:
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
