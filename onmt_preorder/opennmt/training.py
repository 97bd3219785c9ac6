"""Initial values of models; their optimiser and dropout; recomputing of activations under new torch.

Why: OpenNMT-py fills all parameters of a new model uniformly or by Glorot's rule, embeddings and our layers
included; where a training is resumed, it demands all parameters of the model in the checkpoint; it has no
options for AdaDelta; its Adam and its decoder's dropout are slow on CPUs; and it does not give
``use_reentrant``, which ``torch.utils.checkpoint`` of torch newer than 2.4 asks for.

Can go when a model can initialise itself, parameters can be added to a trained model, AdaDelta has options,
and ``use_reentrant`` is given.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn import Parameter

from onmt_preorder.learning_rate import multiply_rate
from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.options import is_ours
from onmt_preorder.papers.distortion.initialise import add_jumps, initialise
from onmt_preorder.papers.distortion.options import DECODER, NONE, DistortionOptions
from onmt_preorder.transformer.dropout import draw_cheaply
from preorder.errors import UsageError


@adapts("onmt.model_builder", "build_model")
def _build_model(
    original: Any, model_opt: Namespace, opt: Namespace, vocabs: Any, checkpoint: Any, device_id: int
) -> Any:
    """Initialise as the papers do, or begin from a trained RNNsearch*."""
    ours = model_opt.decoder_type == DECODER
    if ours and checkpoint is not None:
        _add_jumps(model_opt, opt, checkpoint)
    model = original(model_opt, opt, vocabs, checkpoint, device_id)
    if checkpoint is None:
        if ours and model_opt.param_init:
            initialise(model, model_opt.param_init)
        _initialise_words(model, model_opt)
    if is_ours(model_opt):
        draw_cheaply(model)
    return model


def _initialise_words(model: Any, model_opt: Namespace) -> None:
    """Draw the embeddings by ``embedding_init``, and what stands behind them as it does by itself."""
    pretrained = {"encoder": model_opt.pre_word_vecs_enc, "decoder": model_opt.pre_word_vecs_dec}
    for side, vectors in pretrained.items():
        part = getattr(model, side, None)  # a language model has no encoder
        embeddings = getattr(part, "embeddings", None)
        if embeddings is None:
            continue
        if model_opt.embedding_init:
            with torch.no_grad():
                weight = embeddings.word_lut.weight.normal_(std=model_opt.embedding_init)
                weight[embeddings.word_padding_idx] = 0
        if hasattr(embeddings, "local_reordering"):
            embeddings.local_reordering.reset_parameters()
        embeddings.load_pretrained_vectors(vectors)


def _add_jumps(model_opt: Namespace, opt: Namespace, checkpoint: dict[str, Any]) -> None:
    """Add the parameters of the jumps to a checkpoint without them (with ``override_opts``)."""
    wanted, known = DistortionOptions.from_opt(model_opt), DistortionOptions.from_opt(checkpoint["opt"])
    if known.context == NONE != wanted.context:
        if opt.reset_optim in ("none", "keep_states"):
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


@adapts("onmt.utils.optimizers", "build_torch_optimizer")
def _build_optimizer(original: Any, model: Any, opt: Namespace) -> Any:
    optimizer = original(model, opt)
    for parameters, factor in _own_rates(model, opt):
        if factor != 1:
            multiply_rate(optimizer, parameters, factor)
    if opt.optim == "adam" and is_ours(opt):
        for group in optimizer.param_groups:
            group["fused"] = True  # one pass over all numbers of a parameter, where there were ten
    if opt.optim == "adadelta":
        for group in optimizer.param_groups:
            group |= {"rho": opt.adadelta_rho, "eps": opt.adadelta_eps}
    return optimizer


def _own_rates(model: Any, opt: Namespace) -> Iterator[tuple[list[Parameter], float]]:
    """Yield parameters that may have a learning rate of their own, and the multiple of the others' rate."""
    jumps = getattr(model.decoder, "jumps", None)
    if jumps is not None:
        yield list(jumps.parameters()), opt.distortion_rate_factor
    encoder = getattr(model, "encoder", None)  # a language model has none
    layer = getattr(getattr(encoder, "embeddings", None), "local_reordering", None)
    if layer is not None:
        yield [layer.weight], opt.local_reordering_rate_factor


@adapts("onmt.modules.position_ffn", "checkpoint")
def _checkpoint(original: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    return original(function, *args, **{"use_reentrant": False, **kwargs})
