"""Building our encoder and local reordering; options that translation takes from the checkpoint.

Why: OpenNMT-py gives source features to the embeddings, never to an encoder; it allows no layer between the
two, such as local reordering; and ``onmt_translate`` ignores ``n_src_feats`` and ``transforms`` of the model
that it loads, so that they would have to be given again. ``-report_align`` reads the third last layer even of
a decoder of two, and ``-precision int8`` is silently ignored.

Can go when an encoder can ask for the vocabularies, a layer can be put before it, and translation reads its
data options from the checkpoint.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.input import pipeline
from onmt_preorder.input.raw_text import is_escaped, make_detokenizer, make_tokenizer
from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.options import is_ours
from onmt_preorder.papers.distortion import options as distortion
from onmt_preorder.papers.npmt import options as phrases
from onmt_preorder.transformer.options import ENCODER
from preorder.data.errors import UsageError


@adapts("onmt.model_builder", "build_encoder_with_embeddings")
def _build_encoder(original: Any, model_opt: Namespace, vocabs: dict[str, Any]) -> Any:
    from onmt.constants import DefaultTokens

    if model_opt.encoder_type != ENCODER:
        encoder, embeddings = original(model_opt, vocabs)
        if model_opt.encoder_type == distortion.ENCODER and model_opt.distortion_source_end:
            encoder.end_sources_with(vocabs["src"][DefaultTokens.EOS])
        return encoder, embeddings
    words = {name: vocabulary for name, vocabulary in vocabs.items() if name != "src_feats"}
    encoder, embeddings = original(model_opt, words)
    if "src_feats" in vocabs:
        encoder.read_positions_with(vocabs["src_feats"][0].ids_to_tokens)
    elif encoder.encoding.needs_positions:
        raise UsageError("preorder_encoding needs the positions as source feature: n_src_feats: 1")
    return encoder, embeddings


@adapts("onmt.model_builder", "build_src_emb")
def _build_source_embeddings(original: Any, model_opt: Namespace, vocabs: dict[str, Any]) -> Any:
    embeddings = original(model_opt, vocabs)
    if model_opt.local_reordering_window:
        from onmt_preorder.papers.npmt.local_reordering import LocalReordering

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
    """Leave positions out of the target words of SWAN: each of its segments begins anew, wherever it stands.

    A Transformer before it needs ``position_encoding``, which is otherwise that of both sides.
    """
    if not for_encoder and opt.decoder_type == phrases.DECODER:
        opt = Namespace(**{**vars(opt), "position_encoding": False})
    return original(opt, vocabs, for_encoder)


@adapts("onmt.decoders.ensemble:EnsembleEncoder", "forward")
def _encode_with_all(original: Any, self: Any, src: Any, src_len: Any = None) -> Any:
    """Count the end symbols that our encoders put after the sentences: attention goes to them, too."""
    states, final, src_len = original(self, src, src_len)
    return states, final, src_len + 1 if distortion.puts_end_symbols(self) else src_len


@adapts("onmt.model_builder", "load_test_model")
def _load_test_model(original: Any, opt: Namespace, *args: Any, **kwargs: Any) -> Any:
    vocabs, model, model_opt = original(opt, *args, **kwargs)
    layers = len(getattr(model.decoder, "transformer_layers", ()))
    if getattr(model.decoder, "alignment_layer", 0) < -layers:  # that ``-report_align`` reads
        model.decoder.alignment_layer = -layers
    if is_ours(model_opt):
        if opt.precision == "int8":
            raise UsageError("precision: int8 does nothing in OpenNMT-py 3.5: take fp32 or fp16")
        opt.encoder_type, opt.decoder_type = model_opt.encoder_type, model_opt.decoder_type
        opt.n_src_feats = model_opt.n_src_feats
        # The source is a token longer for all models of an ensemble, or for none.
        has_end = model_opt.distortion_source_end
        if getattr(opt, "distortion_source_end", has_end) != has_end:
            raise UsageError("an ensemble needs models that all have distortion_source_end, or none of them")
        opt.distortion_source_end = has_end
        opt.src_feats_defaults = model_opt.src_feats_defaults
        opt.transforms = opt._all_transform = _restore_transforms(opt, model_opt)
        _prepare_raw_text(opt, vocabs)
    elif opt.tokenize or opt.detokenize:
        raise UsageError("tokenize and detokenize are for models of onmt-preorder")
    elif opt.preorder_model or opt.preorder_stanza_dir or pipeline.PREORDER_TRANSFORM in opt.transforms:
        raise UsageError(pipeline.NEEDS_POSITIONS)
    return vocabs, model, model_opt


def _prepare_raw_text(opt: Namespace, vocabs: dict[str, Any]) -> None:
    """Find out how raw text is to be split; what is wrong is said now, not with the first line."""
    if opt.tokenize:
        opt.escapes = is_escaped(vocabs["src"].ids_to_tokens)
        make_tokenizer(opt.tokenize, opt.escapes)
    if opt.detokenize:
        make_detokenizer(opt.detokenize)
        if opt.report_align:
            raise UsageError("report_align counts tokens: it does not go with detokenize")


def _restore_transforms(opt: Namespace, model_opt: Namespace) -> list[str]:
    """Take the training's transforms and their options, except where the command line gives others."""
    from onmt.transforms import AVAILABLE_TRANSFORMS
    from onmt.utils.parse import ArgumentParser

    last = (pipeline.POSITIONS_TRANSFORM, pipeline.DETOKENIZE_TRANSFORM)
    given = [name for name in opt.transforms if name not in last]
    rewriting = () if set(given) - {pipeline.PREORDER_TRANSFORM} else pipeline.REWRITING_TRANSFORMS
    names = [name for name in model_opt.transforms if name in (pipeline.PREORDER_TRANSFORM, *rewriting)]
    for name in names:
        for option, default in vars(ArgumentParser.defaults(AVAILABLE_TRANSFORMS[name].add_options)).items():
            if getattr(opt, option) == default and hasattr(model_opt, option):
                setattr(opt, option, getattr(model_opt, option))
    if opt.preorder_model and not opt.n_src_feats:
        raise UsageError("preorder_model: the translation model was trained without positions (n_src_feats)")
    if opt.preorder_stanza_dir and not opt.preorder_model:
        raise UsageError("preorder_stanza_dir has no effect without preorder_model")
    arranged = pipeline.arrange([*given, *names], opt.preorder_model)
    return [*arranged, *[pipeline.DETOKENIZE_TRANSFORM] * bool(opt.detokenize)]
