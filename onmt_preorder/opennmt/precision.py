"""Training in bfloat16, on CPUs too.

Why: OpenNMT-py's own mixed precision, ``model_dtype: fp16``, is for GPUs alone.

Can go when ``model_dtype`` can be bf16.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from onmt_preorder.bfloat16_linear import Bfloat16Linear
from onmt_preorder.opennmt.wrapping import adapts


@adapts("onmt.model_builder", "build_model")
def _build_model(
    original: Any, model_opt: Any, opt: Any, vocabs: Any, checkpoint: Any, device_id: int
) -> Any:
    model = original(model_opt, opt, vocabs, checkpoint, device_id)
    if getattr(model_opt, "bfloat16", False):
        from preorder.learning.backend import multiplies_bfloat16

        device = "cpu" if device_id < 0 else "cuda"
        if not multiplies_bfloat16(device):
            logging.getLogger("onmt").warning("bfloat16: on this machine float32 is as fast, or faster")
        if device == "cpu" and not _is_recurrent(model):
            _replace_linear_layers(model)
        else:
            model.forward = _in_bfloat16(model.forward, device)
    return model


def _is_recurrent(model: nn.Module) -> bool:
    return any(isinstance(module, nn.RNNBase | nn.RNNCellBase) for module in model.modules())


def _replace_linear_layers(model: nn.Module) -> None:
    """Let the linear layers of encoder and decoder train in bfloat16, and all else in float32.

    They are nearly all of a Transformer's products. In bfloat16 attention's, too, would take longer: their
    shapes are new in each batch (see :mod:`onmt_preorder.bfloat16_linear`).
    """
    for layer in [*model.encoder.modules(), *model.decoder.modules()]:
        if type(layer) is nn.Linear:
            layer.__class__ = Bfloat16Linear


def _in_bfloat16(forward: Callable[..., Any], device: str) -> Callable[..., Any]:
    """Return a model's forward pass with products in bfloat16; what it returns first is float32."""

    @functools.wraps(forward)
    def computed(*args: Any, **named: Any) -> tuple[Tensor, Any]:
        with torch.autocast(device, torch.bfloat16):
            output, attention = forward(*args, **named)
        return output.to(torch.float32), attention

    return computed
