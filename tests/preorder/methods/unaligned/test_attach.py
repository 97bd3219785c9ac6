"""Attaching tokens without links, against draws and orders enumerated one by one."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest

from preorder.alignment.gold import gold_permutation
from preorder.data.errors import DataError
from preorder.data.types import Alignment, BinaryTree, Permutation
from preorder.methods.unaligned.attach import MAX_TOKENS, attach


def is_separable(positions):
    try:
        BinaryTree.from_permutation(Permutation(positions))
    except DataError:
        return False
    return True


SEPARABLE = [[order for order in permutations(range(n)) if is_separable(order)] for n in range(6)]


def attached(positions, linked):
    places = np.array(positions, np.int32)
    attach(places, np.array(linked, np.float32), np.array([0, len(positions)]))
    return tuple(places.tolist())


def gold(positions, linked):
    """The gold order of some linked tokens, whose targets stand in the given order."""
    links = frozenset(
        (i, place) for i, (place, link) in enumerate(zip(positions, linked, strict=True)) if link
    )
    return gold_permutation(Alignment(links), len(positions)).positions if links else positions


def agreement(order, positions, probabilities):
    """Expected pairs in which an order agrees with the gold order, over all ways to draw links."""
    total = 0.0
    for linked in product((False, True), repeat=len(positions)):
        weight = np.prod([p if link else 1 - p for p, link in zip(probabilities, linked, strict=True)])
        expected = gold(positions, linked)
        pairs = [(i, j) for j in range(len(order)) for i in range(j)]
        total += weight * sum((order[i] < order[j]) == (expected[i] < expected[j]) for i, j in pairs)
    return total


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_certain_links_give_the_gold_order(n):
    for positions in SEPARABLE[n]:
        for linked in product((0, 1), repeat=n):
            assert attached(positions, linked) == gold(positions, linked)


def test_agrees_with_the_most_pairs_in_expectation():
    """But for the error of 64 draws, some .06 a pair: on average over many sentences, next to nothing."""
    generator = np.random.default_rng(1)
    losses = []
    for _ in range(100):
        positions, linked = tuple(generator.permutation(4).tolist()), generator.random(4)
        best = max(agreement(order, positions, linked) for order in SEPARABLE[4])
        losses.append(best - agreement(attached(positions, linked), positions, linked))
    assert min(losses) > -1e-9
    assert np.mean(losses) < 0.03


def test_draws_depend_on_nothing_beside_the_sentence():
    generator = np.random.default_rng(3)
    starts = np.cumsum([0, 4, 0, 7, 1, 12])
    positions = np.concatenate([generator.permutation(e - b) for b, e in pairwise(starts)]).astype(np.int32)
    linked = generator.random(starts[-1], np.float32)
    alone = [attached(positions[b:e], linked[b:e]) for b, e in pairwise(starts)]
    attach(positions, linked, starts)
    assert positions.tolist() == [place for places in alone for place in places]


def test_long_sentences_are_cut_where_nothing_crosses():
    n, size = 5, MAX_TOKENS // 2
    positions = [block * size + place for block in range(n) for place in reversed(range(size))]
    linked = [0.0 if i % size == 5 else 1.0 for i in range(n * size)]
    assert attached(positions, linked) == gold(positions, linked)


def test_what_is_too_long_and_undivided_keeps_its_order():
    positions = tuple(reversed(range(MAX_TOKENS + 1)))
    assert attached(positions, [0.5] * len(positions)) == positions
