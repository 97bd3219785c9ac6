"""Building of models: encoder and local reordering, first values, bfloat16, dropout.

Why: OpenNMT-py gives source features to the embeddings, never to an encoder, and allows no layer between the
two. It scales embeddings only together with sinusoids. It fills all parameters of a new model alike, and
demands all of a resumed one in the checkpoint. Its mixed precision is for GPUs alone; its dropout is slow on
CPUs.

Can go when an encoder can ask for the vocabularies, a layer can be put before it, a model can initialise
itself, parameters can be added to a trained model, and ``model_dtype`` can be bf16.
"""

from __future__ import annotations

import logging
from argparse import Namespace
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from onmt_preorder.cpu.bfloat16_linear import Bfloat16Linear
from onmt_preorder.cpu.dropout import draw_cheaply
from onmt_preorder.opennmt.options import distortion, is_ours
from onmt_preorder.opennmt.options import npmt as phrases
from onmt_preorder.opennmt.options.transformer import ABSOLUTE, ENCODER, READERS
from onmt_preorder.wrapping import adapts
from preorder.errors import UsageError


@adapts("onmt.model_builder", "build_encoder_with_embeddings")
def _build_encoder(original: Any, model_opt: Namespace, vocabs: dict[str, Any]) -> Any:
    from onmt.constants import DefaultTokens

    if model_opt.encoder_type not in READERS:
        return original(model_opt, vocabs)
    words = {name: vocabulary for name, vocabulary in vocabs.items() if name != "src_feats"}
    encoder, embeddings = original(model_opt, words)
    if "src_feats" in vocabs:
        encoder.read_positions_with(vocabs["src_feats"][0].ids_to_tokens)
    elif encoder.needs_positions:
        raise UsageError("preorder_encoding needs the positions as source feature: n_src_feats: 1")
    if model_opt.encoder_type == distortion.ENCODER and model_opt.distortion_source_end:
        encoder.end_symbol = vocabs["src"][DefaultTokens.EOS]
    return encoder, embeddings


@adapts("onmt.model_builder", "build_src_emb")
def _build_source_embeddings(original: Any, model_opt: Namespace, vocabs: dict[str, Any]) -> Any:
    embeddings = original(model_opt, vocabs)
    if model_opt.local_reordering_window:
        from onmt_preorder.papers.npmt.layers import LocalReordering

        window, bias = model_opt.local_reordering_window, model_opt.local_reordering_bias
        layer = LocalReordering(window, embeddings.embedding_size, bias)
        embeddings.local_reordering = layer
        # After the lookup, before positions are added and dropout.
        embeddings.emb_luts.register_forward_hook(
            lambda _, given, embedded: layer(embedded, given[0][:, :, 0] == embeddings.word_padding_idx)
        )
    return embeddings


@adapts("onmt.model_builder", "build_embeddings")
def _build_embeddings(original: Any, opt: Namespace, vocabs: dict[str, Any], for_encoder: bool = True) -> Any:
    """Leave positions out of the target words of SWAN: each of its segments begins anew; scale."""
    if not for_encoder and opt.decoder_type == phrases.DECODER:
        opt = Namespace(**{**vars(opt), "position_encoding": False})
    embeddings = original(opt, vocabs, for_encoder)
    adds_positions = for_encoder and opt.encoder_type == ENCODER and ABSOLUTE in opt.preorder_encoding
    if (opt.scale_embeddings or adds_positions) and not opt.position_encoding:  # with it OpenNMT-py does
        embeddings.make_embedding.add_module("scale", _Scale())
    return embeddings


class _Scale(nn.Module):
    """Multiplies embeddings by the root of their size."""

    def forward(self, embedded: Tensor) -> Tensor:
        return embedded * sqrt(embedded.size(-1))


@adapts("onmt.model_builder", "build_model")
def _build_model(
    original: Any, model_opt: Namespace, opt: Namespace, vocabs: Any, checkpoint: Any, device_id: int
) -> Any:
    """Initialise as the papers do, or begin from a trained RNNsearch*; train in bfloat16 if asked to."""
    recurrent = model_opt.decoder_type == distortion.DECODER
    if recurrent and checkpoint is not None:
        _add_jumps(model_opt, opt, checkpoint)
    model = original(model_opt, opt, vocabs, checkpoint, device_id)
    if getattr(model_opt, "bfloat16", False):
        _use_bfloat16(model, "cpu" if device_id < 0 else "cuda")
    if checkpoint is None:
        if recurrent and model_opt.param_init:
            from onmt_preorder.papers.distortion.rnnsearch import initialise

            initialise(model, model_opt.param_init)
        _initialise_words(model, model_opt)
    if is_ours(model_opt):
        draw_cheaply(model)
    return model


def _initialise_words(model: Any, model_opt: Namespace) -> None:
    """Sample the embeddings by ``embedding_init``, and initialise local reordering by its own rule."""
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
    from onmt_preorder.papers.distortion.rnnsearch import add_jumps

    known, none = checkpoint["opt"], distortion.NONE
    if known.distortion == none != model_opt.distortion:
        if opt.reset_optim in ("none", "keep_states"):
            raise UsageError(
                f"distortion: {model_opt.distortion} adds parameters to the model of train_from: "
                "the optimizer must begin anew, reset_optim: all"
            )
        if "model" not in checkpoint:
            raise UsageError("distortion cannot be added to a model in safetensors: train_from needs a .pt")
        add_jumps(
            checkpoint["model"], model_opt.distortion, model_opt.distortion_window, model_opt.param_init
        )
        return
    wanted, had = ((each.distortion, each.distortion_window) for each in (model_opt, known))
    if wanted != had and (wanted[0] != none or had[0] != none):
        raise UsageError(
            f"the model of train_from has distortion: {had[0]}, distortion_window: {had[1]}, "
            f"which cannot become {wanted[0]}, {wanted[1]}"
        )


def _use_bfloat16(model: Any, device: str) -> None:
    """Train in bfloat16: on a CPU linear layers alone, as the shapes of attention are new in each batch."""
    from preorder.learning.network import multiplies_bfloat16

    if not multiplies_bfloat16(device):
        logging.getLogger("onmt").warning("bfloat16: on this machine float32 is as fast, or faster")
    if device != "cpu" or any(isinstance(module, nn.RNNBase | nn.RNNCellBase) for module in model.modules()):
        model.forward = torch.autocast(device, torch.bfloat16)(model.forward)
        model.register_forward_hook(lambda _, __, result: (result[0].to(torch.float32), *result[1:]))
        return
    for layer in [*model.encoder.modules(), *model.decoder.modules()]:
        if type(layer) is nn.Linear:
            layer.__class__ = Bfloat16Linear
