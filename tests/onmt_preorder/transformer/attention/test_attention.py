"""Relative attention: equal to the paper's formula pair by pair, forward and gradient."""

import pytest
import torch

from onmt_preorder.transformer.attention import Positions, RelativePart, plain, relative_attention
from tests.support.attention import ORIGINAL, PARTS, both_ways, check_dropout, make_inputs


@pytest.mark.parametrize("case", PARTS)
@pytest.mark.parametrize(
    "shape",
    [{"n": 1}, {"n": 2}, {"n": 7}, {"b": 2, "h": 1, "n": 33}, {"dropout": 0.3, "d": 8}],
    ids=["1", "2", "7", "33", "dropout"],
)
def test_equals_the_formula(case, shape):
    for mine, true in zip(*both_ways(plain.attend, case, **shape), strict=True):
        torch.testing.assert_close(mine, true, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_equals_the_formula_in_few_bits(dtype):
    for mine, true in zip(*both_ways(plain.attend, "both", dtype=dtype), strict=True):
        assert mine.dtype == dtype
        bound = 100 * torch.finfo(dtype).eps
        torch.testing.assert_close(mine.double(), true, rtol=bound, atol=bound)


def test_a_vector_has_no_effect_where_no_key_is_at_its_distance():
    (query, key, value), _, lengths, (part,) = make_inputs(6, [(4, 4, ORIGINAL)], b=1, dtype=torch.float32)
    before = relative_attention(query, key, value, lengths, [part])[:, :, :4]
    with torch.no_grad():
        part.values[0] = 1e12  # of keys 4 and more tokens to the left: rounding would show
    assert relative_attention(query, key, value, lengths, [part])[:, :, :4].equal(before)


def test_positions_are_stacked_for_the_batch_at_hand():
    """ReFSR's layers read the same positions for a batch of b, and for one of 2 b."""
    positions = Positions(torch.arange(5)[None])
    assert [positions.stacked_with([], b).shape for b in (2, 4)] == [(1, 2, 5), (1, 4, 5)]


@pytest.mark.parametrize("dropout", [0.1, 0.5, 1.0])
def test_dropout(dropout):
    check_dropout(relative_attention, dropout)


def test_scores_are_single_precision_at_least():
    """In bfloat16 (8 bits), scores near 300 differ by 2: attention would be all or nothing."""
    query = torch.full((1, 1, 2, 1), 300.0, dtype=torch.bfloat16)
    key = torch.ones(1, 1, 2, 1, dtype=torch.bfloat16)
    value = torch.tensor([0.0, 1.0], dtype=torch.bfloat16).view(1, 1, 2, 1)
    table = torch.tensor([[0.0], [0.0], [2**-9]], dtype=torch.bfloat16)
    part = RelativePart(Positions(torch.arange(2).unsqueeze(0)), table, torch.zeros_like(table))
    result = relative_attention(query, key, value, torch.tensor([2]), [part])
    expected = torch.tensor([0.0, 300 * 2**-9]).softmax(0)[1]
    torch.testing.assert_close(result[0, 0, 0, 0].float(), expected, atol=0.01, rtol=0)


def test_positions_must_be_permutations():
    with pytest.raises(ValueError, match="no permutation"):
        Positions(torch.tensor([[0, 1, 1]]))
