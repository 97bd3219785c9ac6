"""What OpenNMT-py's own models can do and ours cannot."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from preorder.data.errors import UsageError


def refuse(opt: Namespace, unsupported: Mapping[str, Any], whose: str) -> None:
    """Refuse options that a model does not know what to do with.

    Args:
        opt: a training's, a checkpoint's or a translation's.
        unsupported: names of options, each with the value that leaves it off.
        whose: the option and value that name the model, for the message.

    Raises:
        UsageError: one of them is on.
    """
    for name, off in unsupported.items():
        if getattr(opt, name, off) != off:
            raise UsageError(f"{name} does not work with {whose}")


def refuse_in_model(opt: Namespace, unsupported: Mapping[str, Any], whose: str) -> None:
    """Refuse what a model does not know what to do with, and to cut it into pieces.

    Arguments as of :func:`refuse`.

    Raises:
        UsageError: one of the options is on, or several devices are to have a piece each.
    """
    refuse(opt, unsupported, whose)
    if getattr(opt, "parallel_mode", None) == "tensor_parallel" and getattr(opt, "world_size", 1) > 1:
        raise UsageError(f"parallel_mode: tensor_parallel does not work with {whose}")
