"""The local reordering layer, against the sum of Huang et al. 2018, eq. 2, and before every encoder."""

import pyonmttok
import pytest
import torch
from onmt.model_builder import build_base_model
from onmt.utils.optimizers import Optimizer

from onmt_preorder.papers.npmt.local_reordering import LocalReordering
from tests.config.test_phrase_configurations import SWAN
from tests.support.opennmt import make_opt, rates_of_change


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


def test_with_large_biases_it_begins_by_passing_on_each_embedding():
    torch.manual_seed(1)
    embedded = torch.randn(2, 6, 5)
    layer = LocalReordering(7, 5, 30.0)
    torch.testing.assert_close(layer(embedded, torch.zeros(2, 6, dtype=torch.bool)), embedded.tanh())


def test_it_can_swap_two_neighbours():
    layer = LocalReordering(3, 2)
    left, right = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    with torch.no_grad():
        layer.weight.fill_(0)
        weight = layer.weight.view(3, 2, 3)
        weight[:, :, 1] = -30  # nothing is taken but what the two below ask for
        weight[2, 0, 1] = 30  # before the one: what follows
        weight[0, 1, 1] = 30  # before the other: what came
    swapped = layer(torch.stack([left, right]).unsqueeze(0), torch.zeros(1, 2, dtype=torch.bool))[0]
    torch.testing.assert_close(swapped, torch.stack([right, left]).tanh())


PLAIN = {
    "encoder_type": "transformer",
    "decoder_type": "transformer",
    "preorder_encoding": [],
    "n_src_feats": 0,
}
ENCODERS = {
    "brnn": {**SWAN, "decoder_type": "rnn", "encoder_type": "brnn"},
    "transformer": PLAIN,
    "preorder_transformer": {**PLAIN, "encoder_type": "preorder_transformer"},
    "told where": {"preorder_encoding": ["absolute"]},
    "swan": SWAN,
}


def build(window, changes):
    opt = make_opt(**changes, local_reordering_window=window)
    words = pyonmttok.build_vocab_from_tokens("abcdef", special_tokens=["<unk>", "<blank>", "<s>", "</s>"])
    vocabs = {"src": words, "tgt": words, "data_task": "seq2seq"}
    if opt.n_src_feats:
        vocabs["src_feats"] = [pyonmttok.build_vocab_from_tokens("012345")]
    model = build_base_model(opt, vocabs)
    torch.manual_seed(1)
    for parameter in model.parameters():
        torch.nn.init.uniform_(parameter, -0.5, 0.5)
    return model.eval(), opt.n_src_feats


@pytest.mark.parametrize("encoder", ENCODERS)
def test_it_stands_before_any_encoder(encoder):
    model, features = build(5, ENCODERS[encoder])
    source = torch.tensor([[4, 5, 6, 7], [5, 6, 1, 1]]).unsqueeze(2)
    source = torch.cat([source, *[torch.zeros_like(source)] * features], dim=2)
    lengths = torch.tensor([4, 2])
    with torch.no_grad():
        states = model.encoder(source, lengths)[0]
        alone = model.encoder(source[1:, :2], lengths[1:])[0]
    torch.testing.assert_close(states[1, :2], alone[0, :2], atol=1e-5, rtol=1e-5)
    states = model.encoder(source, lengths)[0]
    states.square().sum().backward()
    gradient = model.encoder.embeddings.local_reordering.weight.grad
    assert gradient.isfinite().all()
    assert gradient.any()


def test_it_reorders_words_before_positions_are_added():
    model, _ = build(3, PLAIN)
    embeddings = model.encoder.embeddings
    source = torch.tensor([[[4], [5], [6]]])
    layer, embeddings.local_reordering = embeddings.local_reordering, torch.nn.Identity()
    words = embeddings.word_lut(source[:, :, 0])
    expected = embeddings.make_embedding.pe(layer(words, source[:, :, 0] == 1))
    torch.testing.assert_close(embeddings(source), expected)


def test_zero_leaves_it_out():
    names = build(0, PLAIN)[0].state_dict().keys()
    assert not any("local_reordering" in name for name in names)


@pytest.mark.parametrize("changes", [SWAN, {**SWAN, "encoder_type": "transformer"}])
def test_the_gates_weights_learn_at_a_multiple_of_the_rate(changes):
    own = {"local_reordering_bias": 2.0, "local_reordering_rate_factor": 0.5}
    changes = {**changes, **own, "optim": "sgd", "learning_rate": 0.1, "max_grad_norm": 0}
    model, _ = build(3, changes)
    optimizer = Optimizer.from_opt(model, make_opt(**changes, local_reordering_window=3))
    for name, moved in rates_of_change(optimizer, model).items():
        rate = 0.05 if name.endswith("local_reordering.weight") else 0.1
        assert moved == pytest.approx(rate, rel=1e-3), name


def test_frozen_gates_stay_as_they_are():
    own = {"local_reordering_rate_factor": 0.5, "optim": "sgd", "learning_rate": 0.1, "max_grad_norm": 0}
    model, _ = build(3, {**SWAN, **own})
    model.encoder.embeddings.local_reordering.weight.requires_grad_(False)
    optimizer = Optimizer.from_opt(model, make_opt(**SWAN, **own, local_reordering_window=3))
    for name, moved in rates_of_change(optimizer, model).items():
        rate = 0 if name.endswith("local_reordering.weight") else 0.1
        assert moved == pytest.approx(rate, rel=1e-3), name
