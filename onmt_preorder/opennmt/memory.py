"""Keep the memory of freed tensors on CPUs.

Why: the GNU C library gives every large block back to the system as soon as it is freed, and the system fills
each new one with zeros. The tensors of a batch are such blocks, so that a quarter of the time of training
small models on a CPU is lost; translation gains nothing. Numbers stay the same to the bit; resident memory
does not fall between batches, and was a tenth higher at its peak.

It is done in trainings with an encoder or a decoder of ours, and in others only where the environment
variable :data:`VARIABLE` is 1, as the recipes set it for their baselines.

Can go when torch has an allocator for CPUs that keeps what is freed.
"""

from __future__ import annotations

import ctypes
import os
from argparse import Namespace
from typing import Any

from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.options import is_ours

VARIABLE = "ONMT_PREORDER_KEEP_MEMORY"

# From <malloc.h>: parameters of mallopt(3).
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
_MAX_THRESHOLD, _STEP = 2**31 - 1, 2**26  # bytes


def keep_freed_memory() -> bool:
    """Make this process keep the memory that it frees; return False where the C library is not GNU's."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    settings = (_MMAP_MAX, 0), (_TRIM_THRESHOLD, _MAX_THRESHOLD), (_TOP_PAD, _STEP)
    return all(mallopt(parameter, value) == 1 for parameter, value in settings)


@adapts("onmt.train_single", "configure_process")
def _configure_process(original: Any, opt: Namespace, device_id: int) -> Any:
    if device_id < 0 and (is_ours(opt) or os.environ.get(VARIABLE) == "1"):
        keep_freed_memory()
    return original(opt, device_id)
