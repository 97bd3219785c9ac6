"""The files under config/: one a system and size."""

import pytest
import yaml
from onmt.bin.build_vocab import _get_parser as vocabulary_parser

from onmt_preorder.transformer.layer_options import LayerOptions
from onmt_preorder.transformer.options import EncodingOptions, Limits
from tests.support.opennmt import ROOT, checked_opt, path_of

SIZES = ["tiny", "small", "medium", "paper"]
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
EXPLICIT = {"reordering_loss_weight": 0.6, "reordering_distance": 0.5, "reordering_window": 2}
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
SYSTEMS = [*ENCODINGS, *LEARNED]
OWN_KEYS = {"preorder_encoding", "source_max_relative"}
# What a run adds.
COMMAND = ["-data", "{}", "-src_vocab", "v", "-tgt_vocab", "v"]


def settings_of(size, system):
    return yaml.safe_load(path_of(size, system).read_text(encoding="utf-8"))


def test_every_system_in_every_size():
    found = {path.relative_to(ROOT / "config") for path in (ROOT / "config").rglob("*.yaml")}
    assert found >= {
        path_of(size, system).relative_to(ROOT / "config") for size in SIZES for system in SYSTEMS
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("system", SYSTEMS)
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
        assert not options.pre_norm
        assert opt.decoder_type == "preorder_transformer"
    arguments = ["-config", str(path_of(size, system)), *COMMAND, "-save_data", "d"]
    assert vocabulary_parser().parse_known_args(arguments)[0].encoder_type == "preorder_transformer"


@pytest.mark.parametrize("size", SIZES)
def test_systems_of_a_size_differ_in_nothing_else(size):
    shared = []
    for system in ENCODINGS:
        settings = settings_of(size, system)
        assert settings.keys() >= OWN_KEYS
        shared.append({key: value for key, value in settings.items() if key not in OWN_KEYS})
    assert all(settings == shared[0] for settings in shared)


@pytest.mark.parametrize("size", SIZES)
def test_systems_with_plain_differ_in_what_they_are_about(size):
    shared = []
    for system, own in LEARNED.items():
        settings = settings_of(size, system)
        assert {key: settings[key] for key in {**PLAIN, **own}} == {**PLAIN, **own}
        shared.append({key: value for key, value in settings.items() if key not in {**PLAIN, **own}})
        if size == "paper" and "explicit_reordering" in own:  # Chen et al. 2020 train for longer
            longer = {"train_steps": 300000, "accum_count": [8]}
            assert {key: settings[key] for key in longer} == longer
            shared[-1] |= {key: shared[0][key] for key in longer}
    assert all(settings == shared[0] for settings in shared)


@pytest.mark.parametrize("size", ["tiny", "small", "medium"])
def test_plain_is_the_absolute_baseline_with_its_norms_elsewhere(size):
    changes = {"norm_placement": "post", "decoder_type": "preorder_transformer"}
    assert settings_of(size, "plain") == settings_of(size, "baseline_absolute") | changes


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
    ],
)
def test_the_papers_settings(system, expected):
    settings = settings_of("paper", system)
    assert {key: settings[key] for key in expected} == expected


def test_the_papers_batches():
    """~16k and ~32k tokens (Chen et al. 2019, 2020)."""
    for system, tokens in (("reordering_both", 4096 * 4), ("refsr", 4096 * 8)):
        settings = settings_of("paper", system)
        assert settings["batch_size"] * settings["accum_count"][0] == tokens
