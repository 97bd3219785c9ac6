"""Refusal of options that OpenNMT-py's own models support and ours do not."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from preorder.data.errors import UsageError


def refuse(opt: Namespace, unsupported: Mapping[str, Any], whose: str) -> None:
    """Refuse options that a model does not support.

    Args:
        opt: the options of a training, a checkpoint or a translation.
        unsupported: name of each unsupported option, with the value that turns it off.
        whose: the option and value that name the model, for the message.

    Raises:
        UsageError: an unsupported option is on.
    """
    for name, off in unsupported.items():
        if getattr(opt, name, off) != off:
            raise UsageError(f"{name} does not work with {whose}")


def refuse_in_model(opt: Namespace, unsupported: Mapping[str, Any], whose: str) -> None:
    """Refuse options that a model does not support, and tensor parallelism.

    The arguments are those of :func:`refuse`.

    Raises:
        UsageError: an unsupported option is on, or the model is to be split among several GPUs.
    """
    refuse(opt, unsupported, whose)
    if getattr(opt, "parallel_mode", None) == "tensor_parallel" and getattr(opt, "world_size", 1) > 1:
        raise UsageError(f"parallel_mode: tensor_parallel does not work with {whose}")
