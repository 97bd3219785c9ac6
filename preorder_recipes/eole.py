"""Systems of ``config/`` for eole: options of OpenNMT-py as eole's nested configuration."""

from __future__ import annotations

from typing import Any

from onmt_preorder.input.pipeline import POSITIONS_TRANSFORM, PREORDER_TRANSFORM
from preorder.errors import UsageError

ENCODERS = ("transformer", "preorder_transformer")
# Options by the part of eole's configuration that has them, under the same names.
_ROOT = (
    "data src_vocab tgt_vocab src_vocab_size tgt_vocab_size src_words_min_frequency tgt_words_min_frequency "
    "share_vocab save_data seed report_every n_sample"
)
_MODEL = "hidden_size heads layers transformer_ff add_qkvbias add_ffnbias share_decoder_embeddings layer_norm"
_ENCODER = (
    "preorder_encoding preorder_max_relative source_max_relative source_rotary norm_placement "
    "explicit_reordering reordering_loss_weight reordering_distance reordering_window reordering_rank"
)
_TRAINING = (
    "dropout attention_dropout label_smoothing param_init optim adam_beta1 adam_beta2 learning_rate "
    "learning_rate_decay decay_method warmup_steps start_decay_steps decay_steps max_grad_norm batch_type "
    "batch_size valid_batch_size normalization accum_count bucket_size num_workers train_steps valid_steps "
    "early_stopping early_stopping_criteria save_checkpoint_steps keep_checkpoint gpu_ranks world_size"
)
# Options that eole does not need, and those that are translated below.
_ELSEWHERE = (
    "encoder_type decoder_type word_vec_size position_encoding scale_embeddings param_init_glorot save_model "
    "n_src_feats src_feats_defaults transforms src_seq_length tgt_seq_length src_subword_model "
    "tgt_subword_model bfloat16"
)
_PARTS = {"root": _ROOT, "model": _MODEL, "encoder": _ENCODER, "training": _TRAINING}


def configuration(options: dict[str, Any]) -> dict[str, Any]:
    """Return what ``eole build_vocab`` and ``eole train`` read, for the same model and training.

    Raises:
        UsageError: eole has no such encoder or decoder, or not one of the options.
    """
    encoder, decoder = (options.get(f"{side}_type", "transformer") for side in ("encoder", "decoder"))
    if encoder not in ENCODERS or decoder not in ENCODERS:
        raise UsageError(f"--host eole: encoder_type and decoder_type are of {', '.join(ENCODERS)}")
    found: dict[str, dict[str, Any]] = {part: {} for part in _PARTS}
    part_of = {name: part for part, names in _PARTS.items() for name in names.split()}
    for name, value in options.items():
        if name in part_of:
            found[part_of[name]][name] = value
        elif name not in _ELSEWHERE.split() and value not in (0, None, "", [], False):
            raise UsageError(f"--host eole: there is no {name}")
    if found["encoder"].get("norm_placement", "pre") != "pre" and decoder != "transformer":
        raise UsageError("--host eole: its decoder has norms before its sub-layers alone: norm_placement=pre")
    if options.get("param_init_glorot"):
        found["training"]["param_init_method"] = "xavier_uniform"
    if options.get("bfloat16"):
        found["training"]["compute_dtype"] = "bf16"
    if "save_model" in options:
        found["training"]["model_path"] = options["save_model"]
    is_absolute = options.get("position_encoding", False)
    embeddings = {
        "word_vec_size": options["word_vec_size"],
        "position_encoding_type": "SinusoidalInterleaved" if is_absolute else None,
        "normalize": bool(options.get("scale_embeddings")) and not is_absolute,
    }
    own = found["encoder"] if encoder == "preorder_transformer" else {}
    model = {
        "architecture": "custom",
        **found["model"],
        "norm_eps": 1e-6,  # OpenNMT-py's
        "embeddings": embeddings,
        "encoder": {"encoder_type": encoder, **own},
        "decoder": {"decoder_type": "transformer"},
    }
    return {**found["root"], **_transforms(options), "model": model, "training": found["training"]}


def _transforms(options: dict[str, Any]) -> dict[str, Any]:
    """Return the transforms with ours around those that split words; filters come last."""
    given = options.get("transforms", [])
    filters = [name for name in given if name.startswith("filter")]
    others = [name for name in given if name not in filters]
    lengths = {name: options[name] for name in ("src_seq_length", "tgt_seq_length") if name in options}
    configs = {"filtertoolong": lengths} if lengths and "filtertoolong" in filters else {}
    models = {name: options[name] for name in ("src_subword_model", "tgt_subword_model") if name in options}
    configs |= {name: models for name in others if models}
    return {
        "transforms": [PREORDER_TRANSFORM, *others, POSITIONS_TRANSFORM, *filters],
        **({"transforms_configs": configs} if configs else {}),
    }
