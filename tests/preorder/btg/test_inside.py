"""Gradients of sums over trees, minibatches, and long sentences; against every tree: see ``test_parts``."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from preorder.btg.constraint import reachable  # noqa: E402
from preorder.btg.inside import log_partition  # noqa: E402
from preorder.btg.scores import PARTS  # noqa: E402


def draw(n, batch=2, seed=0):
    """Draw parts, and groups that a tree can satisfy, some equal, some missing."""
    generator = np.random.default_rng((n, seed))
    groups = []
    while len(groups) < batch:
        one = generator.integers(-1, n, n)
        if reachable(one.astype(np.int32)):
            groups.append(one)
    return torch.tensor(generator.normal(size=(batch, PARTS, 2, n + 1, n + 1))), torch.tensor(
        np.array(groups)
    )


@pytest.mark.parametrize("n", range(2, 7))
def test_gradients_against_finite_differences(n):
    parts, groups = draw(n, seed=1)
    parts.requires_grad_()
    assert torch.autograd.gradcheck(log_partition, (parts,))
    assert torch.autograd.gradcheck(lambda p: log_partition(p, groups), (parts,))


def test_free_tokens_constrain_nothing():
    parts, _ = draw(5)
    free = torch.full((2, 5), -1)
    torch.testing.assert_close(log_partition(parts, free), log_partition(parts))


def test_a_minibatch_is_its_sentences():
    parts, groups = draw(9, batch=4)
    whole = log_partition(parts, groups)
    for i in range(4):
        torch.testing.assert_close(log_partition(parts[i : i + 1], groups[i : i + 1]), whole[i : i + 1])


def test_long_sentences_stay_finite():
    """Sums of trees of many tokens, in single precision and with large scores."""
    parts = torch.randn((1, PARTS, 2, 121, 121), generator=torch.Generator().manual_seed(0)) * 20
    parts.requires_grad_()
    groups = torch.arange(120)[None].flip(1)
    value = log_partition(parts) - log_partition(parts, groups)
    value.sum().backward()
    assert value.item() > 0
    assert parts.grad.isfinite().all()
