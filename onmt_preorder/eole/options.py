"""The options of our encoder in eole's configuration, under ``model: encoder:``.

Why: the encoders that a model may have are a closed union of classes. Its one model with an encoder of any
type, ``architecture: custom``, is replaced by a class that allows ours, too.

Can go when an encoder can be registered with its configuration.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, get_args

from eole.config import models
from pydantic import Field, TypeAdapter

from onmt_preorder.papers.explicit_reordering import HELP as EXPLICIT_HELP
from onmt_preorder.papers.explicit_reordering import NONE, ExplicitConfig, named
from onmt_preorder.transformer.config import PRE, EncoderConfig
from onmt_preorder.transformer.encodings.named import HELP, encodings
from onmt_preorder.transformer.encodings.relative import PAPER_LIMIT
from preorder.errors import UsageError

ENCODER = "preorder_transformer"
_DEFAULTS = ExplicitConfig()

_SAME = "hidden_size heads transformer_ff layers norm_placement layer_norm norm_eps add_qkvbias add_ffnbias"
# What eole's own encoder can do and ours cannot, each with the value that is off.
_OFF = {
    **dict.fromkeys(("heads_kv", "head_dim", "attn_scaling"), None),
    **dict.fromkeys(("parallel_residual", "query_norm", "key_norm", "value_norm", "q_gating"), False),
    **dict.fromkeys(("num_experts", "sliding_window", "relative_positions_buckets"), 0),
}


class PreorderEncoderConfig(models.TransformerEncoderConfig):
    """The options of ``encoder_type: preorder_transformer``, beside those of eole's Transformer."""

    encoder_type: Literal["preorder_transformer"] = Field(default=ENCODER)
    preorder_encoding: list[Literal["absolute", "relative", "rotary"]] = Field(
        default=[], description=HELP["preorder_encoding"]
    )
    preorder_max_relative: int = Field(PAPER_LIMIT, ge=1, description=HELP["preorder_max_relative"])
    source_max_relative: int = Field(PAPER_LIMIT, ge=0, description=HELP["source_max_relative"])
    source_rotary: bool = Field(False, description=HELP["source_rotary"])
    norm_placement: Literal["pre", "post"] = Field(PRE, description="Norms before or after a sub-layer.")
    layer_norm: Literal["standard", "rms"] = "standard"
    explicit_reordering: Literal["none", "exgre", "refsr"] = Field(NONE, description="Learn the positions.")
    reordering_loss_weight: float = Field(
        _DEFAULTS.reordering_loss_weight, ge=0, description=EXPLICIT_HELP["reordering_loss_weight"]
    )
    reordering_distance: float = Field(
        _DEFAULTS.reordering_distance, gt=0, description=EXPLICIT_HELP["reordering_distance"]
    )
    reordering_window: float = Field(
        _DEFAULTS.reordering_window, ge=-1, description=EXPLICIT_HELP["reordering_window"]
    )
    reordering_rank: int = Field(
        _DEFAULTS.reordering_rank, ge=0, description=EXPLICIT_HELP["reordering_rank"]
    )

    def layers_with(self, running: Any) -> EncoderConfig:
        """Return the configuration of the layers; ``running``, eole's, has the dropout of a training."""
        for name, off in _OFF.items():
            if getattr(self, name) != off:
                raise UsageError(f"{name} does not work with encoder_type: {ENCODER}")
        if getattr(running, "use_ckpting", ()):
            raise UsageError(f"use_ckpting does not work with encoder_type: {ENCODER}")
        rates = {name: getattr(running, name, [0.0])[0] for name in ("dropout", "attention_dropout")}
        return EncoderConfig(
            **{name: getattr(self, name) for name in _SAME.split()},
            **rates,
            pos_ffn_activation_fn=self.mlp_activation_fn,
            encodings=encodings(**{name: getattr(self, name) for name in HELP}),
        )

    def explicit(self) -> ExplicitConfig | None:
        """Return what the layers learn, None for nothing."""
        return named(self.explicit_reordering, self)


_Encoder = models.CustomModelConfig.model_fields["encoder"].annotation | PreorderEncoderConfig


class CustomModelConfig(models.CustomModelConfig):
    """``architecture: custom`` that allows our encoder."""

    encoder: _Encoder = Field(  # type: ignore[valid-type]  # pydantic reads this union
        default=None, discriminator="encoder_type"
    )


def extend() -> None:
    """Let eole's models have our encoder; before ``eole.config.run`` is imported."""
    union, discriminator = get_args(models.ModelConfig)
    known = (CustomModelConfig if each is models.CustomModelConfig else each for each in get_args(union))
    models.ModelConfig = Annotated[reduce(or_, known), discriminator]
    models.build_model_config = TypeAdapter(models.ModelConfig).validate_python
    models.CustomModelConfig = CustomModelConfig
