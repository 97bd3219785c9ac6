"""What the files under config/ say of each system."""

from dataclasses import replace

import pytest
from onmt.bin.build_vocab import _get_parser as vocabulary_parser
from onmt.bin.train import _get_parser as training_parser
from onmt.utils.parse import ArgumentParser

from onmt_preorder.opennmt.options import is_ours
from preorder_recipes.configuration import CONFIG, SIZES, path_of, read_system, systems_in

BASES = {
    **dict.fromkeys(("rnnsearch_longer", "distortion_source", "distortion_target"), "rnnsearch"),
    "distortion_hidden": "rnnsearch",
    "distortion_hidden_preorder": "rnnsearch_preorder",
}


def test_every_system_says_what_it_reads_and_begins_from():
    for system in (path.stem for path in (CONFIG / "system").glob("*.yaml")):
        read = read_system(system, "tiny")
        assert (read.name, read.begins_from) == (system, BASES.get(system))
        assert read.order or not read.options.get("preorder_encoding")


def checked_opt(size, system):
    """Return the options that ``onmt_train`` would have from a file of config/, checked as it checks them."""
    given = ["-config", str(path_of(system)), "-data", "{}", "-src_vocab", "v", "-tgt_vocab", "v"]
    opt, unknown = training_parser().parse_known_args([*given, "-size", size])
    assert not unknown
    ArgumentParser.validate_train_opts(opt)
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    return opt


@pytest.mark.parametrize(
    "size", ["small", *(pytest.param(size, marks=pytest.mark.slow) for size in SIZES if size != "small")]
)
def test_opennmt_reads_it(size):
    for system in systems_in(size):
        opt = checked_opt(size, system)
        assert is_ours(opt) or system == "npmt_attention"
        if read_system(system, size).options.get("preorder_encoding"):
            assert opt.n_src_feats == 1, system


def test_no_two_systems_are_the_same():
    systems = [read_system(name, "paper") for name in systems_in("paper")]
    found = {repr(replace(system, name="", about="")) for system in systems}
    assert len(found) == len(systems) > 35


def test_the_vocabulary_is_for_the_same_model():
    given = ["-config", str(path_of("gold")), "-data", "{}", "-src_vocab", "v", "-tgt_vocab", "v"]
    opt = vocabulary_parser().parse_known_args([*given, "-size", "paper", "-save_data", "d"])[0]
    assert (opt.encoder_type, opt.transforms) == ("preorder_transformer", ["filtertoolong"])


def test_a_system_alone_is_small():
    assert read_system("plain", "small") == read_system("plain", None)


PAPERS = {
    "preorder_relative": "layers 6, hidden_size 512, heads 8, optim adam, learning_rate 0.001, "
    "start_decay_steps 50000, decay_steps 10000, train_steps 250000, src_vocab_size 50000, src_seq_length 50",
    "reordering_both": "layers 6, hidden_size 512, transformer_ff 2048, heads 8, dropout [0.1], "
    "label_smoothing 0.1, warmup_steps 8000, train_steps 200000, valid_steps 1000, accum_count [4], "
    "batch_size 4096, keep_checkpoint 200",  # ~16k tokens
    "exgre": "warmup_steps 8000, train_steps 300000, valid_steps 2000, save_checkpoint_steps 2000",
    "refsr": "accum_count [8], batch_size 4096",  # ~32k tokens
    "distortion_hidden": "hidden_size 1000, word_vec_size 620, dropout [0.5], param_init 0.01, "
    "optim adadelta, adadelta_rho 0.95, adadelta_eps 1e-06, learning_rate_decay 1, batch_size 80, "
    "max_grad_norm 1, src_vocab_size 30000, src_seq_length 50",
    "npmt": "rnn_type GRU, layers 2, hidden_size 512, dropout [0.5], optim adam, learning_rate 0.001, "
    "learning_rate_decay 1, batch_size 32, swan_segment_length 6, local_reordering_window 7, "
    "swan_unpromising 0, word_vec_size 256, max_grad_norm 10",
}


@pytest.mark.parametrize("system", PAPERS)
def test_the_papers_settings(system):
    settings = read_system(system, "paper").options
    expected = dict(pair.split() for pair in PAPERS[system].split(", "))
    assert {key: str(settings[key]) for key in expected} == expected
