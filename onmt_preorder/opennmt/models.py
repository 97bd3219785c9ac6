"""Building our encoder and what stands before any, restoring at translation what the checkpoint knows.

Why: OpenNMT-py gives source features to the embeddings, never to an encoder; it has no place
for a layer between embeddings and encoder, such as local reordering; and
``onmt_translate`` forgets ``n_src_feats`` and ``transforms`` of the model it loads, so that
a source with features, or a model with subwords, would need them said again. ``-report_align``
reads the third last layer even of two, and ``-precision int8`` is silently ignored.

Can go when an encoder can ask for the vocabularies, embeddings can be given and translation
reads its data options from the checkpoint.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.input.pipeline import NEEDS_POSITIONS, POSITIONS, PREORDER, REWRITING, arranged
from onmt_preorder.opennmt.wrapping import wrap
from onmt_preorder.options import is_ours
from onmt_preorder.transformer.options import ENCODER
from preorder.data.errors import UsageError


def adapt() -> None:
    """Let models with our encoder be built and loaded."""
    from onmt import model_builder

    wrap(model_builder, "build_encoder_with_embeddings", _build_encoder)
    wrap(model_builder, "build_src_emb", _build_source_embeddings)
    wrap(model_builder, "load_test_model", _load_test_model)


def _build_encoder(original: Any, model_opt: Namespace, vocabs: dict[str, Any]) -> Any:
    if model_opt.encoder_type != ENCODER:
        return original(model_opt, vocabs)
    words = {name: vocabulary for name, vocabulary in vocabs.items() if name != "src_feats"}
    encoder, embeddings = original(model_opt, words)
    if "src_feats" in vocabs:
        encoder.read_positions_with(vocabs["src_feats"][0].ids_to_tokens)
    elif encoder.encoding.needs_positions:
        raise UsageError("preorder_encoding needs the positions as source feature: n_src_feats: 1")
    return encoder, embeddings


def _build_source_embeddings(original: Any, model_opt: Namespace, vocabs: dict[str, Any]) -> Any:
    embeddings = original(model_opt, vocabs)
    if model_opt.local_reordering_window:
        from onmt_preorder.papers.npmt.local_reordering import LocalReordering

        layer = LocalReordering(model_opt.local_reordering_window, embeddings.embedding_size)
        embeddings.local_reordering = layer
        # After the lookup, before positions are added and dropout.
        embeddings.emb_luts.register_forward_hook(
            lambda _, given, embedded: layer(embedded, given[0][:, :, 0] == embeddings.word_padding_idx)
        )
    return embeddings


def _load_test_model(original: Any, opt: Namespace, *args: Any, **kwargs: Any) -> Any:
    vocabs, model, model_opt = original(opt, *args, **kwargs)
    if is_ours(model_opt):
        if opt.precision == "int8":
            raise UsageError("precision: int8 does nothing in OpenNMT-py 3.5: take fp32 or fp16")
        _limit_alignment_layer(model.decoder)
        opt.encoder_type, opt.decoder_type = model_opt.encoder_type, model_opt.decoder_type
        opt.n_src_feats = model_opt.n_src_feats
        opt.src_feats_defaults = model_opt.src_feats_defaults
        opt.transforms = opt._all_transform = _restore_transforms(opt, model_opt)
    elif opt.preorder_model or PREORDER in opt.transforms:
        raise UsageError(NEEDS_POSITIONS)
    return vocabs, model, model_opt


def _limit_alignment_layer(decoder: Any) -> None:
    """Have ``-report_align`` read the first layer where there are fewer than it counts from the end."""
    layers = len(getattr(decoder, "transformer_layers", ()))
    if getattr(decoder, "alignment_layer", 0) < -layers:
        decoder.alignment_layer = -layers


def _restore_transforms(opt: Namespace, model_opt: Namespace) -> list[str]:
    """Take the training's transforms with their options; what the command line gives goes before."""
    from onmt.transforms import AVAILABLE_TRANSFORMS
    from onmt.utils.parse import ArgumentParser

    given = [name for name in opt.transforms if name != POSITIONS]
    restored = (PREORDER,) if set(given) - {PREORDER} else (PREORDER, *REWRITING)
    names = [name for name in model_opt.transforms if name in restored]
    for name in names:
        for option, default in vars(ArgumentParser.defaults(AVAILABLE_TRANSFORMS[name].add_options)).items():
            if getattr(opt, option) == default and hasattr(model_opt, option):
                setattr(opt, option, getattr(model_opt, option))
    if opt.preorder_model and not opt.n_src_feats:
        raise UsageError("preorder_model: the translation model was trained without positions (n_src_feats)")
    return arranged([*given, *names], opt.preorder_model)
