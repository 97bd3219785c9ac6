"""Systems of neural phrase-based translation, and the checks of its options."""

from argparse import Namespace

import pytest

from onmt_preorder.papers.npmt.options import check, check_translation
from preorder.errors import UsageError
from recipes.systems import read_system
from tests.support.opennmt import checked_opt, make_opt

SIZES = ["tiny", "small", "small_long", "paper"]
SYSTEMS = {"npmt": ("swan", 7), "npmt_no_reordering": ("swan", 0), "npmt_attention": ("rnn", 0)}
SWAN = {
    "encoder_type": "brnn", "decoder_type": "swan", "rnn_type": "GRU", "preorder_encoding": [],
    "position_encoding": False, "n_src_feats": 0, "param_init": 0.1, "param_init_glorot": False,
}  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_opennmt_reads_it(size, system):
    opt = checked_opt(size, system)
    assert (opt.decoder_type, opt.local_reordering_window) == SYSTEMS[system]
    assert opt.swan_segment_length == 6


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_embeddings_are_large_and_the_layer_begins_with_the_words(size, system):
    opt = checked_opt(size, system)
    found = (opt.embedding_init, opt.local_reordering_bias, opt.local_reordering_rate_factor)
    assert found == ((1.5, 8, 0.04) if system == "npmt" else (1, 0, 1))


def test_the_papers_settings():
    settings = read_system("npmt", "paper").options
    expected = {
        "rnn_type": "GRU", "layers": 2, "hidden_size": 512, "dropout": [0.5], "optim": "adam",
        "learning_rate": 0.001, "batch_size": 32, "swan_segment_length": 6, "local_reordering_window": 7,
        "swan_unpromising": 0, "word_vec_size": 256, "max_grad_norm": 10,
    }  # fmt: skip
    assert {key: settings[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"local_reordering_window": 4}, "local_reordering_window is odd, or 0 for none, not 4"),
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
def test_what_cannot_be_is_refused(changes, message):
    make_opt(**SWAN)
    with pytest.raises(UsageError, match=message):
        make_opt(**{**SWAN, **changes})


TRANSLATION = Namespace(
    beam_size=5, n_best=1, min_length=0, block_ngram_repeat=0, tgt_file_prefix=False, swan_choices=0
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"swan_choices": -1}, "swan_choices is a number of segments, not -1"),
        ({"min_length": 3}, "min_length does not work with decoder_type: swan"),
        ({"block_ngram_repeat": 2}, "block_ngram_repeat does not work with decoder_type: swan"),
        ({"tgt_file_prefix": True}, "tgt_file_prefix does not work with decoder_type: swan"),
    ],
)
def test_what_the_search_cannot_do_is_refused(changes, message):
    check_translation(TRANSLATION)
    with pytest.raises(UsageError, match=message):
        check_translation(Namespace(**{**vars(TRANSLATION), **changes}))


def test_a_window_is_checked_with_any_encoder():
    with pytest.raises(UsageError, match="local_reordering_window is odd"):
        make_opt(local_reordering_window=2)


def test_local_reordering_is_not_for_language_models():
    with pytest.raises(UsageError, match="^local_reordering_window needs model_task: seq2seq$"):
        check(Namespace(local_reordering_window=3, model_task="lm"))
