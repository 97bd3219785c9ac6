"""The warning where ``bfloat16`` does not pay; trainings with it are in test_torch_of_today."""

import logging
from types import SimpleNamespace

import pytest
from onmt.utils.logging import logger

from onmt_preorder.opennmt import precision


@pytest.mark.parametrize(
    ("asked", "faster", "warnings"), [(True, False, 1), (True, True, 0), (False, False, 0)]
)
def test_bfloat16_that_does_not_pay_is_warned_of(monkeypatch, caplog, asked, faster, warnings):
    monkeypatch.setattr("preorder.learning.backend.multiplies_bfloat16", lambda device: faster)
    monkeypatch.setattr(logger, "propagate", True)
    model = SimpleNamespace(forward=None)
    with caplog.at_level(logging.WARNING):
        built = precision._build_model(lambda *_: model, SimpleNamespace(bfloat16=asked), None, {}, None, -1)
    assert built is model
    assert [record.getMessage() for record in caplog.records] == [
        "bfloat16: on this machine float32 is as fast, or faster"
    ] * warnings
