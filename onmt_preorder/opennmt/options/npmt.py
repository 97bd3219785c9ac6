"""Neural phrase-based translation (Huang et al. 2018): ``decoder_type: swan``, local reordering."""

from __future__ import annotations

from argparse import Namespace

from onmt_preorder.opennmt.options.helpers import Option, check_shared_embeddings, refuse
from onmt_preorder.papers.npmt import DECODER
from onmt_preorder.papers.npmt.layers import CELLS
from preorder.errors import UsageError

# What OpenNMT-py's training can do and the sum over segmentations cannot.
_UNSUPPORTED = (
    "copy_attn coverage_attn lambda_align lambda_coverage label_smoothing lm_prior_model "
    "zero_out_prompt_loss generator_function model_task model_dtype"
)
# What OpenNMT-py's beam search can do and the search over segments cannot.
_UNSUPPORTED_SEARCH = (
    "random_sampling_topk random_sampling_topp random_sampling_temp length_penalty coverage_penalty "
    "block_ngram_repeat min_length ratio tgt_file_prefix gold_align alpha beta stepwise_penalty "
    "ignore_when_blocking max_length max_length_ratio dump_beam attn_debug"
)
# The options that a search over segments has beside OpenNMT-py's.
SEARCH = {
    "swan_choices": Option(
        2, "Beam: segments for each source token, n_best at least; 0: as many as beam_size."
    ),
    "swan_word_reward": Option(0.0, "Beam: what each word adds to a translation's score."),
}

_SWAN = f"decoder_type: {DECODER}", lambda opt: opt.decoder_type == DECODER
_WINDOW = "local_reordering_window", lambda opt: opt.local_reordering_window > 0

TITLE = f"decoder_type {DECODER}, local reordering"
OPTIONS = {
    "local_reordering_window": Option(0, "Tokens that the layer before the encoder looks at; odd, 0: none."),
    "local_reordering_bias": Option(
        0.0,
        "Its gates' biases at first: this for the token itself, its negative for the others; 0: no biases.",
        _WINDOW,
    ),
    "local_reordering_rate_factor": Option(
        1.0,
        "The learning rate of its gates' weights, as a multiple of that of all other parameters.",
        _WINDOW,
    ),
    "embedding_init": Option(
        0.0, "Standard deviation of the word embeddings at first, with any model; 0: as all parameters."
    ),
    "swan_segment_length": Option(6, "The most target words that a source token can emit.", _SWAN),
    "swan_negligible": Option(1e-4, "Segments below this probability have no gradient; 0: all have.", _SWAN),
    "swan_unpromising": Option(
        0.0,
        "In training, leave out segments to which a coarser model gives a smaller probability; 0: none.",
        _SWAN,
    ),
    "swan_logits": Option(
        2**22, "Numbers to hold at a time: memory against speed, the result is the same.", _SWAN
    ),
}


def check(opt: Namespace) -> None:
    """Check what concerns decoder and layer."""
    window = opt.local_reordering_window
    if window and getattr(opt, "model_task", "seq2seq") != "seq2seq":
        raise UsageError("local_reordering_window needs model_task: seq2seq")
    if window < 0 or (window and window % 2 == 0):
        raise UsageError(f"local_reordering_window is odd, or 0 for none, not {window}")
    if opt.decoder_type != DECODER:
        return
    refuse(opt, _UNSUPPORTED, f"decoder_type: {DECODER}")
    if opt.rnn_type not in CELLS:
        raise UsageError(f"decoder_type: {DECODER} has rnn_type: {' or '.join(CELLS)}, not {opt.rnn_type}")
    check_shared_embeddings(opt)
    if opt.encoder_type == "brnn" and opt.enc_hid_size % 2:
        raise UsageError(f"encoder_type: brnn has hidden_size / 2 units each way: {opt.enc_hid_size} is odd")


def check_translation(opt: Namespace) -> None:
    """Raise a ``UsageError`` where options of a translation ask for what the search cannot do."""
    refuse(opt, _UNSUPPORTED_SEARCH, f"decoder_type: {DECODER}")
    for name in _given(opt):
        if opt.beam_size == 1:
            raise UsageError(f"{name} has no effect with beam_size 1, which is greedy search")


def check_other_translation(opt: Namespace) -> None:
    """Raise a ``UsageError`` where options of this search are given for another model."""
    for name in _given(opt):
        raise UsageError(f"{name} needs a model with decoder_type: {DECODER}")


def _given(opt: Namespace) -> list[str]:
    """Return the names of the beam's options that are not at their defaults."""
    return [name for name, one in SEARCH.items() if getattr(opt, name, one.default) != one.default]
