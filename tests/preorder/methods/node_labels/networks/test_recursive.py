"""The recursion against one call a node, and gradients against finite differences."""

import numpy as np
import pytest

from tests.support.gradients import check_gradients
from tests.support.trees import random_sentence

torch = pytest.importorskip("torch")

from preorder.methods.node_labels.networks.contextual import Contextual  # noqa: E402
from preorder.methods.node_labels.networks.recursive import Recursive, compose  # noqa: E402
from tests.support.minibatches import NUMBERING, ROWS, minibatches  # noqa: E402


def one_by_one(leaves, biases, weight, children):
    """Return the vectors of nodes, one call a node."""
    vectors = list(leaves)
    for bias, (left, right) in zip(biases, children.tolist(), strict=True):
        vectors.append(torch.relu(torch.cat((vectors[left], vectors[right])) @ weight + bias))
    return torch.stack(vectors[len(leaves) :])


def draw(size=4):
    """Draw what three sentences of seven tokens compose, in double precision."""
    generator = np.random.default_rng(3)
    lines = [random_sentence(generator, 7) for _ in range(3)]
    (*_, nodes, _), *_ = minibatches(lines)
    torch.manual_seed(1)
    shapes = ((21, size), (18, size), (2 * size, size))
    arrays = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    return arrays, nodes.children, nodes.sizes


def test_equals_one_call_a_node():
    arrays, children, sizes = draw()
    together = compose(*arrays, children, sizes)
    alone = one_by_one(*arrays, children)
    torch.testing.assert_close(together, alone)
    weights = torch.randn_like(alone)
    ours = torch.autograd.grad((together * weights).sum(), arrays)
    theirs = torch.autograd.grad((alone * weights).sum(), arrays)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_gradients_against_finite_differences():
    arrays, children, sizes = draw()
    assert torch.autograd.gradcheck(lambda *a: compose(*a, children, sizes), arrays)


@pytest.mark.parametrize("category", [True, False])
@pytest.mark.parametrize("network", [Recursive, Contextual])
def test_gradients_of_the_networks_against_finite_differences(network, category):
    generator = np.random.default_rng(5)
    ((*_, nodes, _),) = minibatches([random_sentence(generator, 6) for _ in range(3)])
    torch.manual_seed(2)
    scorer = network(ROWS, NUMBERING.rows, 5, category=category).double().eval()
    labels = torch.rand(len(nodes.children), dtype=torch.float64)

    def loss():
        return torch.nn.functional.binary_cross_entropy_with_logits(scorer(nodes), labels)

    check_gradients(scorer, loss)
