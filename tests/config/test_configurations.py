"""What the files under config/ say of each system, and the checks of phrase-based translation's options."""

from argparse import Namespace

import pytest
from onmt.bin.build_vocab import _get_parser as vocabulary_parser

from onmt_preorder.papers.distortion.options import DistortionOptions
from onmt_preorder.papers.npmt.options import check, check_translation
from onmt_preorder.transformer.options import EncodingOptions
from preorder.errors import UsageError
from preorder_recipes.configuration import CONFIG, SIZES, path_of, read_system
from tests.support.opennmt import checked_opt, make_opt
from tests.support.transformers import SWAN

# Kawara et al. 2021, and what is compared there.
ENCODINGS = {
    "baseline_absolute": EncodingOptions(False, 0, 0),
    "baseline_absolute_relative": EncodingOptions(False, 0, 4),
    "preorder_absolute": EncodingOptions(True, 0, 4),
    "preorder_relative": EncodingOptions(False, 4, 4),
    "preorder_both": EncodingOptions(True, 4, 4),
    "gold": EncodingOptions(False, 4, 4),
    "reordered_text": EncodingOptions(False, 0, 4),
}
# Chen et al. 2019 and 2020: what each has beside plain.
EXPLICIT = {"reordering_loss_weight": 0.6, "reordering_distance": 0.5}
BOTH_SIDES = {"source_max_relative": 16, "target_max_relative": 16}
RELATIVE_ALONE = {**BOTH_SIDES, "position_encoding": False}
LEARNED = {
    "plain": {},
    "plain_relative": RELATIVE_ALONE,
    "plain_absolute_relative": BOTH_SIDES,
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
    "reordering_relative": {"reordering_embedding": ["encoder", "decoder"], **RELATIVE_ALONE},
    "exgre": {"explicit_reordering": "exgre", **EXPLICIT},
    "refsr_relative": {"explicit_reordering": "refsr", **EXPLICIT, **RELATIVE_ALONE},
    "refsr": {"explicit_reordering": "refsr", **EXPLICIT},
    "exgre_predicted": {"explicit_reordering": "exgre", **EXPLICIT},
}
PLAIN = {"preorder_encoding": [], "source_max_relative": 0, "position_encoding": True}
# Zhang et al. 2017: what jumps depend on, how the encoder reads positions, and where training begins.
DISTORTION = {
    "rnnsearch": ("none", [], None),
    "rnnsearch_preorder": ("none", ["recurrent"], None),
    "rnnsearch_preorder_absolute": ("none", ["absolute"], None),
    "rnnsearch_gold": ("none", ["recurrent"], None),
    "rnnsearch_longer": ("none", [], "rnnsearch"),
    "distortion_source": ("source", [], "rnnsearch"),
    "distortion_target": ("target", [], "rnnsearch"),
    "distortion_hidden": ("hidden", [], "rnnsearch"),
    "distortion_hidden_preorder": ("hidden", ["recurrent"], "rnnsearch_preorder"),
}
# Huang et al. 2018: the decoder, the window of local reordering, and how words and gates begin and learn.
PHRASES = {
    "npmt": ("swan", 7, 1.5, 8, 0.04),
    "npmt_predicted_text": ("swan", 7, 1.5, 8, 0.04),
    "npmt_gold_text": ("swan", 7, 1.5, 8, 0.04),
    "npmt_no_reordering": ("swan", 0, 1, 0, 1),
    "npmt_attention": ("rnn", 0, 1, 0, 1),
}
WITHOUT_MEDIUM = pytest.mark.parametrize("size", [size for size in SIZES if size != "medium"])


def test_every_system_is_tested_and_says_what_it_reads():
    found = {path.stem for path in (CONFIG / "system").glob("*.yaml")}
    assert found == {*ENCODINGS, *LEARNED, *DISTORTION, *PHRASES}
    for system in found:
        assert read_system(system, "tiny").name == system


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("system", [*ENCODINGS, *LEARNED])
def test_opennmt_reads_transformers(size, system):
    opt = checked_opt(size, system)
    assert opt.add_qkvbias  # Kawara's b^Q, b^K, b^V
    assert opt.n_src_feats == 1
    if system in ENCODINGS:
        assert EncodingOptions.from_opt(opt) == ENCODINGS[system]
        assert opt.position_encoding
        assert opt.norm_placement == "pre"
    else:
        assert opt.norm_placement == ("pre" if size == "small_long" else "post")
        assert opt.decoder_type == "preorder_transformer"
        assert {key: getattr(opt, key) for key in PLAIN | LEARNED[system]} == PLAIN | LEARNED[system]


@WITHOUT_MEDIUM
@pytest.mark.parametrize("system", DISTORTION)
def test_opennmt_reads_distortion_models(size, system):
    opt, (context, encoding, base) = checked_opt(size, system), DISTORTION[system]
    assert DistortionOptions.from_opt(opt) == DistortionOptions(context, 3, 0.5)
    assert (opt.preorder_encoding, opt.n_src_feats) == (encoding, len(encoding))
    jumps_alone = opt.distortion != "none" and size != "paper"
    assert (opt.distortion_rate_factor, opt.distortion_source_end) == (10 if jumps_alone else 1, True)
    assert read_system(system, size).begins_from == base


@WITHOUT_MEDIUM
@pytest.mark.parametrize("system", PHRASES)
def test_opennmt_reads_phrase_models(size, system):
    opt = checked_opt(size, system)
    begins = opt.embedding_init, opt.local_reordering_bias, opt.local_reordering_rate_factor
    assert (opt.decoder_type, opt.local_reordering_window, *begins) == PHRASES[system]
    assert opt.swan_segment_length == 6


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
    "batch_size 4096",  # ~16k tokens
    "exgre": "warmup_steps 8000, train_steps 300000, valid_steps 1000",
    "refsr": "accum_count [8], batch_size 4096",  # ~32k tokens
    "distortion_hidden": "hidden_size 1000, word_vec_size 620, dropout [0.5], param_init 0.01, "
    "optim adadelta, adadelta_rho 0.95, adadelta_eps 1e-06, batch_size 80, max_grad_norm 1, "
    "src_vocab_size 30000, src_seq_length 50",
    "npmt": "rnn_type GRU, layers 2, hidden_size 512, dropout [0.5], optim adam, learning_rate 0.001, "
    "batch_size 32, swan_segment_length 6, local_reordering_window 7, swan_unpromising 0, "
    "word_vec_size 256, max_grad_norm 10",
}


@pytest.mark.parametrize("system", PAPERS)
def test_the_papers_settings(system):
    settings = read_system(system, "paper").options
    expected = dict(pair.split() for pair in PAPERS[system].split(", "))
    assert {key: str(settings[key]) for key in expected} == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"local_reordering_window": 4}, "local_reordering_window is odd, or 0 for none, not 4"),
        (
            {"local_reordering_window": 2, "decoder_type": "rnn"},
            "local_reordering_window is odd, or 0 for none, not 2",
        ),
        (
            {"local_reordering_window": 3, "local_reordering_rate_factor": 0.1, "optim": "sparseadam"},
            "local_reordering_rate_factor does not work with optim: sparseadam",
        ),
        ({"local_reordering_window": -1}, "local_reordering_window is odd, or 0 for none, not -1"),
        ({"rnn_type": "RNN"}, "decoder_type: swan has rnn_type: GRU or LSTM, not RNN"),
        ({"swan_segment_length": 0}, "swan_segment_length counts from 1, not 0"),
        ({"swan_logits": 0}, "swan_logits counts from 1, not 0"),
        ({"swan_negligible": 1.0}, "swan_negligible is a probability below 1, not 1.0"),
        ({"swan_unpromising": -0.1}, "swan_unpromising is a probability below 1, not -0.1"),
        ({"label_smoothing": 0.1}, "label_smoothing does not work with decoder_type: swan"),
        ({"share_decoder_embeddings": True, "word_vec_size": 7}, "share_decoder_embeddings needs word"),
        ({"encoder_type": "brnn", "hidden_size": 33}, "hidden_size / 2 units each way: 33 is odd"),
    ],
)
def test_phrase_models_that_cannot_be(changes, message):
    make_opt(**SWAN)
    with pytest.raises(UsageError, match=message):
        make_opt(**{**SWAN, **changes})


def test_local_reordering_is_not_for_language_models():
    with pytest.raises(UsageError, match="^local_reordering_window needs model_task: seq2seq$"):
        check(Namespace(local_reordering_window=3, model_task="lm"))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("swan_choices", -1, "is a number of segments, not -1"),
        ("min_length", 3, "does not work with decoder_type: swan"),
        ("block_ngram_repeat", 2, "does not work with decoder_type: swan"),
        ("tgt_file_prefix", True, "does not work with decoder_type: swan"),
    ],
)
def test_what_the_search_cannot_do_is_refused(name, value, message):
    options = dict.fromkeys(("min_length", "block_ngram_repeat", "swan_choices"), 0)
    options |= {"beam_size": 5, "n_best": 1, "tgt_file_prefix": False}
    check_translation(Namespace(**options))
    with pytest.raises(UsageError, match=f"{name} {message}"):
        check_translation(Namespace(**options | {name: value}))
