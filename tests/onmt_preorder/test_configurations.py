"""The files under config/: one a system and size."""

import pytest
import yaml
from onmt.bin.build_vocab import _get_parser as vocabulary_parser
from onmt.bin.train import _get_parser as training_parser
from onmt.utils.parse import ArgumentParser

from onmt_preorder.layers import LayerOptions
from onmt_preorder.options.encoding import EncodingOptions, Limits
from tests.onmt_preorder.helpers import ROOT

SIZES = ["tiny", "small", "medium", "paper"]
ENCODINGS = {
    "baseline_absolute": EncodingOptions(False, None, None),
    "baseline_absolute_relative": EncodingOptions(False, None, Limits(4, 4)),
    "preorder_absolute": EncodingOptions(True, None, Limits(4, 4)),
    "preorder_relative": EncodingOptions(False, Limits(4, 4), Limits(4, 4)),
    "preorder_both": EncodingOptions(True, Limits(4, 4), Limits(4, 4)),
    "gold": EncodingOptions(False, Limits(4, 4), Limits(4, 4)),
    "reordered_text": EncodingOptions(False, None, Limits(4, 4)),
}
OWN_KEYS = {"preorder_encoding", "source_max_relative"}
# What a run adds.
COMMAND = ["-data", "{}", "-src_vocab", "v", "-tgt_vocab", "v"]


def path_of(size, system):
    return ROOT / "config" / size / f"{system}.yaml"


def test_every_system_in_every_size():
    found = {path.relative_to(ROOT / "config") for path in (ROOT / "config").rglob("*.yaml")}
    assert found >= {
        path_of(size, system).relative_to(ROOT / "config") for size in SIZES for system in ENCODINGS
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("system", ENCODINGS)
def test_opennmt_reads_it(size, system):
    opt, unknown = training_parser().parse_known_args(["-config", str(path_of(size, system)), *COMMAND])
    assert not unknown
    ArgumentParser.validate_train_opts(opt)
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    options = LayerOptions.from_opt(opt)
    assert options.encoding == ENCODINGS[system]
    assert options.qkv_bias  # the paper's b^Q, b^K, b^V
    assert opt.position_encoding
    assert opt.n_src_feats == 1
    arguments = ["-config", str(path_of(size, system)), *COMMAND, "-save_data", "d"]
    assert vocabulary_parser().parse_known_args(arguments)[0].encoder_type == "preorder_transformer"


@pytest.mark.parametrize("size", SIZES)
def test_systems_of_a_size_differ_in_nothing_else(size):
    shared = []
    for system in ENCODINGS:
        lines = path_of(size, system).read_text(encoding="utf-8").splitlines()
        settings = yaml.safe_load("\n".join(lines))
        assert settings.keys() >= OWN_KEYS
        shared.append({key: value for key, value in settings.items() if key not in OWN_KEYS})
    assert all(settings == shared[0] for settings in shared)


def test_the_papers_settings():
    settings = yaml.safe_load(path_of("paper", "preorder_relative").read_text(encoding="utf-8"))
    expected = {
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
    }
    assert {key: settings[key] for key in expected} == expected
