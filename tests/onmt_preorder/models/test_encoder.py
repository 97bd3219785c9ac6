"""The encoder as a whole."""

import math
import random

import pytest
import torch
from onmt.encoders.transformer import TransformerEncoder
from onmt.model_builder import build_model
from onmt.modules.embeddings import PositionalEncoding

from onmt_preorder.transformer.sinusoidal import sinusoidal
from preorder.errors import UsageError
from tests.support.opennmt import make_opt
from tests.support.transformers import (
    FEATURES,
    LONG,
    SHORT,
    WORDS,
    batch_of,
    make_encoder,
    make_vocabs,
)

ALL = {"preorder_encoding": ["absolute", "relative"]}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"add_qkvbias": False, "add_ffnbias": False},
        {"layer_norm": "rms", "pos_ffn_activation_fn": "silu"},
        {"pos_ffn_activation_fn": "gated-gelu", "position_encoding": False},
        {"norm_eps": 0.1, "layers": 2},
    ],
)
def test_without_encodings_it_is_the_encoder_of_opennmt(changes):
    changes = {"preorder_encoding": [], "source_max_relative": 0, "layers": 2, **changes}
    ours = make_encoder(**changes)
    embeddings = make_encoder(**changes).embeddings
    theirs = TransformerEncoder.from_opt(make_opt(**changes), embeddings).eval()
    theirs.load_state_dict(ours.state_dict())
    src, src_len = batch_of(LONG, SHORT)
    expected = theirs(src[:, :, :1], src_len)[0]
    torch.testing.assert_close(ours(src, src_len)[0], expected)
    ours, theirs = ours.train(), theirs.train()
    for encoder in (ours, theirs):
        torch.manual_seed(2)
        encoder.update_dropout(0.4, 0.3)
    assert [m.p for m in ours.modules() if isinstance(m, torch.nn.Dropout)] == [
        m.p for m in theirs.modules() if isinstance(m, torch.nn.Dropout)
    ]


@pytest.mark.parametrize("encoding", [[], ["absolute"], ["relative"], ["absolute", "relative"]])
@pytest.mark.parametrize("source_max_relative", [0, 4])
def test_padding_changes_nothing(encoding, source_max_relative):
    encoder = make_encoder(preorder_encoding=encoding, source_max_relative=source_max_relative, layers=2)
    alone = encoder(*batch_of(SHORT))[0]
    together = encoder(*batch_of(LONG, SHORT))[0]
    torch.testing.assert_close(together[1, : len(SHORT)], alone[0])


@pytest.mark.parametrize("encoding", [["absolute"], ["relative"]])
def test_positions_matter(encoding):
    encoder = make_encoder(preorder_encoding=encoding)
    other = [(word, len(LONG) - 1 - position) for word, position in LONG]
    states = encoder(*batch_of(LONG, other))[0]
    assert not torch.allclose(states[0], states[1])


def test_the_baseline_looks_at_no_positions():
    encoder = make_encoder(preorder_encoding=[])
    src, src_len = batch_of(LONG)
    assert encoder(src, src_len)[0].equal(encoder(src[:, :, :1], src_len)[0])


def test_positions_are_decoded_whatever_the_ids():
    shuffled = random.Random(3).sample(FEATURES, len(FEATURES))
    states = [
        make_encoder(features, **ALL)(*batch_of(LONG, SHORT, features=features))[0]
        for features in (FEATURES, shuffled)
    ]
    assert states[0].equal(states[1])


def test_truncation_keeps_the_order_of_what_is_left():
    encoder = make_encoder(**ALL)
    cut = LONG[:4]  # positions 2 0 4 1
    ranked = [(word, rank) for (word, _), rank in zip(cut, [2, 0, 3, 1], strict=True)]
    assert encoder(*batch_of(cut))[0].equal(encoder(*batch_of(ranked))[0])


@pytest.mark.parametrize("position_encoding", [True, False])
def test_absolute_adds_the_encoding_of_the_preordered_place(position_encoding):
    encoder = make_encoder(
        preorder_encoding=["absolute"], position_encoding=position_encoding, source_max_relative=0
    )
    seen = []
    encoder.transformer[0].register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0]))
    encoder(*batch_of(LONG))
    size = 64
    for i, (word, position) in enumerate(LONG):
        expected = encoder.embeddings.word_lut.weight[WORDS.index(word)] * math.sqrt(size)
        for place in [position, i] if position_encoding else [position]:
            angles = [place / 10000 ** (2 * q / size) for q in range(size // 2)]
            both = [value for angle in angles for value in (math.sin(angle), math.cos(angle))]
            expected = expected + torch.tensor(both)
        torch.testing.assert_close(seen[0][0, i], expected)


def test_sinusoidal_encoding_is_that_of_opennmt():
    table = PositionalEncoding(64, "SinusoidalInterleaved").pe.squeeze(1)
    torch.testing.assert_close(sinusoidal(torch.arange(5000), 64), table, atol=1e-3, rtol=0)
    torch.testing.assert_close(sinusoidal(torch.arange(100), 64), table[:100])


def test_sinusoidal_encoding_of_an_odd_size_ends_with_a_sine():
    positions = torch.arange(9)
    encoded = sinusoidal(positions, 5)
    for number, at in enumerate((0, 0, 2, 2, 4)):
        angle = positions / 10000 ** (at / 5)
        torch.testing.assert_close(encoded[:, number], angle.cos() if number % 2 else angle.sin())


def test_dropout_of_the_embeddings_covers_the_preordered_places():
    encoder = make_encoder(preorder_encoding=["absolute"]).train()
    encoder.update_dropout(1.0, 0.0)
    seen = []
    encoder.transformer[0].register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0]))
    encoder(*batch_of(LONG))
    assert not seen[0].any()


def test_opennmt_initialises_every_table():
    encoder = make_encoder(**ALL, layers=2, preorder_max_relative_values=2, param_init=0.01)
    tables = {
        name: parameter
        for name, parameter in encoder.named_parameters()
        if ".original." in name or ".preordered." in name
    }
    assert {name.partition("self_attn.")[2]: tuple(p.shape) for name, p in tables.items()} == {
        "original.keys.weight": (9, 16),
        "original.values.weight": (9, 16),
        "preordered.keys.weight": (9, 16),
        "preordered.values.weight": (5, 16),
    }
    assert len(tables) == 8
    assert all(p.abs().max() <= 0.01 for p in encoder.parameters())
    glorot = dict(make_encoder(**ALL).named_parameters())
    assert glorot["transformer.0.self_attn.original.keys.weight"].std() > 0.1


@pytest.mark.parametrize("recompute", [[], ["mha", "ffn"]])
def test_every_parameter_gets_a_gradient(recompute):
    encoder = make_encoder(**ALL, layers=2, use_ckpting=recompute).train()
    encoder(*batch_of(LONG, SHORT))[0].square().sum().backward()
    assert all(
        p.grad is not None and p.grad.any()
        for n, p in encoder.named_parameters()
        if "linear_keys.bias" not in n
    )


def test_recomputing_changes_nothing():
    gradients = []
    for recompute in ([], ["mha", "ffn"]):
        encoder = make_encoder(**ALL, use_ckpting=recompute, attention_dropout=[0.5]).train()
        torch.manual_seed(5)
        encoder(*batch_of(LONG, SHORT))[0].square().sum().backward()
        gradients.append([p.grad for p in encoder.parameters()])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_refusion_doubles_positions():
    encoder = make_encoder(**ALL, explicit_reordering="refsr", layers=2, decoder_type="preorder_transformer")
    twice = encoder._source(*batch_of(SHORT, LONG)).twice.preordered
    assert twice.tensor.shape == (4, 6)
    assert encoder(*batch_of(SHORT, LONG))[0].isfinite().all()
    assert encoder.additional_loss().statistics["similarity"][1] == 9


def test_half_precision():
    encoder = make_encoder(**ALL)
    batch = batch_of(LONG, SHORT)
    exact = encoder(*batch)[0]
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(encoder(*batch)[0].float(), exact, atol=0.1, rtol=0.1)
    torch.testing.assert_close(encoder.half()(*batch)[0].float(), exact, atol=0.02, rtol=0.02)


def test_no_positions_to_be_had():
    src, src_len = batch_of(LONG)
    with pytest.raises(UsageError, match="the model needs source positions"):
        make_encoder(**ALL)(src[:, :, :1], src_len)
    opt = make_opt()
    vocabs = make_vocabs()
    del vocabs["src_feats"]
    with pytest.raises(UsageError, match="needs the positions as source feature"):
        build_model(opt, opt, vocabs, None, -1)


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_slots_of_a_layer(placement):
    """What the two slots get and give: an encoder layer between other ideas."""
    layer = make_encoder(**ALL, norm_placement=placement, decoder_type="preorder_transformer").transformer[0]
    source = make_encoder(**ALL)._source(*batch_of(LONG, SHORT))
    states = torch.randn(2, len(LONG), 64)
    seen = {}
    layer.self_attn.register_forward_pre_hook(lambda module, arguments: seen.update(read=arguments[0]))
    layer.feed_forward.register_forward_pre_hook(lambda module, arguments: seen.update(fed=arguments[0]))
    expected, learned = layer(states, source)
    assert learned is None
    fed = seen["fed"]
    norm = layer.feed_forward.layer_norm
    given = {}

    class AfterAttention(torch.nn.Module):
        def forward(self, *arguments):
            given["attention"] = arguments
            return arguments[1] + 1

    class AfterLayer(torch.nn.Module):
        def forward(self, *arguments):
            given["layer"] = arguments
            return arguments[0] * 2

    layer.after_attention, layer.after_layer = AfterAttention(), AfterLayer()
    result, learned = layer(states, source)
    read, attended, encodings = given["attention"]
    assert read.equal(seen["read"])
    assert attended.equal(fed)
    torch.testing.assert_close(encodings, sinusoidal(torch.arange(len(LONG)), 64))
    change = layer.feed_forward(fed + 1) - layer.feed_forward(fed)
    if placement == "pre":
        torch.testing.assert_close(given["layer"][0], expected + change)
    else:  # the residual by-passes the slot, and the norm comes last
        torch.testing.assert_close(given["layer"][0], norm(fed + layer.feed_forward(fed + 1)))
    assert given["layer"][1] is source
    assert learned.equal(given["layer"][0] * 2)
    assert result.equal(given["layer"][0] + learned)
