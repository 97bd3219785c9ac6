"""Systems on a Transformer: what the files under config/ say of them."""

import pytest
from onmt.bin.build_vocab import _get_parser as vocabulary_parser

from onmt_preorder.transformer.layer_options import LayerOptions
from onmt_preorder.transformer.options import EncodingOptions, Limits
from recipes.systems import CONFIG, SIZES, path_of, read_system
from tests.support.opennmt import checked_opt

RELATIVE = Limits(4, 4)
# Kawara et al. 2021, and what is compared there.
ENCODINGS = {
    "baseline_absolute": EncodingOptions(False, None, None),
    "baseline_absolute_relative": EncodingOptions(False, None, RELATIVE),
    "preorder_absolute": EncodingOptions(True, None, RELATIVE),
    "preorder_relative": EncodingOptions(False, RELATIVE, RELATIVE),
    "preorder_both": EncodingOptions(True, RELATIVE, RELATIVE),
    "gold": EncodingOptions(False, RELATIVE, RELATIVE),
    "reordered_text": EncodingOptions(False, None, RELATIVE),
}
# Chen et al. 2019 and 2020: what each has beside plain.
EXPLICIT = {"reordering_loss_weight": 0.6, "reordering_distance": 0.5}
LEARNED = {
    "plain": {},
    "plain_relative": {
        "source_max_relative": 16,
        "target_max_relative": 16,
        "position_encoding": False,
    },
    "plain_absolute_relative": {"source_max_relative": 16, "target_max_relative": 16},
    "plain_additional": {"additional_position_encoding": ["encoder", "decoder"]},
    "plain_predicted_text": {},
    "plain_gold_text": {},
    "reordering_encoder": {"reordering_embedding": ["encoder"]},
    "reordering_decoder": {"reordering_embedding": ["decoder"]},
    "reordering_both": {"reordering_embedding": ["encoder", "decoder"]},
    "preorder_reordering": {
        "preorder_encoding": ["relative"],
        "source_max_relative": 4,
        "reordering_embedding": ["encoder", "decoder"],
    },
    "exgre": {"explicit_reordering": "exgre", **EXPLICIT},
    "refsr": {"explicit_reordering": "refsr", **EXPLICIT},
    "exgre_predicted": {"explicit_reordering": "exgre", **EXPLICIT},
}
PLAIN = {"preorder_encoding": [], "source_max_relative": 0, "position_encoding": True}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("system", [*ENCODINGS, *LEARNED])
def test_opennmt_reads_it(size, system):
    opt = checked_opt(size, system)
    options = LayerOptions.from_opt(opt)
    assert options.qkv_bias  # Kawara's b^Q, b^K, b^V
    assert opt.n_src_feats == 1
    if system in ENCODINGS:
        assert options.encoding == ENCODINGS[system]
        assert opt.position_encoding
        assert options.pre_norm
    else:
        assert options.pre_norm == (size == "small_long")
        assert opt.decoder_type == "preorder_transformer"
        assert {key: getattr(opt, key) for key in PLAIN | LEARNED[system]} == PLAIN | LEARNED[system]


def test_the_vocabulary_is_for_the_same_model():
    given = ["-config", str(path_of("gold")), "-data", "{}", "-src_vocab", "v", "-tgt_vocab", "v"]
    opt = vocabulary_parser().parse_known_args([*given, "-size", "paper", "-save_data", "d"])[0]
    assert (opt.encoder_type, opt.transforms) == ("preorder_transformer", ["filtertoolong"])


def test_a_system_alone_is_small():
    assert read_system("plain", "small") == read_system("plain", None)


def test_every_system_is_tested_and_says_what_it_reads():
    found = {path.stem for path in (CONFIG / "system").glob("*.yaml")}
    others = {"rnnsearch", "rnnsearch_longer", "distortion_source", "distortion_target", "distortion_hidden"}
    others |= {"npmt", "npmt_no_reordering", "npmt_attention"}
    assert found == {*ENCODINGS, *LEARNED} | others
    for system in found:
        assert read_system(system, "tiny").name == system


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (
            "preorder_relative",
            {
                "layers": 6,
                "hidden_size": 512,
                "heads": 8,
                "optim": "adam",
                "learning_rate": 0.001,
                "start_decay_steps": 50000,
                "decay_steps": 10000,
                "train_steps": 250000,
                "src_vocab_size": 50000,
                "src_seq_length": 50,
            },
        ),
        (
            "reordering_both",
            {
                "layers": 6,
                "hidden_size": 512,
                "transformer_ff": 2048,
                "heads": 8,
                "dropout": [0.1],
                "label_smoothing": 0.1,
                "warmup_steps": 8000,
                "train_steps": 200000,
                "valid_steps": 1000,
            },
        ),
        ("exgre", {"warmup_steps": 8000, "train_steps": 300000, "valid_steps": 1000}),
    ],
)
def test_the_papers_settings(system, expected):
    settings = read_system(system, "paper").options
    assert {key: settings[key] for key in expected} == expected


def test_the_papers_batches():
    """~16k and ~32k tokens (Chen et al. 2019, 2020)."""
    for system, tokens in (("reordering_both", 4096 * 4), ("refsr", 4096 * 8)):
        settings = read_system(system, "paper").options
        assert settings["batch_size"] * settings["accum_count"][0] == tokens
