"""Recomputing activations on the torch of today.

Why: ``torch.utils.checkpoint`` wants to be told which of its two ways to go.

Can go when OpenNMT-py says so.
"""

from __future__ import annotations

from typing import Any

from onmt_preorder.opennmt.wrapping import wrap


def adapt() -> None:
    """Say how to recompute."""
    from onmt.modules import position_ffn

    wrap(position_ffn, "checkpoint", _checkpoint)


def _checkpoint(original: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    return original(function, *args, **{"use_reentrant": False, **kwargs})
