"""What a new model begins with, and what ``bfloat16`` makes of it."""

import logging

import pyonmttok
import pytest
import torch
from onmt.model_builder import build_model
from onmt.utils.logging import logger
from torch import nn

from onmt_preorder import register
from onmt_preorder.cpu.bfloat16_linear import Bfloat16Linear
from onmt_preorder.opennmt import models
from tests.support.opennmt import make_opt
from tests.support.transformers import PAD, PLAIN, SPECIALS, SWAN

register()

NPMT = {**SWAN, "local_reordering_window": 7}
GLOROT = {"param_init": 0, "param_init_glorot": True}


def build(opt, checkpoint=None, seed=1):
    torch.manual_seed(seed)
    words = pyonmttok.build_vocab_from_tokens([*SPECIALS, *(f"w{i}" for i in range(200))])
    return build_model(opt, opt, {"src": words, "tgt": words, "data_task": "seq2seq"}, checkpoint, -1)


def embeddings_of(model):
    return [side.embeddings.word_lut.weight for side in (model.encoder, model.decoder)]


@pytest.mark.parametrize("changes", [{}, GLOROT, {"decoder_type": "rnn"}])
def test_the_embeddings_have_a_deviation_of_their_own(changes):
    model = build(make_opt(**{**NPMT, **changes}, embedding_init=0.7))
    for weight in embeddings_of(model):
        assert not weight[PAD].any()
        rest = torch.cat([weight[:PAD], weight[PAD + 1 :]])
        assert rest.mean().item() == pytest.approx(0, abs=0.03)
        assert rest.std().item() == pytest.approx(0.7, rel=0.03)
    assert model.generator.weight.abs().max() < 0.2
    for weight in embeddings_of(build(make_opt(**NPMT))):  # without it they are as all parameters
        assert 0.099 < weight.abs().max() <= 0.1


def test_embeddings_without_positions_can_be_scaled_as_with_them():
    ids = torch.tensor([[[4], [9]]])
    with_positions = build(make_opt(**PLAIN))
    scaled = build(make_opt(**PLAIN, position_encoding=False, scale_embeddings=True))
    assert list(scaled.state_dict()) == [name for name in with_positions.state_dict() if ".pe." not in name]
    for model, positions in ((with_positions, 1), (scaled, 0)):
        for side in (model.encoder, model.decoder):
            sinusoids = side.embeddings.eval().make_embedding.pe.pe[:2, 0] if positions else 0
            expected = 8 * side.embeddings.word_lut(ids[..., 0]) + sinusoids
            torch.testing.assert_close(side.embeddings(ids), expected)


@pytest.mark.parametrize("changes", [{}, GLOROT])
def test_the_layer_begins_as_it_does_by_itself(changes):
    layer = build(
        make_opt(**{**NPMT, **changes}, local_reordering_bias=2.0)
    ).encoder.embeddings.local_reordering
    bound = (7 * 64) ** -0.5
    assert 0.99 * bound < layer.weight.abs().max() <= bound
    assert layer.bias.tolist() == [-2, -2, -2, 2, -2, -2, -2]


def test_pretrained_vectors_stay(tmp_path):
    vectors = torch.rand(204, 64)
    torch.save(vectors, tmp_path / "vectors.pt")
    model = build(make_opt(**NPMT, embedding_init=1.0, pre_word_vecs_dec=str(tmp_path / "vectors.pt")))
    source, target = embeddings_of(model)
    assert target.equal(vectors)
    assert not source.equal(vectors)


def test_what_is_loaded_stays():
    opt = make_opt(**NPMT, embedding_init=1.0)
    trained = build(opt)
    weights = {n: p for n, p in trained.state_dict().items() if not n.startswith("generator")}
    loaded = build(opt, {"model": weights, "generator": trained.generator.state_dict()}, seed=2)
    for (name, one), (_, other) in zip(trained.named_parameters(), loaded.named_parameters(), strict=True):
        assert one.equal(other), name


class Model(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.decoder, self.generator = encoder, nn.Linear(2, 2), nn.Linear(2, 3)

    def forward(self, states):
        return self.decoder(self.encoder(states)), None


def in_bfloat16(model):
    models._use_bfloat16(model, "cpu")
    return model


@pytest.mark.parametrize("faster", [False, True])
def test_bfloat16_that_does_not_pay_is_warned_of(monkeypatch, caplog, faster):
    monkeypatch.setattr("preorder.learning.network.multiplies_bfloat16", lambda device: faster)
    monkeypatch.setattr(logger, "propagate", True)
    model = Model(nn.Linear(2, 2))
    with caplog.at_level(logging.WARNING):
        in_bfloat16(model)
    warning = "bfloat16: on this machine float32 is as fast, or faster"
    assert caplog.messages == [warning] * (not faster)


def test_on_a_cpu_the_linear_layers_of_encoder_and_decoder_train_in_bfloat16():
    model = Model(nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)))
    names = list(model.state_dict())
    in_bfloat16(model)
    kinds = {name: type(module) for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    assert kinds == {"encoder.0": Bfloat16Linear, "decoder": Bfloat16Linear, "generator": nn.Linear}
    assert list(model.state_dict()) == names


def test_in_a_recurrent_model_autocast_chooses():
    model = in_bfloat16(Model(nn.Sequential(nn.GRUCell(2, 2))))
    assert type(model.decoder) is nn.Linear
    model.decoder.register_forward_hook(lambda *of: kinds.append(of[2].dtype))
    kinds = []
    output, _ = model(torch.randn(3, 2))
    assert (kinds, output.dtype) == ([torch.bfloat16], torch.float32)
