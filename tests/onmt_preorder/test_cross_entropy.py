"""The cross entropy in blocks is torch's own."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from onmt_preorder import cross_entropy
from onmt_preorder.cross_entropy import Goal, linear_cross_entropy

IGNORED, WORDS = 1, 19


def both(bias=True, smoothing=0.1, precision=torch.float32, tokens=50, targets=None):
    """Return (loss, words predicted, gradients of states, weight and bias) in blocks, and torch's."""
    torch.manual_seed(1)
    states = torch.randn(tokens, 6, requires_grad=True)
    layer = nn.Linear(6, WORDS, bias)
    targets = torch.randint(0, WORDS, (tokens,)) if targets is None else targets
    inputs = states, *layer.parameters()
    loss, correct = linear_cross_entropy(states, layer, Goal(targets, IGNORED, smoothing), precision)
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


@pytest.mark.parametrize("tokens", [50, 128, 200])
def test_in_bfloat16_it_is_near(tokens):
    mine, exact = both(precision=torch.bfloat16, tokens=tokens)
    torch.testing.assert_close(mine[0], exact[0], rtol=5e-3, atol=0)
    for rounded, gradient in zip(mine[2], exact[2], strict=True):
        assert rounded.dtype == torch.float32
        assert (rounded - gradient).norm() < 0.02 * gradient.norm()


def test_padding_alone():
    torch.testing.assert_close(*both(targets=torch.full((50,), IGNORED)))


def test_gradients_of_what_is_learned_alone():
    layer, states = nn.Linear(6, WORDS), torch.randn(4, 6)
    layer.bias.requires_grad_(False)
    loss, _ = linear_cross_entropy(states, layer, Goal(torch.tensor([2, 3, 4, 5]), IGNORED), torch.float32)
    loss.backward()
    assert layer.weight.grad.any()
    assert layer.bias.grad is None
    assert states.grad is None


def test_no_gradients_are_computed_in_validation(monkeypatch):
    computed = []
    add = cross_entropy._add_gradients
    monkeypatch.setattr(
        cross_entropy, "_add_gradients", lambda found, *rest: (computed.extend(found), add(found, *rest))
    )
    layer, states, goal = nn.Linear(6, WORDS), torch.randn(4, 6), Goal(torch.tensor([2, 3, 4, 5]), IGNORED)
    with torch.no_grad():
        alone = linear_cross_entropy(states, layer, goal, torch.float32)
    assert computed == [None] * 3
    torch.testing.assert_close(alone, linear_cross_entropy(states, layer, goal, torch.float32))
