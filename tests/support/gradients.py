"""Gradients of networks against finite differences."""

import pytest


def check_gradients(network, loss, absolute=1e-8):
    """Check the gradient of a loss by the weight of each tensor that matters most, in double precision."""
    step = 1e-6
    loss().backward()
    for name, parameter in network.named_parameters():
        flat, gradient = parameter.data.view(-1), parameter.grad.view(-1)
        i = int(gradient.abs().argmax())
        flat[i] += step
        above = loss().item()
        flat[i] -= 2 * step
        below = loss().item()
        flat[i] += step
        assert (above - below) / (2 * step) == pytest.approx(gradient[i].item(), rel=1e-4, abs=absolute), name
