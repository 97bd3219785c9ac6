"""Relative attention written as the paper writes it, and what every path of it is tested on."""

import itertools

import torch

from onmt_preorder.transformer.attention import Positions, RelativePart

ORIGINAL, RANDOM = "original", "random"  # orders

# Clipping distances of keys and values, and the order.
PARTS = {
    "none": [],
    "original": [(4, 4, ORIGINAL)],
    "preordered": [(2, 3, RANDOM)],
    "both": [(4, 4, ORIGINAL), (4, 4, RANDOM)],
    "far and near": [(1, 64, ORIGINAL), (64, 1, RANDOM)],
    "three": [(2, 1, ORIGINAL), (3, 3, RANDOM), (1, 2, RANDOM)],
}


def clip(distance, limit):
    return max(-limit, min(limit, distance))


def attention_by_pairs(query, key, value, lengths, parts, factors=None):
    """Attend with an explicit ``a_ij`` for every pair of tokens, one head and query at a time.

    What dropout multiplies the attention by is given, ``(b, h, n, n)``.
    """
    b, h, n, d = query.shape
    result = torch.zeros_like(query)
    for sentence, head, i in itertools.product(range(b), range(h), range(n)):
        length = int(lengths[sentence])
        keys, values = key[sentence, head, :length], value[sentence, head, :length]
        for part in parts:
            positions = part.positions.tensor.expand(b, n)[sentence]
            distances = (positions[:length] - positions[i]).tolist()
            k, v = part.keys.size(0) // 2, part.values.size(0) // 2
            keys = keys + part.keys[[clip(x, k) + k for x in distances]]
            values = values + part.values[[clip(x, v) + v for x in distances]]
        weights = (keys @ query[sentence, head, i] / d**0.5).softmax(0)
        if factors is not None:
            weights = weights * factors[sentence, head, i, :length]
        result[sentence, head, i] = weights @ values
    return result


def make(generator, *shape, dtype=torch.float64, device="cpu"):
    numbers = torch.randn(*shape, dtype=torch.float64, generator=generator)
    return numbers.to(device, dtype).requires_grad_()


def order(generator, lengths, n, kind):
    """Return the positions of each sentence's tokens in an order; padding comes last."""
    if kind == ORIGINAL:
        return torch.arange(n).unsqueeze(0)
    keys = torch.rand(len(lengths), n, generator=generator)
    return (keys + (torch.arange(n) >= lengths.unsqueeze(1))).argsort(1).argsort(1)


def make_inputs(seed, limits, b=3, h=2, n=7, d=4, **options):
    """Return query, key and value, the leaves they are views of, lengths, and the parts."""
    device, generator = options.get("device", "cpu"), torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, n + 1, (b,), generator=generator).index_fill(0, torch.tensor([0]), n)
    states = [make(generator, b, n, h, d, **options) for _ in range(3)]
    parts = [
        RelativePart(
            Positions(order(generator, lengths, n, kind).to(device)),
            make(generator, 2 * keys + 1, d, **options),
            make(generator, 2 * values + 1, d, **options),
        )
        for keys, values, kind in limits
    ]
    return [state.transpose(1, 2) for state in states], states, lengths.to(device), parts


def leaves(states, parts):
    return [*states, *itertools.chain.from_iterable((part.keys, part.values) for part in parts)]


def factors_of(path, like, lengths, parts, dropout):
    """Return what dropout multiplies ``(b, h, n, n)`` by: attention is even, values are unit vectors."""
    b, h, n, d = like.shape
    assert n <= d
    even = torch.zeros_like(like).detach()
    units = torch.eye(n, d, dtype=like.dtype, device=like.device).expand(b, h, n, d)
    blank = [RelativePart(p.positions, torch.zeros_like(p.keys), torch.zeros_like(p.values)) for p in parts]
    return path(even, even, units, lengths, blank, dropout)[..., :n] * lengths[:, None, None, None]


def both_ways(path, case, dropout=0.0, **shape):
    """Return result and gradients of a path, and of the reference, in float64 on the CPU."""
    (query, key, value), states, lengths, parts = make_inputs(1, PARTS[case], **shape)
    torch.manual_seed(5)
    factors = factors_of(path, query, lengths, parts, dropout).cpu().double() if dropout else None
    torch.manual_seed(5)
    result = path(query, key, value, lengths, parts, dropout)
    direction = torch.randn(result.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    outputs = [result, *torch.autograd.grad(result, leaves(states, parts), direction.to(result))]
    exact = [leaf.detach().cpu().double().requires_grad_() for leaf in leaves(states, parts)]
    tables = iter(exact[3:])
    orders = [Positions(part.positions.tensor.cpu()) for part in parts]
    parts = [RelativePart(positions, next(tables), next(tables)) for positions in orders]
    states = (leaf.transpose(1, 2) for leaf in exact[:3])
    expected = attention_by_pairs(*states, lengths.cpu(), parts, factors)
    return outputs, [expected, *torch.autograd.grad(expected, exact, direction)]


def check_dropout(path, dropout, device="cpu", b=4, slack=0.05):
    """Check that attention drops its share, evenly, and the same again from the same seed."""
    like, lengths = torch.zeros(b, 4, 64, 64, device=device), torch.full((b,), 64, device=device)
    units = torch.eye(64, device=device).expand_as(like)
    torch.manual_seed(1)
    first = path(like, like, units, lengths, [], dropout) * 64
    torch.manual_seed(1)
    assert first.equal(path(like, like, units, lengths, [], dropout) * 64)
    if dropout == 1:
        assert not first.any()
        return
    assert not first.equal(path(like, like, units, lengths, [], dropout) * 64)
    torch.testing.assert_close(first.unique().cpu(), torch.tensor([0, 1 / (1 - dropout)]), rtol=1e-4, atol=0)
    for axis in range(4):
        share = first.eq(0).float().mean([x for x in range(4) if x != axis])
        assert (share - dropout).abs().max() < slack
    drops = first.eq(0).float().flatten(0, 2).cpu()
    for side in (drops[:256], drops[:256].T):  # neither rows nor columns know of each other
        assert torch.corrcoef(side).fill_diagonal_(0).abs().mean() < 1.2 / side.size(1) ** 0.5
