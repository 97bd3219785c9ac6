"""Our Transformer: OpenNMT-py's where nothing else is asked for; what its encodings and slots add."""

import math
import random

import pytest
import torch
from onmt.decoders.transformer import TransformerDecoder
from onmt.encoders.transformer import TransformerEncoder
from onmt.model_builder import build_model
from onmt.modules.embeddings import PositionalEncoding

from onmt_preorder.cpu.dropout import draw_cheaply
from onmt_preorder.transformer.attention import Positions, RelativePart
from onmt_preorder.transformer.sinusoidal import encodings, sinusoidal
from preorder.errors import UsageError
from tests.support.attention import attention_by_pairs
from tests.support.opennmt import make_opt
from tests.support.transformers import (
    FEATURES,
    LONG,
    SHORT,
    WORDS,
    batch,
    batch_of,
    decode,
    dropout_rates,
    make_encoder,
    make_model,
    make_vocabs,
    position_encoding,
)

ALL = {"preorder_encoding": ["absolute", "relative"]}
RATES = {"dropout": [0.2], "attention_dropout": [0.1]}
PLACEMENTS = pytest.mark.parametrize("placement", ["pre", "post"])
EVERY_BLOCK = pytest.mark.parametrize(
    "block",
    [
        {},
        {"reordering_embedding": ["encoder", "decoder"]},
        {"additional_position_encoding": ["encoder", "decoder"]},
        {"target_max_relative": 2},
        {"explicit_reordering": "exgre", "reordering_loss_weight": 0},
        {"explicit_reordering": "refsr", "reordering_loss_weight": 0},
    ],
    ids=["plain", "embedding", "additional", "relative", "exgre", "refsr"],
)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"add_qkvbias": False, "add_ffnbias": False},
        {"layer_norm": "rms", "pos_ffn_activation_fn": "silu"},
        {"pos_ffn_activation_fn": "gated-gelu", "position_encoding": False},
        {"norm_eps": 0.1},
    ],
)
def test_without_encodings_it_is_the_encoder_of_opennmt(changes):
    changes = {"preorder_encoding": [], "source_max_relative": 0, "layers": 2, **RATES, **changes}
    ours = make_encoder(**changes)
    embeddings = make_encoder(**changes).embeddings
    theirs = TransformerEncoder.from_opt(make_opt(**changes), embeddings).eval()
    theirs.load_state_dict(ours.state_dict())
    src, src_len = batch_of(LONG, SHORT)
    torch.testing.assert_close(ours(src, src_len)[0], theirs(src[:, :, :1], src_len)[0])
    assert ours(src, src_len)[0].equal(ours(src[:, :, :1], src_len)[0])
    assert dropout_rates(ours) == dropout_rates(theirs)
    draw_cheaply(theirs)  # as ours
    dropped = []
    for encoder in (ours, theirs):
        encoder.train().update_dropout(0.4, 0.0)  # attention's is drawn in another way
        torch.manual_seed(3)
        dropped.append(encoder(src[:, :, :1], src_len)[0])
    torch.testing.assert_close(*dropped)
    for encoder in (ours, theirs):
        encoder.update_dropout(0.4, 0.3)
    assert dropout_rates(ours) == dropout_rates(theirs)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"add_qkvbias": False, "layer_norm": "rms", "pos_ffn_activation_fn": "silu"},
        {"max_relative_positions": 3, "position_encoding": False},
        {"max_relative_positions": -1, "position_encoding": False, "sliding_window": 2, "num_kv": 2},
    ],
)
def test_without_blocks_it_is_the_decoder_of_opennmt(changes):
    alignment = {"alignment_heads": 2, "alignment_layer": -1}
    changes = {"layers": 2, **alignment, "encoder_type": "transformer", **RATES, **changes}
    ours, theirs = make_model(**changes), make_model(**changes, decoder_type="transformer")
    assert type(theirs.decoder) is TransformerDecoder
    theirs.decoder.load_state_dict(ours.decoder.state_dict())
    theirs.encoder.load_state_dict(ours.encoder.state_dict())
    states, attention = decode(ours, *batch(), with_align=True)
    expected, expected_attention = decode(theirs, *batch(), with_align=True)
    torch.testing.assert_close(states, expected)
    for name in ("std", "align"):
        torch.testing.assert_close(attention[name], expected_attention[name])
    assert dropout_rates(ours.decoder) == dropout_rates(theirs.decoder)
    draw_cheaply(theirs.decoder)  # as ours
    dropped = []
    for model in (ours, theirs):
        model.decoder.train().update_dropout(0.4, 0.3)
        torch.manual_seed(3)
        dropped.append(decode(model, *batch())[0])
    torch.testing.assert_close(*dropped)
    assert dropout_rates(ours.decoder) == dropout_rates(theirs.decoder)


@PLACEMENTS
@EVERY_BLOCK
def test_stepwise_decoding_is_decoding_at_once_also_for_beams_that_change_places(placement, block):
    model = make_model(norm_placement=placement, layers=2, **block)
    src, src_len, tgt = batch()
    tgt[1, 4:] = 5  # no padding while decoding
    expected = decode(model, src, src_len, tgt)[0]
    enc_out, final, src_len = model.encoder(src, src_len)
    model.decoder.init_state(src, enc_out, final)
    order = torch.tensor([0, 1])
    for step in range(tgt.size(1)):
        word = tgt[order, step : step + 1]
        found, _ = model.decoder(word, enc_out[order], src_len=src_len[order], step=step)
        torch.testing.assert_close(found[:, 0], expected[order, step], atol=1e-5, rtol=1e-4)
        if step == 2:
            order = torch.tensor([1, 0])
            model.decoder.map_state(lambda state, dim: state.index_select(dim, torch.tensor([1, 0])))


@PLACEMENTS
@EVERY_BLOCK
def test_neither_padding_nor_what_follows_changes_a_token(placement, block):
    model = make_model(norm_placement=placement, layers=2, **block)
    src, src_len, tgt = batch()
    together = decode(model, src, src_len, tgt)[0]
    alone = decode(model, src[1:, :4], src_len[1:], tgt[1:, :4])[0]
    torch.testing.assert_close(together[1:, :4], alone)
    tgt[:, 3:] = 6
    torch.testing.assert_close(decode(model, src, src_len, tgt)[0][:, :3], together[:, :3])


@PLACEMENTS
def test_norms(placement):
    """After post-norm layers no norm is left to be done; the residual stream itself is normal."""
    model = make_model(norm_placement=placement, layers=2)
    names = dict(model.named_parameters())
    for last in ("encoder.layer_norm.weight", "decoder.layer_norm.weight"):
        assert (last in names) == (placement == "pre")
    for states in (decode(model, *batch())[0], model.encoder(*batch()[:2])[0]):
        torch.testing.assert_close(states.mean(-1), torch.zeros(states.shape[:2]), atol=1e-5, rtol=0)
        torch.testing.assert_close(states.square().mean(-1), torch.ones(states.shape[:2]), atol=1e-3, rtol=0)


def test_relative_positions_of_the_target_pair_by_pair():
    """Shaw et al. 2018, with one table for keys and one for values, for each pair of a query and a key."""
    attention = make_model(target_max_relative=2).decoder.transformer_layers[0].self_attn
    states = torch.randn(1, 6, 64, generator=torch.Generator().manual_seed(3))
    mask = torch.ones(6, 6).triu(1).bool()[None, None]
    result = attention(states, states, states, mask=mask)[0]
    linears = attention.linear_query, attention.linear_keys, attention.linear_values
    tables = attention.relative.keys.weight, attention.relative.values.weight
    for n in range(1, 7):
        read = [linear(states[:, :n]).view(1, n, 4, 16).transpose(1, 2) for linear in linears]
        part = RelativePart(Positions(torch.arange(n).unsqueeze(0)), *tables)
        expected = attention_by_pairs(*read, [n], [part])[0, :, -1].flatten()
        torch.testing.assert_close(result[0, n - 1], attention.final_linear(expected))


def test_attention_with_relative_positions_of_the_target_drops_out():
    attention = make_model(target_max_relative=2).decoder.transformer_layers[0].self_attn.train()
    attention.update_dropout(1.0)
    states = torch.randn(1, 6, 64, generator=torch.Generator().manual_seed(3))
    result, weights = attention(states, states, states)
    torch.testing.assert_close(result[0], attention.final_linear.bias.expand(6, -1))
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 4, 6))  # as they were


def test_positions_are_decoded_whatever_the_ids_and_padding_and_ranked_where_the_sentence_is_cut():
    shuffled = random.Random(3).sample(FEATURES, len(FEATURES))
    encoder, other = make_encoder(**ALL), make_encoder(shuffled, **ALL)
    expected = encoder(*batch_of(LONG, SHORT))[0]
    assert other(*batch_of(LONG, SHORT, features=shuffled))[0].equal(expected)
    torch.testing.assert_close(expected[1, : len(SHORT)], encoder(*batch_of(SHORT))[0][0])
    cut = LONG[:4]  # positions 2 0 4 1
    ranked = [(word, rank) for (word, _), rank in zip(cut, [2, 0, 3, 1], strict=True)]
    assert encoder(*batch_of(cut))[0].equal(encoder(*batch_of(ranked))[0])


def first_reads(encoder):
    """Return what the first layer reads of LONG."""
    seen = []
    encoder.transformer[0].register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0]))
    encoder(*batch_of(LONG))
    return seen[0]


@pytest.mark.parametrize(("with_original", "scaled"), [(True, False), (False, False), (False, True)])
def test_absolute_adds_the_encoding_of_the_preordered_position(with_original, scaled):
    changes = {"preorder_encoding": ["absolute"], "source_max_relative": 0, "scale_embeddings": scaled}
    encoder = make_encoder(**changes, position_encoding=with_original)
    read = first_reads(encoder)
    for i, (word, position) in enumerate(LONG):
        expected = encoder.embeddings.word_lut.weight[WORDS.index(word)] * math.sqrt(64)
        for place in [position, i] if with_original else [position]:
            expected = expected + torch.tensor(position_encoding(place, 64))
        torch.testing.assert_close(read[0, i], expected)
    encoder.train().update_dropout(1.0, 0.0)  # of the whole sum
    assert not first_reads(encoder).any()


def test_sinusoidal_encoding():
    table = PositionalEncoding(64, "SinusoidalInterleaved").pe.squeeze(1)
    torch.testing.assert_close(sinusoidal(torch.arange(5000), 64), table, atol=1e-3, rtol=0)
    torch.testing.assert_close(sinusoidal(torch.arange(100), 64), table[:100])
    odd = torch.tensor([position_encoding(position, 5) for position in range(9)])
    torch.testing.assert_close(sinusoidal(torch.arange(9), 5), odd)
    for begin, end in ((-3, 7), (-9, 700), (600, 1500)):
        assert encodings(begin, end, odd).equal(sinusoidal(torch.arange(begin, end), 5))


def test_opennmt_initialises_every_table():
    encoder = make_encoder(**ALL, layers=2, preorder_max_relative=2, param_init=0.01)
    tables = [p for name, p in encoder.named_parameters() if ".original." in name or ".preordered." in name]
    assert [tuple(table.shape) for table in tables] == [(9, 16), (9, 16), (5, 16), (5, 16)] * 2
    assert all(p.abs().max() <= 0.01 for p in encoder.parameters())
    glorot = dict(make_encoder(**ALL).named_parameters())
    assert glorot["transformer.0.self_attn.original.keys.weight"].std() > 0.1


def test_no_positions_to_be_had():
    src, src_len = batch_of(LONG)
    with pytest.raises(UsageError, match="the model needs source positions"):
        make_encoder(**ALL)(src[:, :, :1], src_len)
    opt = make_opt()
    with pytest.raises(UsageError, match="needs the positions as source feature"):
        build_model(opt, opt, make_vocabs(None), None, -1)
