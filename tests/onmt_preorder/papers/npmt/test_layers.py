"""The local reordering layer, against the sum of Huang et al. 2018, eq. 2, and before every encoder."""

from argparse import Namespace

import pytest
import torch
from onmt.model_builder import build_base_model

from onmt_preorder.opennmt.options.npmt import check
from onmt_preorder.papers.npmt.layers import LocalReordering
from preorder.errors import UsageError
from tests.support.opennmt import make_opt
from tests.support.transformers import FEATURES, SWAN, WITHOUT_FEATURES, make_vocabs, randomise


def by_the_formula(layer, embedded, lengths):
    window, size = layer.weight.size(0), embedded.size(2)
    weight = layer.weight.view(window, size, window)
    result = torch.zeros_like(embedded)
    for b, length in enumerate(lengths):
        for t in range(embedded.size(1)):
            places = range(t - window // 2, t + window // 2 + 1)
            near = [embedded[b, p] if 0 <= p < length else torch.zeros(size) for p in places]
            total = torch.zeros(size)
            for i in range(window):
                gate = sum(weight[i, :, k] @ near[k] for k in range(window))
                if layer.bias is not None:
                    gate = gate + layer.bias[i]
                total = total + gate.sigmoid() * near[i]
            result[b, t] = total.tanh()
    return result


@pytest.mark.parametrize("bias", [0, 2.0])
@pytest.mark.parametrize("window", [1, 3, 7])
def test_it_is_the_papers_sum(window, bias):
    torch.manual_seed(1)
    layer, lengths = LocalReordering(window, 5, bias), [6, 2, 1]
    embedded = torch.randn(3, 6, 5)
    padding = torch.arange(6) >= torch.tensor(lengths).unsqueeze(1)
    torch.testing.assert_close(layer(embedded, padding), by_the_formula(layer, embedded, lengths))
    layer = LocalReordering(window, 5, 30.0)  # large biases pass on each embedding
    torch.testing.assert_close(layer(embedded, torch.zeros_like(padding)), embedded.tanh())


PLAIN = {**WITHOUT_FEATURES, "encoder_type": "transformer", "decoder_type": "transformer"}


def build(window, **changes):
    opt = make_opt(**changes, local_reordering_window=window)
    model = build_base_model(opt, make_vocabs(FEATURES if opt.n_src_feats else None))
    return randomise(model).eval()


@pytest.mark.parametrize("changes", [PLAIN, {"preorder_encoding": ["absolute"]}, SWAN])
def test_it_stands_before_any_encoder(changes):
    model = build(5, **changes)
    source, lengths = torch.tensor([[4, 5, 6, 7], [5, 6, 1, 1]]).unsqueeze(2), torch.tensor([4, 2])
    if changes["preorder_encoding"]:
        source = torch.cat((source, torch.full_like(source, 4)), dim=2)
    states = model.encoder(source, lengths)[0]
    alone = model.encoder(source[1:, :2], lengths[1:])[0]
    torch.testing.assert_close(states[1, :2], alone[0, :2], atol=1e-5, rtol=1e-5)
    states.square().cumsum(-1).sum().backward()
    gradient = model.encoder.embeddings.local_reordering.weight.grad
    assert gradient.isfinite().all()
    assert gradient.any()


def test_it_reorders_words_before_positions_are_added_and_zero_leaves_it_out():
    embeddings = build(3, **PLAIN).encoder.embeddings
    source = torch.tensor([[[4], [5], [6]]])
    layer, embeddings.local_reordering = embeddings.local_reordering, torch.nn.Identity()
    words = embeddings.word_lut(source[:, :, 0])
    expected = embeddings.make_embedding.pe(layer(words, source[:, :, 0] == 1))
    torch.testing.assert_close(embeddings(source), expected)
    assert not any("local_reordering" in name for name in build(0, **PLAIN).state_dict())


def test_local_reordering_is_not_for_language_models():
    with pytest.raises(UsageError, match="^local_reordering_window needs model_task: seq2seq$"):
        check(Namespace(local_reordering_window=3, model_task="lm"))
