"""Search by a network's scores: sentences that are searched together or in pieces."""

import numpy as np
import pytest

from tests.support.brute_force import agreement, order
from tests.support.brute_force import trees as trees_of
from tests.support.gradients import check_gradients

torch = pytest.importorskip("torch")

from preorder.btg.chart import inversions, log_partition, marginals  # noqa: E402
from preorder.btg.nbest import EXACT  # noqa: E402
from preorder.btg.viterbi import all_positions  # noqa: E402
from preorder.methods.neural_btg.decode import Input, parse, parse_kbest  # noqa: E402
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


@pytest.mark.parametrize("with_partner", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_do_not_change_results(scorer, threads, with_partner):
    given = draw([7, 1, 12, 0, 7, 30, 2, 7, 1])
    if not with_partner:
        given = given._replace(partner=None)
    nodes, positions = parse([(scorer, given)], threads)
    begin = 0
    for n in given.lengths:
        end = begin + n
        partner = given.partner[begin:end] if with_partner else None
        alone, found = parse([(scorer, Input(given.tokens[:, begin:end], np.array([n]), partner))], 1)
        np.testing.assert_array_equal(nodes[begin : end - 1], alone[: max(n - 1, 0)])
        np.testing.assert_array_equal(positions[begin:end], found)
        assert sorted(found) == list(range(n))
        begin = end


@pytest.mark.parametrize("n", [EXACT + 1, 1000])
def test_long_sentences_are_cut(scorer, n):
    nodes, positions = parse([(scorer, draw([n])._replace(partner=None))], 1)
    assert sorted(positions) == list(range(n))
    begin, rows = 0, iter(nodes[:-1].tolist())
    while n - begin > EXACT:
        first, cut, end, label, _ = next(rows)
        assert (first, end, label) == (begin, n, 0)
        assert EXACT // 2 < cut - begin < EXACT
        assert sorted(positions[begin:cut]) == list(range(begin, cut))
        for _ in range(cut - begin - 1):
            first, _, end, _, _ = next(rows)
            assert begin <= first < end <= cut
        begin = cut


def test_the_partner_decides_where_the_network_does_not(scorer, monkeypatch):
    monkeypatch.setattr("preorder.btg.chart.PARTNER_WEIGHT", 1.0)
    n = EXACT + 20
    given = draw([n])._replace(partner=np.arange(n, dtype=np.int32)[::-1].copy())
    nodes, positions = parse([(scorer, given)], 1)
    cut = nodes[0, 1]  # the pieces stay where they are
    assert positions.tolist() == [*reversed(range(cut)), *reversed(range(cut, n))]


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

    check_gradients(scorer, loss, absolute=1e-7)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_best_of_the_best_orders_is_the_best(scorer, threads):
    given = draw([7, 0, 1, 12, 7, EXACT, EXACT + 1, 700])
    nodes, positions = parse([(scorer, given)], 1)
    begin = 0
    for n, trees in zip(given.lengths, parse_kbest([(scorer, given)], 5, threads), strict=True):
        assert len(trees) == (1 if n < 2 else 5)
        np.testing.assert_array_equal(trees[0].nodes, nodes[begin : begin + n][:-1])
        orders = all_positions(np.array([tree.nodes for tree in trees]), n)
        np.testing.assert_array_equal(orders[0], positions[begin : begin + n])
        assert len(set(map(tuple, orders.tolist()))) == len(trees)
        begin += n
