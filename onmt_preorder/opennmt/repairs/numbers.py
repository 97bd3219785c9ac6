"""Numbers that no training or translation can work with.

Why: OpenNMT-py takes any number for any option. Some end in a traceback after minutes of reading
(``-beam_size 0``), some in a training that never ends or fills the memory with NaN (``-learning_rate nan``).

Can go when its options check their numbers.
"""

from __future__ import annotations

import math
from typing import Any

from onmt_preorder.input.positions import MAX_POSITIONS
from onmt_preorder.opennmt import options
from onmt_preorder.wrapping import adapts

MOST = 2**31 - 1
"""The largest whole number of any option: larger ones do not fit into all that holds them."""

# Option → the least and the most that make sense; others take any number that is finite and not beyond MOST.
# Tables have a row for each distance, and sums a term; a token's gates are its window's square.
BOUNDS: dict[str, tuple[float, float]] = {
    name: bounds
    for bounds, names in {
        (0, MOST): (
            "train_steps save_checkpoint_steps accum_steps dropout_steps swan_choices learning_rate "
            "learning_rate_decay max_grad_norm param_init distortion_rate_factor "
            "local_reordering_rate_factor embedding_init local_reordering_bias lambda_align "
            "reordering_loss_weight norm_eps"
        ),
        (1, MOST): (
            "batch_size valid_batch_size bucket_size valid_steps report_every accum_count decay_steps "
            "warmup_steps src_vocab_size tgt_vocab_size max_length swan_logits enc_layers dec_layers "
            "src_word_vec_size tgt_word_vec_size enc_hid_size dec_hid_size transformer_ff heads"
        ),
        (-1, 2**63 - 1): "seed",
        (-1, MOST): "layers word_vec_size hidden_size",
        (0, 1): "adadelta_rho dropout attention_dropout label_smoothing distortion_lambda",
        (0.0, 0.999999): "adam_beta1 adam_beta2",
        (1e-12, MOST): "adadelta_eps",
        (0, 0.999): "swan_negligible swan_unpromising",
        (1, MAX_POSITIONS): (
            "preorder_max_relative distortion_window swan_segment_length beam_size n_best world_size"
        ),
        (0, MAX_POSITIONS): (
            "source_max_relative target_max_relative reordering_rank local_reordering_window n_src_feats "
            "num_workers num_threads gpu_ranks"
        ),
        (0.001, MAX_POSITIONS): "reordering_distance",
        (-1, MAX_POSITIONS): "reordering_window gpu",
    }.items()
    for name in names.split()
}


@adapts("onmt.utils.parse:ArgumentParser", "parse_known_args")
def _parse_in_bounds(original: Any, self: Any, *args: Any, **named: Any) -> Any:
    result = opt, _ = original(self, *args, **named)
    if options.is_ours(opt) or hasattr(opt, "beam_size"):
        for action in self._actions:
            if action.type in (int, float):
                problem = _problem(action, getattr(opt, action.dest, None))
                if problem:
                    self.error(f"argument {'/'.join(action.option_strings)}: {problem}")
    return result


def _problem(action: Any, value: Any) -> str | None:
    """Return what is wrong with the value of an option, one number or several, or None."""
    if value == action.default:
        return None
    least, most = BOUNDS.get(action.dest, (-MOST, MOST) if action.type is int else (-math.inf, math.inf))
    for number in value if isinstance(value, list) else [value]:
        if not least <= number <= most or number in (math.inf, -math.inf):
            bounds = f" from {least:g} to {most:.12g}" if math.isfinite(least) else ""
            return f"not a {'whole ' * (action.type is int)}number{bounds}: {number}"
    return None
