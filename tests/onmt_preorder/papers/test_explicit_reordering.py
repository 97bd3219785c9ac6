"""Explicit reordering against the paper's equations, token by token."""

import math

import pytest
import torch

from onmt_preorder.papers.explicit_reordering import ExplicitConfig, ExplicitReordering, reordering_loss
from onmt_preorder.transformer.attention import Positions
from onmt_preorder.transformer.self_attention import SourceBatch
from tests.support.transformers import (
    LONG,
    SHORT,
    batch_of,
    make_encoder,
    position_encoding,
    randomise,
    times,
)

SIZE = 8
PAPER = {"distance": 0.5, "window": 0.5, "rank": 0, "loss_weight": 0.6}
OURS = {
    "explicit_reordering": "exgre",
    "preorder_encoding": [],
    "decoder_type": "preorder_transformer",
    "norm_placement": "post",
}


def naive_position(block, state, length):
    """Equation 5 for one token."""
    for linear in block.hidden:
        state = times(linear.weight, state)
    (logit,) = times(block.place.weight, [math.tanh(x) for x in state])
    return length / (1 + math.exp(-logit))


def naive_encoding(position, distance, window):
    """Equation 6 for one token."""
    summed = [0.0] * SIZE
    for s in range(-10, 30):
        if position - window <= s <= position + window:
            factor = math.exp(-((s - position) ** 2) / (2 * (distance / 2)))
            summed = [x + factor * e for x, e in zip(summed, position_encoding(s, SIZE), strict=True)]
    return summed


def options(**changes):
    """Return the paper's, with changes."""
    return ExplicitConfig(**{f"reordering_{name}": value for name, value in {**PAPER, **changes}.items()})


def source_of(encoder, src, src_len):
    padding = torch.arange(src.size(1)) >= src_len.unsqueeze(1)
    preordered = Positions(encoder.positions(src, padding)) if encoder.needs_positions else None
    original = Positions(torch.arange(src.size(1)).unsqueeze(0))
    return SourceBatch(padding, src_len, original, preordered)


def make_block(**changes):
    return randomise(ExplicitReordering(SIZE, options(**changes)).double())


def states():
    return torch.randn(2, 5, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize(("distance", "window"), [(0.5, 0.5), (0.5, 2.0), (3.0, 3.0), (1.0, 1.7)])
def test_the_block_is_the_papers_equations(rank, distance, window):
    block, given, lengths = make_block(rank=rank, distance=distance, window=window), states(), [5, 3]
    positions = block.positions(given, torch.tensor(lengths))
    encodings = block.encode(positions, given)
    for sentence, length in enumerate(lengths):
        for j in range(length):
            position = naive_position(block, given[sentence, j].tolist(), length)
            assert positions[sentence, j].item() == pytest.approx(position, rel=1e-9)
            expected = naive_encoding(position, distance, window)
            torch.testing.assert_close(encodings[sentence, j].tolist(), expected, atol=1e-5, rtol=1e-5)


def test_positions_and_the_loss_are_float32_at_least():
    """bfloat16 has 8 bits: from 128 on it rounds positions to whole numbers."""
    block, given = make_block().bfloat16(), states().bfloat16()
    positions = block.positions(given, torch.tensor([5, 3]))
    encodings = block.encode(positions, given)
    padding, targets = torch.zeros(2, 5, dtype=torch.bool), torch.arange(5).expand(2, -1)
    loss = reordering_loss(encodings, targets, padding, options())
    assert (positions.dtype, encodings.dtype, loss.dtype) == (torch.float32, torch.bfloat16, torch.float32)


@pytest.mark.parametrize("distance", [0.5, 1.5])
def test_the_window_may_be_the_distance_as_in_the_paper(distance):
    encoder = make_encoder(**OURS, reordering_window=-1, reordering_distance=distance)
    assert encoder.transformer[0].after_layer.window == distance


@pytest.mark.parametrize("window", [0.5, 1.0, 2.0])
def test_positions_on_a_window_s_edge_and_at_a_sentence_s_ends(window):
    block = make_block(window=window)
    positions = torch.tensor([[0.0, 0.5, 1.0, 1.5, 4.0]], dtype=torch.float64)
    encodings = block.encode(positions, positions.new_empty(1, 5, SIZE))
    for position, encoding in zip(positions[0].tolist(), encodings[0], strict=True):
        expected = naive_encoding(position, 0.5, window)
        torch.testing.assert_close(encoding.tolist(), expected, atol=1e-5, rtol=1e-5)
        assert encoding.norm() > 1  # no position is without an encoding


@pytest.mark.parametrize(("window", "has_gradient"), [(0.5, False), (2.0, True)])
def test_the_loss_teaches_positions_only_if_the_window_holds_several(window, has_gradient):
    """One scaled vector has the same cosine whatever the scale: the paper's D = 0.5 teaches nothing."""
    positions = torch.tensor([[0.3, 2.2, 1.8]], dtype=torch.float64, requires_grad=True)
    block = make_block(window=window)
    encodings = block.encode(positions, positions.new_empty(1, 3, SIZE))
    padding = torch.zeros(1, 3, dtype=torch.bool)
    reordering_loss(encodings, torch.tensor([[2, 0, 1]]), padding, options()).backward()
    assert (positions.grad.abs() > 1e-6).all() == has_gradient
    assert (positions.grad.abs() < 1e-12).all() != has_gradient


def test_the_loss_is_the_papers_equation():
    generator = torch.Generator().manual_seed(4)
    reordered = torch.randn(2, 4, SIZE, generator=generator, dtype=torch.float64)
    positions, lengths = [[2, 0, 3, 1], [1, 0]], [4, 2]
    padding = torch.tensor([[False] * 4, [False, False, True, True]])
    given = torch.tensor([positions[0], [*positions[1], 2, 3]])
    result = reordering_loss(reordered, given, padding, options())
    cosines = []
    for sentence, length in enumerate(lengths):
        for j in range(length):
            one, other = reordered[sentence, j].tolist(), position_encoding(positions[sentence][j], SIZE)
            product = sum(a * b for a, b in zip(one, other, strict=True))
            cosines.append(product / math.hypot(*one) / math.hypot(*other))
    assert len(cosines) == 6
    assert result.item() == pytest.approx(-0.6 * sum(cosines), rel=1e-6)


@pytest.mark.parametrize("kind", ["exgre", "refsr"])
def test_padding_does_not_change_the_loss(kind):
    encoder = make_encoder(**OURS | {"explicit_reordering": kind})
    losses = []
    for sentences in ((LONG, SHORT), (LONG,), (SHORT,)):
        encoder(*batch_of(*sentences))
        losses.append(encoder.additional_loss())
    torch.testing.assert_close(losses[0], losses[1] + losses[2])


@pytest.mark.parametrize("kind", ["exgre", "refsr"])
def test_translation_needs_no_positions(kind):
    encoder = make_encoder(**OURS | {"explicit_reordering": kind})
    src, src_len = batch_of(LONG, SHORT)
    expected = encoder(src, src_len)[0]
    assert encoder.additional_loss() is not None
    assert encoder(src[:, :, :1], src_len)[0].equal(expected)
    assert encoder.additional_loss() is None
    src, _ = batch_of([(word, "_") for word, _ in LONG], [(word, "_") for word, _ in SHORT])
    assert encoder(src, src_len)[0].equal(expected)


def test_the_loss_sees_the_ranks_of_the_given_positions():
    encoder = make_encoder(**OURS)
    src, src_len = batch_of([("w1", 7), ("w2", "_"), ("w3", 0)], SHORT)
    encoder(src, src_len)
    learned, given, padding = encoder._seen
    positions = torch.tensor([[2, 1, 0], [1, 2, 0]])
    assert given.equal(positions)
    expected = reordering_loss(learned, positions, padding, encoder.explicit)
    assert encoder.additional_loss().equal(expected)


def test_every_layer_reorders_and_the_last_is_supervised():
    encoder = make_encoder(**OURS, layers=3)
    for layer in encoder.transformer:
        layer.after_layer = randomise(layer.after_layer)
    src, src_len = batch_of(LONG)
    output = encoder(src, src_len)[0]
    states, source = encoder.embeddings(src[:, :, :1]), source_of(encoder, src, src_len)
    for layer in encoder.transformer:
        transformed = layer.transform(states, source)
        learned = layer.after_layer(transformed, source)
        states = transformed + learned
    torch.testing.assert_close(output, states)
    torch.testing.assert_close(encoder._seen[0], learned)


@pytest.mark.parametrize("encoding", [[], ["relative"]])
def test_fusion_is_two_runs_and_a_gate(encoding):
    changes = {"explicit_reordering": "refsr", "preorder_encoding": encoding}
    encoder = make_encoder(**OURS | changes, layers=3)
    for module in (encoder.fusion, *(layer.after_layer for layer in encoder.transformer)):
        randomise(module)
    src, src_len = batch_of(LONG, SHORT)
    result = encoder(src, src_len)[0]
    embedded, source = encoder.embeddings(src[:, :, :1]), source_of(encoder, src, src_len)
    plain = reordered = embedded
    for layer in encoder.transformer:
        plain, (reordered, _) = layer.transform(plain, source), layer(reordered, source)
    u, w = encoder.fusion.plain.weight[0], encoder.fusion.reordered.weight[0]
    for sentence in range(2):
        for j in range(src_len[sentence]):
            h, bar = plain[sentence, j], reordered[sentence, j]
            gate = 1 / (1 + math.exp(-(u @ h + w @ bar).item()))
            torch.testing.assert_close(result[sentence, j], gate * bar + (1 - gate) * h, atol=1e-5, rtol=1e-4)
