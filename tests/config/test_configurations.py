"""What the files under config/ say of each system."""

import pytest
from onmt.bin.build_vocab import _get_parser as vocabulary_parser
from onmt.bin.train import _get_parser as training_parser
from onmt.utils.parse import ArgumentParser

from preorder_recipes.configuration import CONFIG, SIZES, path_of, read_system, systems_in

KAWARA = {"n_src_feats": 1, "position_encoding": True, "norm_placement": "pre", "add_qkvbias": True}
CHEN = {**KAWARA, "preorder_encoding": [], "source_max_relative": 0}
CHEN |= {"decoder_type": "preorder_transformer", "norm_placement": "post"}
ZHANG = {"preorder_encoding": [], "distortion": "none", "distortion_window": 3, "distortion_lambda": 0.5}
ZHANG |= {"distortion_source_end": True}
HUANG = {"decoder_type": "swan", "local_reordering_window": 7, "local_reordering_bias": 8}
HUANG |= {"embedding_init": 1.5, "local_reordering_rate_factor": 0.04, "swan_segment_length": 6}
UNTOUCHED = {"local_reordering_window": 0, "local_reordering_bias": 0, "local_reordering_rate_factor": 1}
RELATIVE = {"preorder_encoding": ["relative"], "source_max_relative": 4}
ABSOLUTE = {"preorder_encoding": ["absolute"], "source_max_relative": 4}
RECURRENT = {"preorder_encoding": ["recurrent"], "n_src_feats": 1}
FAR = {"source_max_relative": 16, "target_max_relative": 16}
FAR_ALONE = {**FAR, "position_encoding": False, "scale_embeddings": True}
BOTH = ["encoder", "decoder"]
LEARNING = {"reordering_loss_weight": 0.6, "reordering_distance": 0.5}
EXGRE, REFSR = ({**LEARNING, "explicit_reordering": kind} for kind in ("exgre", "refsr"))
SYSTEMS = {
    "baseline_absolute": {**KAWARA, "preorder_encoding": [], "source_max_relative": 0},
    "baseline_absolute_relative": {**KAWARA, "preorder_encoding": [], "source_max_relative": 4},
    "preorder_absolute": KAWARA | ABSOLUTE,
    "preorder_relative": KAWARA | RELATIVE,
    "preorder_both": {**KAWARA, **RELATIVE, "preorder_encoding": ["absolute", "relative"]},
    "preorder_rotary": {**KAWARA, "preorder_encoding": ["rotary"], "source_max_relative": 0},
    "preorder_gold_trained": KAWARA | RELATIVE,
    "gold": KAWARA | RELATIVE,
    "reordered_text": {**KAWARA, "preorder_encoding": [], "source_max_relative": 4},
    "plain": CHEN,
    "plain_relative": CHEN | FAR_ALONE,
    "plain_absolute_relative": CHEN | FAR,
    "plain_additional": {**CHEN, "additional_position_encoding": BOTH},
    "plain_predicted_text": CHEN,
    "plain_gold_text": CHEN,
    "reordering_encoder": {**CHEN, "reordering_embedding": ["encoder"]},
    "reordering_decoder": {**CHEN, "reordering_embedding": ["decoder"]},
    "reordering_both": {**CHEN, "reordering_embedding": BOTH},
    "preorder_reordering": {**CHEN, **RELATIVE, "reordering_embedding": BOTH},
    "reordering_relative": {**CHEN, **FAR_ALONE, "reordering_embedding": BOTH},
    "exgre": CHEN | EXGRE,
    "refsr_relative": CHEN | FAR_ALONE | REFSR,
    "refsr": CHEN | REFSR,
    "exgre_predicted": CHEN | EXGRE,
    "rnnsearch": ZHANG,
    "rnnsearch_preorder": ZHANG | RECURRENT,
    "rnnsearch_preorder_absolute": {**ZHANG, **RECURRENT, "preorder_encoding": ["absolute"]},
    "rnnsearch_gold": ZHANG | RECURRENT,
    "rnnsearch_gold_trained": ZHANG | RECURRENT,
    "rnnsearch_longer": ZHANG,
    "distortion_source": {**ZHANG, "distortion": "source"},
    "distortion_target": {**ZHANG, "distortion": "target"},
    "distortion_hidden": {**ZHANG, "distortion": "hidden"},
    "distortion_hidden_preorder": {**ZHANG, **RECURRENT, "distortion": "hidden"},
    "npmt": HUANG,
    "npmt_predicted_text": HUANG,
    "npmt_gold_text": HUANG,
    "npmt_no_reordering": {**HUANG, **UNTOUCHED, "embedding_init": 1},
    "npmt_attention": {**HUANG, **UNTOUCHED, "embedding_init": 1, "decoder_type": "rnn"},
}
PRE_NORM = ("little", "small_long", "medium_long")  # where post-norm learns next to nothing
BASES = {
    **dict.fromkeys(("rnnsearch_longer", "distortion_source", "distortion_target"), "rnnsearch"),
    "distortion_hidden": "rnnsearch",
    "distortion_hidden_preorder": "rnnsearch_preorder",
}


def test_every_system_is_tested_and_says_what_it_reads_and_begins_from():
    found = {path.stem for path in (CONFIG / "system").glob("*.yaml")}
    assert found == SYSTEMS.keys()
    for system in found:
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
        opt, expected = checked_opt(size, system), dict(SYSTEMS[system])
        if expected.get("decoder_type") == "preorder_transformer" and size in PRE_NORM:
            expected["norm_placement"] = "pre"
        if "distortion" in expected:
            learns_faster = expected["distortion"] != "none" and size != "paper"
            expected["distortion_rate_factor"] = 10 if learns_faster else 1
        assert {key: getattr(opt, key) for key in expected} == expected, system


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
