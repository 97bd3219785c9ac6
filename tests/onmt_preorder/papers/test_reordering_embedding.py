"""Reordering embeddings against the paper's equations, token by token."""

import math

import pytest
import torch

from onmt_preorder.opennmt.options.helpers import layer_settings
from onmt_preorder.papers.reordering_embedding import AdditionalEncoding, ReorderingEmbedding
from onmt_preorder.transformer.config import EncoderConfig
from onmt_preorder.transformer.layers import EncoderLayer
from onmt_preorder.transformer.sinusoidal import encodings
from tests.support.opennmt import make_opt
from tests.support.transformers import position_encoding, randomise, times

SIZE = 8


def config(**changes):
    sizes = {"hidden_size": SIZE, "word_vec_size": SIZE, "heads": 2, "transformer_ff": 16}
    return EncoderConfig(**layer_settings(make_opt(**sizes, preorder_encoding=[], **changes)))


def naive_block(block, read, attended, position):
    """Equations 6 to 8 for one token, in Python's own floats."""
    added = position_encoding(position, len(read))
    if isinstance(block, ReorderingEmbedding):
        sums = zip(
            times(block.linear_read.weight, read), times(block.linear_attended.weight, attended), strict=True
        )
        hidden = [math.tanh(a + b) for a, b in sums]
        penalty = [1 / (1 + math.exp(-x)) for x in times(block.linear_penalty.weight, hidden)]
        added = [x * p for x, p in zip(added, penalty, strict=True)]
    summed = [a + x for a, x in zip(attended, added, strict=True)]
    return block.layer_norm(torch.tensor(summed, dtype=torch.float64)).tolist()


@pytest.fixture(params=[AdditionalEncoding, ReorderingEmbedding])
def block(request):
    return randomise(request.param(config()).double())


def states():
    generator = torch.Generator().manual_seed(2)
    return [torch.randn(2, 5, SIZE, generator=generator, dtype=torch.float64) for _ in range(2)]


@pytest.mark.parametrize("begin", [0, 7])
def test_the_block_is_the_papers_equations(block, begin):
    read, attended = states()
    result = block(read, attended, encodings(begin, begin + 5, read))
    for sentence in range(2):
        for j in range(5):
            expected = naive_block(
                block, read[sentence, j].tolist(), attended[sentence, j].tolist(), begin + j
            )
            torch.testing.assert_close(result[sentence, j].tolist(), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_a_layer_is_the_papers_equation_9(placement):
    """``H^n = LN(FFN(C) + H̄)``: the residual is H̄, not C. Before a sub-layer, norms leave the residuals."""
    made = config(norm_placement=placement, decoder_type="preorder_transformer", source_max_relative=0)
    layer = randomise(EncoderLayer(made, ReorderingEmbedding(made))).eval().double()
    given, attended = states()
    layer.self_attn.forward = lambda read, source: attended + read  # attention has its own tests
    result, learned = layer(given, None)
    assert learned is None
    first, last = layer.layer_norm, layer.feed_forward.layer_norm
    for sentence in range(2):
        for j in range(5):
            x, a = given[sentence, j], attended[sentence, j]
            h = first(x) if placement == "pre" else x
            residual = x + a + h if placement == "pre" else first(x + a + h)
            bar = last(residual) if placement == "pre" else residual
            c = torch.tensor(naive_block(layer.after_attention, h.tolist(), bar.tolist(), j)).double()
            total = layer.feed_forward(c) + residual
            expected = total if placement == "pre" else last(total)
            torch.testing.assert_close(result[sentence, j], expected, atol=1e-5, rtol=1e-5)
