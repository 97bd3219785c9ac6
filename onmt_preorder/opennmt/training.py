"""Initialisation and optimiser of the distortion models.

Why: OpenNMT-py fills all parameters of a new model uniformly or by Glorot's rule; where a training
is resumed, it demands all parameters of the model in the checkpoint; and it has no options for AdaDelta.

Can go when a model can initialise itself, parameters can be added to a trained model, and
AdaDelta has options.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.opennmt.wrapping import wrap
from onmt_preorder.papers.distortion.options import DECODER, NONE, DistortionOptions
from preorder.data.errors import UsageError

_KEEPS_STATES = ("none", "keep_states")


def adapt() -> None:
    """Initialise as the paper does, allow to begin from a trained RNNsearch*, set AdaDelta's constants."""
    from onmt import model_builder
    from onmt.utils import optimizers

    wrap(model_builder, "build_model", _build_model)
    wrap(optimizers, "build_torch_optimizer", _build_optimizer)


def _build_model(
    original: Any, model_opt: Namespace, opt: Namespace, vocabs: Any, checkpoint: Any, device_id: int
) -> Any:
    ours = model_opt.decoder_type == DECODER
    if ours and checkpoint is not None:
        _add_jumps(model_opt, opt, checkpoint)
    model = original(model_opt, opt, vocabs, checkpoint, device_id)
    if ours and checkpoint is None and model_opt.param_init:
        _initialise(model, model_opt)
    return model


def _initialise(model: Any, model_opt: Namespace) -> None:
    from onmt_preorder.papers.distortion.initialise import initialise

    initialise(model, model_opt.param_init)
    model.encoder.embeddings.load_pretrained_vectors(model_opt.pre_word_vecs_enc)
    model.decoder.embeddings.load_pretrained_vectors(model_opt.pre_word_vecs_dec)


def _add_jumps(model_opt: Namespace, opt: Namespace, checkpoint: dict[str, Any]) -> None:
    """Add the parameters of the jumps to a checkpoint without them (with ``override_opts``)."""
    from onmt_preorder.papers.distortion.initialise import add_jumps

    wanted, known = DistortionOptions.from_opt(model_opt), DistortionOptions.from_opt(checkpoint["opt"])
    if known.context == NONE != wanted.context:
        if opt.reset_optim in _KEEPS_STATES:
            raise UsageError(
                f"distortion: {wanted.context} adds parameters to the model of train_from: "
                "the optimizer must begin anew, reset_optim: all"
            )
        if "model" not in checkpoint:
            raise UsageError("distortion cannot be added to a model in safetensors: train_from needs a .pt")
        add_jumps(checkpoint["model"], wanted, model_opt.param_init)
    elif wanted.context != known.context or (known.context != NONE and wanted.window != known.window):
        raise UsageError(
            f"the model of train_from has distortion: {known.context}, distortion_window: {known.window}, "
            f"which cannot become {wanted.context}, {wanted.window}"
        )


def _build_optimizer(original: Any, model: Any, opt: Namespace) -> Any:
    optimizer = original(model, opt)
    if opt.optim == "adadelta" and opt.decoder_type == DECODER:
        for group in optimizer.param_groups:
            group |= {"rho": opt.adadelta_rho, "eps": opt.adadelta_eps}
    return optimizer
