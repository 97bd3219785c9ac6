"""The cross entropy in blocks is torch's own."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from onmt_preorder.cpu import cross_entropy
from onmt_preorder.cpu.cross_entropy import linear_cross_entropy

IGNORED, WORDS = 1, 19


def both(bias=True, smoothing=0.1, precision=torch.float32, tokens=50, targets=None):
    """Return (loss, words predicted, gradients of states, weight and bias) in blocks, and torch's."""
    torch.manual_seed(1)
    states = torch.randn(tokens, 6, requires_grad=True)
    layer = nn.Linear(6, WORDS, bias)
    targets = torch.randint(0, WORDS, (tokens,)) if targets is None else targets
    inputs = states, *layer.parameters()
    loss, correct = linear_cross_entropy(states, layer, targets, IGNORED, smoothing, precision)
    mine = loss.detach(), correct, torch.autograd.grad(3 * loss, inputs)
    logits = layer(states)
    options = {"ignore_index": IGNORED, "label_smoothing": smoothing, "reduction": "sum"}
    loss = functional.cross_entropy(logits, targets, **options)
    correct = ((logits.argmax(1) == targets) & (targets != IGNORED)).sum().item()
    return mine, (loss.detach(), correct, torch.autograd.grad(3 * loss, inputs))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("logits", [1, 2**22])
def test_equals_torch(monkeypatch, logits, bias, smoothing):
    monkeypatch.setattr(cross_entropy, "LOGITS", logits)
    torch.testing.assert_close(*both(bias, smoothing))
    padding = torch.full((50,), IGNORED)
    torch.testing.assert_close(*both(bias, smoothing, targets=padding))


@pytest.mark.parametrize("tokens", [50, 128, 200])
def test_in_bfloat16_it_is_near(tokens):
    mine, exact = both(precision=torch.bfloat16, tokens=tokens)
    torch.testing.assert_close(mine[0], exact[0], rtol=5e-3, atol=0)
    for rounded, gradient in zip(mine[2], exact[2], strict=True):
        assert rounded.dtype == torch.float32
        assert (rounded - gradient).norm() < 0.02 * gradient.norm()


def test_gradients_are_computed_of_what_is_learned_and_in_training_alone(monkeypatch):
    asked = []
    replace = cross_entropy.replace_by_gradient
    spy = lambda *args, gradient: asked.append(gradient) or replace(*args, gradient=gradient)  # noqa: E731
    monkeypatch.setattr(cross_entropy, "replace_by_gradient", spy)
    layer, states = nn.Linear(6, WORDS), torch.randn(4, 6)
    layer.bias.requires_grad_(False)
    given = states, layer, torch.tensor([2, 3, 4, 5]), IGNORED, 0.0, torch.float32
    with torch.no_grad():
        alone, _ = linear_cross_entropy(*given)
    loss, _ = linear_cross_entropy(*given)
    loss.backward()
    assert asked == [False, True]
    assert alone.item() == loss.item()
    assert layer.weight.grad.any()
    assert layer.bias.grad is None
