"""Names that torch will remove, or has removed, and that OpenNMT-py still asks for.

They are supplied before OpenNMT-py is imported, and only where they are missing; so torch's warnings that
they will go need not concern who trains a model.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType

import torch


def supply() -> None:
    """Put what is missing back in its place, and silence the warnings about it in OpenNMT-py."""
    warnings.filterwarnings("ignore", r"`?torch\.(cuda\.amp|backends\.cuda)\.", FutureWarning, r"onmt\.")
    for name, replacement in (
        ("torch.cuda.amp.autocast", partial(torch.amp.autocast, "cuda")),
        ("torch.cuda.amp.GradScaler", partial(torch.amp.GradScaler, "cuda")),
        ("torch.cuda.amp.custom_fwd", partial(torch.amp.custom_fwd, device_type="cuda")),
        ("torch.cuda.amp.custom_bwd", partial(torch.amp.custom_bwd, device_type="cuda")),
        ("torch.backends.cuda.sdp_kernel", sdp_kernel),
    ):
        module, _, attribute = name.rpartition(".")
        if not hasattr(_module(module), attribute):
            setattr(_module(module), attribute, replacement)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True
) -> Iterator[None]:
    """Let scaled dot-product attention choose among these ways to compute it, and no others."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    choices = {
        SDPBackend.FLASH_ATTENTION: enable_flash,
        SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient,
        SDPBackend.MATH: enable_math,
    }
    with sdpa_kernel([backend for backend, enabled in choices.items() if enabled]):
        yield


def _module(name: str) -> ModuleType:
    """Return a module of torch's, made anew if it is gone."""
    try:
        return importlib.import_module(name)
    except ImportError:
        module = ModuleType(name)
        sys.modules[name] = module
        parent, _, attribute = name.rpartition(".")
        setattr(importlib.import_module(parent), attribute, module)
        return module
