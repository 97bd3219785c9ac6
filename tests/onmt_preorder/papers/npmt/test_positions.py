"""SWAN after a Transformer, whose words have positions: those of its own segments have none."""

import torch
from onmt.model_builder import build_model

from onmt_preorder.papers.npmt.likelihood import log_likelihood
from onmt_preorder.papers.npmt.scorer import SentencePairs
from onmt_preorder.papers.npmt.segments import best_segments
from onmt_preorder.plugin import register
from tests.support.distortion_models import make_vocabs
from tests.support.opennmt import make_opt

register()


def test_the_search_scores_as_the_training_does():
    torch.manual_seed(1)
    vocabs = make_vocabs()
    opt = make_opt(
        decoder_type="swan", preorder_encoding=[], n_src_feats=0, src_feats_defaults=None, embedding_init=1
    )
    model = build_model(opt, opt, vocabs, None, -1).eval()
    assert model.encoder.embeddings.position_encoding
    assert not model.decoder.embeddings.position_encoding
    states, _, _ = model.encoder(torch.tensor([[[5]]]), torch.tensor([1]))
    layers = model.decoder.segment_layers(model.generator, vocabs["tgt"])
    with torch.no_grad():
        found = best_segments(layers, states[0], 3, count=60)
        for score, words, length in zip(*(part[0] for part in vars(found).values()), strict=True):
            pair = SentencePairs(states, torch.tensor([1]), words[None, :length], length[None])
            gold = log_likelihood(layers, pair, model.decoder.exact_limits)
            torch.testing.assert_close(gold, score[None])
        assert found.lengths.max() > 1
