"""Search by a network's scores: sentences that are searched together or in pieces."""

import numpy as np
import pytest

from tests.support.brute_force import agreement, order
from tests.support.brute_force import trees as trees_of

torch = pytest.importorskip("torch")

from preorder.btg.chart import inversions, log_partition, marginals  # noqa: E402
from preorder.btg.nbest import EXACT  # noqa: E402
from preorder.methods.neural_btg.decode import Input, parse  # noqa: E402
from preorder.methods.neural_btg.network import Scorer  # noqa: E402


@pytest.fixture(scope="module")
def scorer():
    torch.manual_seed(3)
    return Scorer({"words": 50, "tags": 10}, hidden=12, depth=2).eval()


def draw(lengths, seed=0):
    """Sentences of some lengths, with the positions of an ensemble partner."""
    generator = np.random.default_rng(seed)
    partner = [position for n in lengths for position in generator.permutation(n)]
    return Input(generator.integers(2, 10, (2, sum(lengths))), np.array(lengths), np.array(partner, np.int32))


def test_the_partner_decides_where_the_network_does_not(scorer, monkeypatch):
    monkeypatch.setattr("preorder.btg.chart.PARTNER_WEIGHT", 1.0)
    n, half = EXACT + 20, EXACT // 2
    partner = np.array([*range(half), *reversed(range(half, n))], np.int32)
    nodes, positions = parse([(scorer, draw([n])._replace(partner=partner))], 1)
    cut = nodes[0, 1]  # the pieces stay where they are
    assert positions.tolist() == [*range(half), *reversed(range(half, cut)), *reversed(range(cut, n))]


def test_members_vote_by_the_probability_that_a_pair_is_inverted():
    """The order is the best by brute force, where pairs gain by the mean of the probabilities."""
    torch.manual_seed(2)
    scorers = [Scorer({"words": 50, "tags": 10}, hidden=12, depth=1).eval() for _ in range(3)]
    n, orders_differ = 5, False
    for seed in range(8):
        inputs = [draw([n], seed)._replace(partner=None)] * 3
        _, positions = parse(list(zip(scorers, inputs, strict=True)), 1)
        with torch.inference_mode():
            tokens = torch.from_numpy(inputs[0].tokens[:, None])
            mean = np.mean([inversions(marginals(scorer(tokens)))[0].numpy() for scorer in scorers], 0)
        best = max(agreement(order(tree, 0, n), mean) for tree in trees_of(0, n))
        assert agreement(np.argsort(positions), mean) == pytest.approx(best, abs=0.015)  # PREFERENCE
        alone = [parse([(scorer, inputs[0])], 1)[1].tolist() for scorer in scorers]
        orders_differ |= any(one != positions.tolist() for one in alone)
    assert orders_differ


def test_gradients_of_the_network_against_finite_differences():
    torch.manual_seed(1)
    scorer = Scorer({"words": 12}, hidden=4, depth=2).double()
    tokens = torch.randint(2, 12, (1, 3, 5))
    groups = torch.tensor([[3, -1, 0, 1, 2], [0, 1, 2, 3, 4], [-1, 2, -1, 0, 0]])

    def loss():
        parts = scorer(tokens)
        return (log_partition(parts) - log_partition(parts, groups)).sum()

    assert torch.autograd.gradcheck(lambda *_: loss(), tuple(scorer.parameters()), fast_mode=True)
