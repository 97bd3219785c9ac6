"""Torch of today, where OpenNMT-py was written for torch 2.2.

Why: ``torch.utils.checkpoint`` wants to be told which of its two ways to go; the names that
:mod:`onmt_preorder.removed` stands ready to supply warn at each training that they will go.

Can go when OpenNMT-py asks for a torch of after 2.6.
"""

from __future__ import annotations

import warnings
from typing import Any

from onmt_preorder.host.wrapping import wrap


def adapt() -> None:
    """Say how to recompute; silence what we answer for."""
    from onmt.modules import position_ffn

    wrap(position_ffn, "checkpoint", _checkpoint)
    for name in (r"torch\.cuda\.amp\.", r"torch\.backends\.cuda\.sdp_kernel"):
        warnings.filterwarnings("ignore", rf"`?{name}", FutureWarning, r"onmt\.")


def _checkpoint(original: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    return original(function, *args, **{"use_reentrant": False, **kwargs})
