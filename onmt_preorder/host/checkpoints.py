"""Checkpoints under torch >= 2.6.

Why: ``torch.load`` there unpickles only what is allowed, and OpenNMT-py's checkpoints hold
their options as an ``argparse.Namespace``. It is allowed, and nothing else: its contents
are still restricted to plain values and tensors.

Can go when OpenNMT-py saves its options as a dictionary or allows the class itself.
"""

from argparse import Namespace

import torch


def adapt() -> None:
    """Let translation, ``train_from`` and ``onmt_average_models`` load checkpoints."""
    torch.serialization.add_safe_globals([Namespace])
