"""The sum over segmentations and its gradient, against the enumeration of all of them."""

import math
from dataclasses import replace

import pytest
import torch

from onmt_preorder.papers.npmt.likelihood import log_likelihood
from onmt_preorder.papers.npmt.scorer import WorkLimits
from tests.support.segmentations import by_enumeration, make_batch, make_model, parameters

SHAPES = [([1], [1]), ([4], [4]), ([2, 1], [2, 0]), ([4, 2, 3], [4, 2, 1]), ([2, 4], [2, 0])]
EVERY_SHAPE = pytest.mark.parametrize(("elements", "lengths"), SHAPES)


def gradients(total, model, batch):
    weight = torch.arange(1.0, len(total) + 1, dtype=total.dtype)
    inputs = [batch.states, *parameters(model)]
    return torch.autograd.grad((weight * total).sum(), inputs, allow_unused=True, materialize_grads=True)


@EVERY_SHAPE
@pytest.mark.parametrize("longest", [1, 2, 4])
@pytest.mark.parametrize(("cell", "layers"), [("GRU", 1), ("GRU", 2), ("LSTM", 2)])
def test_likelihood_and_gradients_are_those_of_the_enumeration(cell, layers, elements, lengths, longest):
    model, batch = make_model(cell, layers), make_batch(elements, lengths)
    expected = by_enumeration(model, batch, longest)
    found = log_likelihood(model, batch, WorkLimits(longest, logits=40))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradients(found, model, batch), gradients(expected, model, batch))
    with torch.no_grad():
        torch.testing.assert_close(log_likelihood(model, batch, WorkLimits(longest)), expected.detach())


@EVERY_SHAPE
@pytest.mark.parametrize(("precision", "error"), [(torch.float32, 1e-5), (torch.bfloat16, 0.03)])
def test_the_compiled_softmax_gives_the_same(elements, lengths, precision, error):
    """In float32 and bfloat16, which it reads, beside torch's in double precision."""
    results = []
    for dtype in (torch.double, torch.float32):
        model, batch = make_model(layers=2), make_batch(elements, lengths)
        for layer in (model.network, model.vocabulary, model.embeddings):
            layer.to(dtype)
        model, states = replace(model, precision=precision), batch.states.detach().to(dtype).requires_grad_()
        batch = replace(batch, states=states)
        total = log_likelihood(model, batch, WorkLimits(3, logits=40))
        results.append((total.double(), *(g.double() for g in gradients(total, model, batch))))
    for exact, found in zip(*results, strict=True):
        assert (exact - found).norm() <= error * max(1.0, exact.norm())


@pytest.mark.parametrize("bounds", [{}, {"negligible": 1e-2}, {"unpromising": 1e-2}])
def test_chunks_of_any_size_give_the_same(bounds):
    model, batch = make_model(layers=2), make_batch([5, 7, 3], [6, 4, 5])
    results = []
    for logits in (1, 11, 64, 10**9):
        total = log_likelihood(model, batch, WorkLimits(3, logits=logits, **bounds))
        results.append((total, gradients(total, model, batch)))
    for other in results[1:]:
        torch.testing.assert_close(other, results[0])


def test_a_target_longer_than_can_be_emitted_has_no_probability_and_no_gradient():
    model, batch = make_model(), make_batch([1, 2], [3, 3])
    total = log_likelihood(model, batch, WorkLimits(2))
    assert total[0] == -math.inf
    assert total[1].isfinite()
    found = torch.autograd.grad(torch.where(total.isfinite(), total, 0).sum(), batch.states)[0]
    assert not found[0].any()
    assert found.isfinite().all()


def test_what_is_negligible_is_left_out_of_the_gradient_only():
    model, batch = make_model(), make_batch([5, 6], [6, 5])
    exact = log_likelihood(model, batch, WorkLimits(3))
    reference = torch.cat([g.flatten() for g in gradients(exact, model, batch)])
    errors = []
    for negligible in (1e-4, 1e-2, 0.5):
        total = log_likelihood(model, batch, WorkLimits(3, negligible=negligible))
        torch.testing.assert_close(total, exact)
        found = torch.cat([g.flatten() for g in gradients(total, model, batch)])
        errors.append(((found - reference).norm() / reference.norm()).item())
    assert errors == sorted(errors)
    assert errors[0] < 1e-3
    assert errors[-1] > 0.05


def test_what_is_unpromising_takes_a_little_probability():
    model, batch = make_model(), make_batch([6, 7], [7, 6])
    exact = log_likelihood(model, batch, WorkLimits(4)).detach()
    found = [log_likelihood(model, batch, WorkLimits(4, unpromising=u)).detach() for u in (1e-9, 1e-3, 1e-1)]
    torch.testing.assert_close(found[0], exact, atol=1e-5, rtol=0)
    assert (exact - found[1]).min() >= 0
    assert (exact - found[1]).max() < 0.05
    assert (found[1] - found[2]).min() > 0
    empty = make_batch([2, 1], [0, 0])
    expected = log_likelihood(model, empty, WorkLimits(3))
    assert log_likelihood(model, empty, WorkLimits(3, unpromising=1e-3)).equal(expected)


def test_locked_dropout_gives_the_gradient_of_what_was_scored():
    model, batch = make_model(layers=2, dropout=0.5), make_batch([2, 3], [3, 2])
    model.network.train()

    def total(states):
        torch.manual_seed(1)
        return log_likelihood(model, replace(batch, states=states), WorkLimits(2))

    assert torch.autograd.gradcheck(total, batch.states)
    torch.manual_seed(2)
    assert not torch.equal(log_likelihood(model, batch, WorkLimits(2)), total(batch.states))
    first = model.first_gates(batch.states.device)
    state, _, masks = model.network.begin(batch.states[0], first)
    assert masks.unique().tolist() == [0, 2]
    for layer in range(2):
        below = torch.ones_like(masks)
        below[:, layer] = 0  # of either layer alone
        output, _ = model.network.step(first.expand(len(state), -1), state, below)
        assert output.any() == (layer == 0)


def test_no_more_logits_than_allowed_at_a_time():
    model, batch = make_model(), make_batch([5, 6], [6, 5])
    sizes = []
    model.vocabulary.register_forward_hook(lambda _, __, logits: sizes.append(logits.numel()))
    log_likelihood(model, batch, WorkLimits(3, logits=100)).sum().backward()
    assert max(sizes) <= 100
    assert sum(sizes) > 1000
