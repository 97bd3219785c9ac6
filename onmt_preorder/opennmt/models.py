"""Building our encoder and local reordering.

Why: OpenNMT-py gives source features to the embeddings, never to an encoder; and it allows no layer between
the two, such as local reordering.

Can go when an encoder can ask for the vocabularies, and a layer can be put before it.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.papers.distortion import options as distortion
from onmt_preorder.papers.npmt import options as phrases
from onmt_preorder.transformer.options import ENCODER
from preorder.errors import UsageError


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
