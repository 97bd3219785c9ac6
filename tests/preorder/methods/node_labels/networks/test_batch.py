"""Minibatches hold the trees that they are made of."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.trees import sentences

pytest.importorskip("torch")

from preorder.data.trees import BINARISATIONS
from tests.support.minibatches import minibatches


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
