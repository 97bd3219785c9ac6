"""How the distortion models begin and learn.

Why: OpenNMT-py fills all parameters of a new model uniformly or by Glorot's rule, takes the
options of a model that training goes on from out of the checkpoint, all parameters too, and
has no options for AdaDelta.

Can go when a model can initialise itself, parameters can be added to a trained one, and
AdaDelta has its options.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.host.wrapping import wrap
from onmt_preorder.options.distortion import DECODER, NONE, DistortionOptions
from preorder.errors import UsageError

_KEEPS_STATES = ("none", "keep_states")


def adapt() -> None:
    """Initialise as the paper does, begin from a trained RNNsearch*, and set AdaDelta's constants."""
    from onmt import model_builder
    from onmt.utils import optimizers

    wrap(model_builder, "build_model", _build_model)
    wrap(optimizers, "build_torch_optimizer", _build_optimizer)


def _build_model(
    original: Any, model_opt: Namespace, opt: Namespace, vocabs: Any, checkpoint: Any, device_id: int
) -> Any:
    if model_opt.decoder_type != DECODER:
        return original(model_opt, opt, vocabs, checkpoint, device_id)
    if checkpoint is not None:
        _add_jumps(model_opt, opt, checkpoint)
        return original(model_opt, opt, vocabs, checkpoint, device_id)
    from onmt_preorder.distortion.initialise import initialise

    model = original(model_opt, opt, vocabs, checkpoint, device_id)
    initialise(model)
    model.encoder.embeddings.load_pretrained_vectors(model_opt.pre_word_vecs_enc)
    model.decoder.embeddings.load_pretrained_vectors(model_opt.pre_word_vecs_dec)
    return model


def _add_jumps(model_opt: Namespace, opt: Namespace, checkpoint: dict[str, Any]) -> None:
    """Give the jumps that the configuration asks for to a checkpoint that has none."""
    from onmt_preorder.distortion.initialise import add_jumps

    known = checkpoint["opt"].distortion
    if opt.distortion in (NONE, known):
        return
    if known != NONE:
        raise UsageError(f"distortion: {opt.distortion}, but the model of train_from has distortion: {known}")
    if opt.reset_optim in _KEEPS_STATES:
        raise UsageError(
            f"distortion: {opt.distortion} adds parameters to the model of train_from: "
            "the optimizer must begin anew, reset_optim: all"
        )
    if "model" not in checkpoint:
        raise UsageError("distortion cannot be added to a model in safetensors: train_from needs a .pt file")
    for name in ("distortion", "distortion_window", "distortion_lambda", "distortion_renormalise"):
        setattr(model_opt, name, getattr(opt, name))
    add_jumps(checkpoint["model"], DistortionOptions.from_opt(opt))


def _build_optimizer(original: Any, model: Any, opt: Namespace) -> Any:
    optimizer = original(model, opt)
    if opt.optim == "adadelta" and opt.decoder_type == DECODER:
        for group in optimizer.param_groups:
            group |= {"rho": opt.adadelta_rho, "eps": opt.adadelta_eps}
    return optimizer
