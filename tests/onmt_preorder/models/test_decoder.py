"""Our Transformer decoder: OpenNMT-py's where nothing else is asked for, and stepwise what it is at once."""

import pytest
import torch
from onmt.decoders.transformer import TransformerDecoder

from preorder.errors import UsageError
from tests.support.opennmt import make_opt
from tests.support.transformers import PLAIN, batch, decode, make_model

BLOCKS = [
    {},
    {"reordering_embedding": ["decoder"]},
    {"additional_position_encoding": ["decoder"]},
    {"target_max_relative": 2},
]


def decode_stepwise(model, src, src_len, tgt):
    enc_out, final, src_len = model.encoder(src, src_len)
    model.decoder.init_state(src, enc_out, final)
    steps = [
        model.decoder(tgt[:, step : step + 1], enc_out, src_len=src_len, step=step)[0]
        for step in range(tgt.size(1))
    ]
    return torch.cat(steps, dim=1)


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
    changes = {
        "layers": 2,
        "alignment_heads": 2,
        "alignment_layer": -1,
        "encoder_type": "transformer",
        **changes,
    }
    ours = make_model(**changes)
    theirs = make_model(**changes, **{**PLAIN, "decoder_type": "transformer"})
    assert type(theirs.decoder) is TransformerDecoder
    theirs.decoder.load_state_dict(ours.decoder.state_dict())
    theirs.encoder.load_state_dict(ours.encoder.state_dict())
    states, attention = decode(ours, *batch(), with_align=True)
    expected, expected_attention = decode(theirs, *batch(), with_align=True)
    torch.testing.assert_close(states, expected)
    for name in ("std", "align"):
        torch.testing.assert_close(attention[name], expected_attention[name])
    for model in (ours, theirs):
        model.decoder.train().update_dropout(0.4, 0.3)
    assert [m.p for m in ours.decoder.modules() if isinstance(m, torch.nn.Dropout)] == [
        m.p for m in theirs.decoder.modules() if isinstance(m, torch.nn.Dropout)
    ]


@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("block", BLOCKS)
def test_stepwise_decoding_is_decoding_at_once(placement, block):
    model = make_model(norm_placement=placement, layers=2, **block)
    src, src_len, tgt = batch()
    tgt = tgt.clone()
    tgt[1, 4:] = 5  # no padding while decoding
    torch.testing.assert_close(
        decode_stepwise(model, src, src_len, tgt), decode(model, src, src_len, tgt)[0], atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("block", BLOCKS)
def test_beams_that_change_places_take_their_cache_along(block):
    model = make_model(norm_placement="post", layers=2, **block)
    src, src_len, tgt = batch()
    enc_out, final, _ = model.encoder(src, src_len)
    model.decoder.init_state(src, enc_out, final)
    model.decoder(tgt[:, :1], enc_out, src_len=src_len, step=0)
    swap = torch.tensor([1, 0])
    model.decoder.map_state(lambda state, dim: state.index_select(dim, swap))
    swapped = model.decoder(tgt[swap, 1:2], enc_out[swap], src_len=src_len[swap], step=1)[0]
    expected = decode(model, src, src_len, tgt[:, :2])[0][swap, 1:]
    torch.testing.assert_close(swapped, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("block", BLOCKS)
def test_neither_padding_nor_what_follows_changes_a_token(placement, block):
    model = make_model(norm_placement=placement, layers=2, **block)
    src, src_len, tgt = batch()
    together = decode(model, src, src_len, tgt)[0]
    alone = decode(model, src[1:, :4], src_len[1:], tgt[1:, :4])[0]
    torch.testing.assert_close(together[1:, :4], alone)
    changed = tgt.clone()
    changed[:, 3:] = 6
    torch.testing.assert_close(decode(model, src, src_len, changed)[0][:, :3], together[:, :3])


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_norms(placement):
    """After post-norm layers no norm is left to be done; the residual stream itself is normal."""
    model = make_model(norm_placement=placement, layers=2)
    names = dict(model.named_parameters())
    for last in ("encoder.layer_norm.weight", "decoder.layer_norm.weight"):
        assert (last in names) == (placement == "pre")
    for states in (decode(model, *batch())[0], model.encoder(*batch()[:2])[0]):
        torch.testing.assert_close(states.mean(-1), torch.zeros(states.shape[:2]), atol=1e-5, rtol=0)
        torch.testing.assert_close(states.square().mean(-1), torch.ones(states.shape[:2]), atol=1e-3, rtol=0)


@pytest.mark.parametrize("recompute", [[], ["mha", "ffn"]])
def test_every_parameter_gets_a_gradient(recompute):
    model = make_model(
        reordering_embedding=["encoder", "decoder"],
        norm_placement="post",
        use_ckpting=recompute,
        target_max_relative=2,
    ).train()
    decode(model, *batch())[0][0].square().cumsum(-1).sum().backward()
    unused = {"keys.bias", "generator"}  # softmax does not see a shift of all keys
    for name, parameter in model.named_parameters():
        if not any(part in name for part in unused):
            assert parameter.grad is not None, name
            assert parameter.grad.any(), name


def test_relative_places_of_the_target_pair_by_pair():
    """Shaw et al. 2018, with one table for keys and one for values, for each pair of a query and a key."""
    attention = make_model(target_max_relative=2).decoder.transformer_layers[0].self_attn
    states = torch.randn(1, 6, 64, generator=torch.Generator().manual_seed(3))
    mask = torch.ones(6, 6).triu(1).bool()[None, None]
    result = attention(states, states, states, mask=mask)[0]
    query, key, value = (
        linear(states[0]).view(6, 4, 16)
        for linear in (attention.linear_query, attention.linear_keys, attention.linear_values)
    )
    keys, values = attention.relative.keys.weight, attention.relative.values.weight
    for i in range(6):
        heads = []
        for head in range(4):
            rows = [max(-2, j - i) + 2 for j in range(i + 1)]
            scores = torch.stack(
                [query[i, head] @ (key[j, head] + keys[row]) / 4 for j, row in enumerate(rows)]
            )
            read = torch.stack([value[j, head] + values[row] for j, row in enumerate(rows)])
            heads.append(scores.softmax(0) @ read)
        torch.testing.assert_close(result[0, i], attention.final_linear(torch.cat(heads)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target_max_relative": 2, "decoder_type": "transformer"}, "target_max_relative needs decoder_type"),
        ({"target_max_relative": -1}, "target_max_relative counts from 0"),
        (
            {"target_max_relative": 2, "max_relative_positions": 3, "position_encoding": False},
            "max_relative_positions does not work with target_max_relative",
        ),
        ({"target_max_relative": 2, "sliding_window": 3}, "sliding_window does not work"),
        ({"parallel_residual": True, "encoder_type": "transformer"}, "parallel_residual does not work"),
        ({"num_experts": 2}, "num_experts does not work with decoder_type"),
        ({"self_attn_type": "average"}, "self_attn_type: average does not work"),
        (
            {"parallel_mode": "tensor_parallel", "world_size": 2, "encoder_type": "transformer"},
            "tensor_parallel does not work with decoder_type",
        ),
        ({"norm_placement": "post", "decoder_type": "transformer"}, "post needs decoder_type"),
        ({"norm_placement": "post", "encoder_type": "transformer"}, "post needs encoder_type"),
        ({"reordering_embedding": ["decoder"], "decoder_type": "transformer"}, "needs decoder_type"),
        ({"reordering_embedding": ["encoder"], "encoder_type": "transformer"}, "needs encoder_type"),
        (
            {"reordering_embedding": ["encoder"], "additional_position_encoding": ["encoder", "decoder"]},
            "exclude each other in the encoder",
        ),
        (
            {"additional_position_encoding": ["decoder"], "position_encoding_type": "SinusoidalConcat"},
            "needs position_encoding_type: SinusoidalInterleaved",
        ),
        (
            {"tgt_word_vec_size": 32, "word_vec_size": -1, "src_word_vec_size": 64},
            "hidden_size 64 is not word_vec_size 32",
        ),
    ],
)
def test_what_cannot_be(changes, message):
    with pytest.raises(UsageError, match=message):
        make_opt(**{**PLAIN, **changes})
