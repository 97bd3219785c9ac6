"""Relative attention: equal to the naive loop over pairs, forward and gradient."""

import pytest
import torch

from onmt_preorder.attention import Places, RelativePart, products, relative_attention
from onmt_preorder.attention.reference import clip, relative_attention_by_pairs

B, H, N, D = 3, 2, 7, 4
LENGTHS = torch.tensor([7, 4, 1])
PADDING = torch.arange(N) >= LENGTHS.unsqueeze(1)
BOUGHT, POSITIONS = 7, [0, 8, 6, 7, 5, 1, 2, 4, 3]


def make(generator, *shape):
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def make_inputs(seed, limits):
    """Return query, key, value, and one part for each (key limit, value limit, is original)."""
    generator = torch.Generator().manual_seed(seed)
    states = [make(generator, B, H, N, D) for _ in range(3)]
    parts = []
    for keys, values, original in limits:
        places = torch.arange(N).unsqueeze(0)
        if not original:
            places = torch.rand(B, N, generator=generator).argsort(1)
        parts.append(
            RelativePart(Places(places), make(generator, 2 * keys + 1, D), make(generator, 2 * values + 1, D))
        )
    return states, parts


def tensors(states, parts):
    return [*states, *(table for part in parts for table in (part.keys, part.values))]


@pytest.fixture(params=["gather and scatter", "products"])
def formulation(request, monkeypatch):
    """Both formulations, on the CPU."""
    if request.param == "products":
        monkeypatch.setattr(products, "_gather", products._spread_by_product)
        monkeypatch.setattr(products, "_scatter", products._collect_by_product)


@pytest.mark.usefixtures("formulation")
@pytest.mark.parametrize(
    "limits",
    [
        [],
        [(4, 4, True)],
        [(2, 3, False)],
        [(4, 4, True), (4, 4, False)],
        [(1, 16, True), (16, 1, False)],
    ],
)
def test_equals_loop_over_pairs(limits):
    states, parts = make_inputs(1, limits)
    fast = relative_attention(*states, PADDING, parts, lambda weights: weights)
    slow = relative_attention_by_pairs(*states, PADDING, parts)
    torch.testing.assert_close(fast, slow, rtol=1e-12, atol=1e-12)
    direction = torch.randn(fast.shape, dtype=fast.dtype, generator=torch.Generator().manual_seed(2))
    gradients = [torch.autograd.grad((x * direction).sum(), tensors(states, parts)) for x in (fast, slow)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)


@pytest.mark.usefixtures("formulation")
def test_gradient_equals_finite_differences():
    states, parts = make_inputs(3, [(2, 1, True), (1, 2, False)])

    def attend(query, key, value, *tables):
        again = [RelativePart(part.places, tables[2 * i], tables[2 * i + 1]) for i, part in enumerate(parts)]
        return relative_attention(query, key, value, PADDING, again, lambda weights: weights)

    assert torch.autograd.gradcheck(attend, tensors(states, parts))


def test_worked_example_of_the_paper():
    expected = [-4, 4, 2, 3, 1, -3, -2, 0, -1]
    assert [clip(p - POSITIONS[BOUGHT], 4) for p in POSITIONS] == expected
    clipped = Places(torch.tensor([POSITIONS])).clipped(4)
    assert (clipped[0, BOUGHT] - 4).tolist() == expected


def test_tables_are_separate():
    states, parts = make_inputs(4, [(4, 4, True), (4, 4, False)])
    before = relative_attention(*states, PADDING, parts, lambda weights: weights)
    for table in tensors([], parts):
        with torch.no_grad():
            table[0] += 1
            after = relative_attention(*states, PADDING, parts, lambda weights: weights)
            assert not torch.allclose(before, after)
            table[0] -= 1


def test_dropout_reaches_the_value_tables():
    states, parts = make_inputs(5, [(4, 4, True)])
    states[2] = torch.zeros_like(states[2])
    result = relative_attention(*states, PADDING, parts, torch.zeros_like)
    assert not result.any()


def test_scores_are_single_precision_at_least():
    """In bfloat16 (8 bits), scores near 300 differ by 2: attention would be all or nothing."""
    query = torch.full((1, 1, 2, 1), 300.0, dtype=torch.bfloat16)
    key = torch.ones(1, 1, 2, 1, dtype=torch.bfloat16)
    table = torch.tensor([[0.0], [0.0], [2**-9]], dtype=torch.bfloat16)
    part = RelativePart(Places(torch.arange(2).unsqueeze(0)), table, torch.zeros_like(table))
    seen = []

    def look(weights):
        seen.append(weights)
        return weights

    relative_attention(query, key, key, torch.zeros(1, 2, dtype=torch.bool), [part], look)
    expected = torch.tensor([0.0, 300 * 2**-9]).softmax(0)
    torch.testing.assert_close(seen[0][0, 0, 0].float(), expected, atol=0.01, rtol=0)
