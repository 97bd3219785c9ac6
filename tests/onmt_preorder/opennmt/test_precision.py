"""What ``bfloat16`` makes of a model, and its warning; trainings with it are in test_torch_of_today."""

import logging
from types import SimpleNamespace

import pytest
import torch
from onmt.utils.logging import logger
from torch import nn

from onmt_preorder.bfloat16_linear import Bfloat16Linear
from onmt_preorder.opennmt import precision


class Model(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.decoder, self.generator = encoder, nn.Linear(2, 2), nn.Linear(2, 3)

    def forward(self, states):
        return self.decoder(self.encoder(states)), None


def build(model, bfloat16=True, device_id=-1):
    options = SimpleNamespace(bfloat16=bfloat16)
    return precision._build_model(lambda *_: model, options, None, {}, None, device_id)


@pytest.mark.parametrize(
    ("asked", "faster", "warnings"), [(True, False, 1), (True, True, 0), (False, False, 0)]
)
def test_bfloat16_that_does_not_pay_is_warned_of(monkeypatch, caplog, asked, faster, warnings):
    monkeypatch.setattr("preorder.learning.backend.multiplies_bfloat16", lambda device: faster)
    monkeypatch.setattr(logger, "propagate", True)
    model = Model(nn.Linear(2, 2))
    with caplog.at_level(logging.WARNING):
        assert build(model, asked) is model
    assert [record.getMessage() for record in caplog.records] == [
        "bfloat16: on this machine float32 is as fast, or faster"
    ] * warnings


def test_on_a_cpu_the_linear_layers_of_encoder_and_decoder_train_in_bfloat16():
    model = Model(nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)))
    names = list(model.state_dict())
    build(model)
    kinds = {name: type(module) for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    assert kinds == {"encoder.0": Bfloat16Linear, "decoder": Bfloat16Linear, "generator": nn.Linear}
    assert list(model.state_dict()) == names


def test_in_a_recurrent_model_autocast_chooses():
    model = build(Model(nn.Sequential(nn.GRUCell(2, 2))))
    assert type(model.decoder) is nn.Linear
    model.decoder.register_forward_hook(lambda *of: kinds.append(of[2].dtype))
    kinds = []
    output, _ = model.forward(torch.randn(3, 2))
    assert (kinds, output.dtype) == ([torch.bfloat16], torch.float32)


def test_without_the_option_nothing_changes():
    model = build(Model(nn.Linear(2, 2)), bfloat16=False)
    assert type(model.encoder) is nn.Linear
    output, _ = model.forward(states := torch.randn(3, 2))
    assert torch.equal(output, model.decoder(model.encoder(states)))
