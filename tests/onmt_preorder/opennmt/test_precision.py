"""What ``bfloat16`` makes of a model, and its warning; trainings with it are in test_torch_of_today."""

import logging

import pytest
import torch
from onmt.utils.logging import logger
from torch import nn

from onmt_preorder.cpu.bfloat16_linear import Bfloat16Linear
from onmt_preorder.opennmt import models


class Model(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.decoder, self.generator = encoder, nn.Linear(2, 2), nn.Linear(2, 3)

    def forward(self, states):
        return self.decoder(self.encoder(states)), None


def build(model):
    models._use_bfloat16(model, "cpu")
    return model


@pytest.mark.parametrize("faster", [False, True])
def test_bfloat16_that_does_not_pay_is_warned_of(monkeypatch, caplog, faster):
    monkeypatch.setattr("preorder.learning.backend.multiplies_bfloat16", lambda device: faster)
    monkeypatch.setattr(logger, "propagate", True)
    model = Model(nn.Linear(2, 2))
    with caplog.at_level(logging.WARNING):
        build(model)
    warning = "bfloat16: on this machine float32 is as fast, or faster"
    assert caplog.messages == [warning] * (not faster)


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
