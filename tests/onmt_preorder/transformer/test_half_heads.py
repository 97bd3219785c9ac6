"""Half of the heads see one order each: equal to the formula for each half by itself."""

import pytest
import torch

from onmt_preorder.transformer.half_heads import attend_by_halves
from preorder.data.errors import UsageError
from tests.support.attention_by_pairs import relative_attention_by_pairs
from tests.support.attention_cases import ORIGINAL, RANDOM, REAL, leaves, make_inputs
from tests.support.opennmt import make_opt
from tests.support.transformers import LONG, SHORT, batch_of, make_encoder

HALF = {"preorder_heads": "half"}


@pytest.mark.parametrize("kind", [RANDOM, REAL])
@pytest.mark.parametrize("heads", [2, 6])
def test_equals_the_formula(kind, heads):
    states, inputs, lengths, parts = make_inputs(1, [(2, 3, ORIGINAL), (3, 1, kind)], h=heads)
    results = [attend_by_halves(*states, lengths, parts)]
    halves = zip(*(each.chunk(2, dim=1) for each in states), parts, strict=True)
    by_pairs = [relative_attention_by_pairs(*half, lengths, [part]) for *half, part in halves]
    results.append(torch.cat(by_pairs, dim=1))
    torch.testing.assert_close(*results, rtol=1e-11, atol=1e-11)
    gradients = [torch.autograd.grad(each.square().sum(), leaves(inputs, parts)) for each in results]
    for mine, true in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, true, rtol=1e-11, atol=1e-11)


def test_each_half_of_a_layer_sees_its_own_order():
    encoder = make_encoder(**HALF).double()
    attention = encoder.transformer[0].self_attn
    attention.final_linear = torch.nn.Identity()
    other = [(word, len(LONG) - 1 - position) for word, position in LONG]
    src, src_len = batch_of(LONG, other)
    first, second = attention(encoder.embeddings(src[:, :, :1]), encoder._source(src, src_len))
    assert first[:, :32].equal(second[:, :32])
    assert not torch.isclose(first[:, 32:], second[:, 32:]).all(1).any()


def test_padding_and_gradients():
    encoder = make_encoder(**HALF, layers=2)
    alone, together = encoder(*batch_of(SHORT))[0], encoder(*batch_of(LONG, SHORT))[0]
    torch.testing.assert_close(together[1, : len(SHORT)], alone[0])
    together.square().sum().backward()
    tables = [p for n, p in encoder.named_parameters() if ".original." in n or ".preordered." in n]
    assert len(tables) == 8
    assert all(table.grad.any() for table in tables)


def test_the_same_parameters_as_with_all_heads():
    shapes = [{n: p.shape for n, p in make_encoder(**c).named_parameters()} for c in ({}, HALF)]
    assert shapes[0] == shapes[1]


def test_an_odd_number_of_heads():
    with pytest.raises(UsageError, match="^preorder_heads: half needs an even number of heads, not 1$"):
        make_opt(**HALF, heads=1)
