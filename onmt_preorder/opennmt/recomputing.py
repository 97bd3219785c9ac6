"""Recomputing activations under torch newer than 2.4.

Why: ``torch.utils.checkpoint`` asks that ``use_reentrant`` be given, which OpenNMT-py does not.

Can go when OpenNMT-py gives it.
"""

from __future__ import annotations

from typing import Any

from onmt_preorder.opennmt.wrapping import wrap


def adapt() -> None:
    """Recompute without reentrant autograd."""
    from onmt.modules import position_ffn

    wrap(position_ffn, "checkpoint", _checkpoint)


def _checkpoint(original: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    return original(function, *args, **{"use_reentrant": False, **kwargs})
