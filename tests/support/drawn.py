"""Drawn orders and trees, against the probability of each."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping

import numpy as np
from scipy.stats import chisquare

from preorder.btg.pieces import EXACT
from preorder.btg.results import TreePreorderer
from preorder.data.types import Sentence
from preorder.learning.encode import Encoder
from preorder.methods.perceptron.fast.shapes import shape_scores
from preorder.methods.perceptron.parse import scores_of
from tests.support.brute_force import BruteForce, by_parts, by_scores, order

Positions = tuple[int, ...]


def check_frequencies(found: Collection[Hashable], probabilities: Mapping[Hashable, float]) -> None:
    """Compare how often each thing is drawn with its probability; rare ones count as one."""
    counts = Counter(found)
    assert counts.keys() <= probabilities.keys()
    expected = len(found) * np.array([*probabilities.values()])
    observed = np.array([counts[thing] for thing in probabilities])
    often = expected >= 10
    sums = [np.append(each[often], each[~often].sum()) for each in (observed, expected)]
    kept = sums[1] > 0
    assert kept.sum() > 1
    assert chisquare(sums[0][kept], sums[1][kept]).pvalue > 1e-4


def mean(probabilities: Mapping[Positions, float]) -> np.ndarray:
    """Return where each token stands on average."""
    return sum(share * np.array(positions) for positions, share in probabilities.items())


def probabilities_of_orders(preorderer: TreePreorderer, sentence: Sentence) -> dict[Positions, float]:
    """Return the probability of each order of a short sentence, as positions, by every tree one by one."""
    if preorderer.method == "btg":
        return _by_order(_of_perceptron(preorderer, sentence))
    if preorderer.method == "neural-btg":
        return _of_network(preorderer, sentence)
    # Each node of one tree is inverted or not; the scores of all orders are tested to be the logs of these.
    (best,) = preorderer.best_orders([sentence], 2 ** len(sentence))
    return {order.positions: float(np.exp(score)) for score, order in best}


def _by_order(twin: BruteForce) -> dict[Positions, float]:
    result: dict[Positions, float] = Counter()
    for tree, probability in zip(twin.trees, twin.probabilities(), strict=True):
        result[tuple(np.argsort(order(tree, 0, twin.n)).tolist())] += float(probability)
    return result


def _of_perceptron(preorderer: TreePreorderer, sentence: Sentence) -> BruteForce:
    batch, n = Encoder(preorderer.token_layers)([sentence]), len(sentence)
    start = batch.starts[0]
    tables, shape = preorderer._weights.tables(), shape_scores(preorderer._weights.shape, EXACT)
    score = by_scores(scores_of(tables, shape, batch.tokens[:, start - 1 : start + n + 1], n))
    return BruteForce(n, lambda node: score(node) / preorderer._temperature)


def _of_network(preorderer: TreePreorderer, sentence: Sentence) -> dict[Positions, float]:
    import torch

    from preorder.btg.risk import PARTNER_WEIGHT

    tokens = torch.from_numpy(preorderer._vocabulary([sentence]))
    with torch.inference_mode():
        (parts,) = preorderer._scorer(tokens[:, None]).double().numpy()
    result = _by_order(BruteForce(len(sentence), by_parts(parts / preorderer._temperature)))
    if preorderer._partner is None:
        return result
    result = Counter({positions: (1 - PARTNER_WEIGHT) * share for positions, share in result.items()})
    result[preorderer._partner.order([sentence])[0].positions] += PARTNER_WEIGHT
    return result
