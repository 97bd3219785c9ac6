"""Networks of trees: their minibatches, and the recursion against one call a node."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preorder.data.trees import BINARISATIONS
from tests.support.trees import random_sentence, sentences

torch = pytest.importorskip("torch")

from preorder.learning.encode import Vocabulary  # noqa: E402
from preorder.learning.network import equally_long  # noqa: E402
from preorder.methods.tree_swap.networks import (  # noqa: E402
    Contextual,
    Numbering,
    Recursive,
    _Compose,
    minibatch,
)
from preorder.methods.tree_swap.trees import forest  # noqa: E402

CPU = torch.device("cpu")
ROWS = {"words": 13, "tags": 3}
NUMBERING = Numbering(
    Vocabulary({"words": [f"w{i}" for i in range(12)], "tags": ["NN", "X"]}), ["S", "NP", "VP'", "nsubj-"]
)


def minibatches(lines, how="head"):
    batch = NUMBERING(lines, forest(lines, how))
    for chosen in equally_long(batch.trees.lengths, lambda _: 3):
        yield batch, chosen, *minibatch(batch, chosen, CPU)


@settings(max_examples=50)
@given(st.lists(sentences, min_size=1, max_size=6), st.sampled_from(BINARISATIONS))
def test_minibatches_hold_the_trees(lines, how):
    """Children, parents, categories and spans are those of the trees, and children are computed first."""
    seen = 0
    for batch, chosen, nodes, rows in minibatches(lines, how):
        n = nodes.tokens.shape[2]
        tokens = len(chosen) * n
        spans = {k: (k // n, k % n, k % n + 1) for k in range(tokens)}  # of each vector
        number = tokens
        for size in nodes.sizes:
            ready = number
            for k in range(number - tokens, number - tokens + size):
                left, right = nodes.children[k].tolist()
                assert max(left, right) < ready
                sentence, (begin, split, end) = nodes.sentences[k].item(), nodes.spans[k].tolist()
                assert spans[left] == (sentence, begin, split)
                assert spans[right] == (sentence, split, end)
                spans[number] = (sentence, begin, end)
                number += 1
        assert number == tokens + len(rows) == len(spans)
        parents = {
            child: (k, side)
            for k, pair in enumerate(nodes.children.tolist())
            for side, child in enumerate(pair)
        }
        for k in range(len(rows)):
            assert nodes.categories[k] == batch.categories[rows[k]]
            above, side = parents.get(tokens + k, (None, None))
            assert nodes.sides[k] == (-1 if above is None else 2 * nodes.categories[above] + side)
        starts = batch.trees.starts[chosen]
        assert nodes.tokens[0].tolist() == [batch.tokens[0, s : s + n].tolist() for s in starts]
        seen += len(rows)
    assert seen == sum(max(0, len(line) - 1) for line in lines)


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
    together = _Compose.apply(*arrays, children, sizes)
    alone = one_by_one(*arrays, children)
    torch.testing.assert_close(together, alone)


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

    assert torch.autograd.gradcheck(lambda *_: loss(), tuple(scorer.parameters()), fast_mode=True)
