"""Loading of checkpoints that OpenNMT-py writes but cannot read.

Why:

- ``torch.load`` of torch >= 2.6 unpickles only allowed classes, and checkpoints hold their
  options as an ``argparse.Namespace``. We allow this class and no other: its contents are
  still restricted to plain values and tensors.
- ``save_format: safetensors`` saves ``x.safetensors``; loading looks for ``x.*.safetensors``.

Can go when OpenNMT-py saves its options as a dictionary or allows the class itself, and loads
what it saves.
"""

from __future__ import annotations

import pickle
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch

from onmt_preorder.opennmt.wrapping import wrap
from preorder.data.errors import DataError


def adapt() -> None:
    """Let translation, ``train_from`` and ``onmt_average_models`` load checkpoints."""
    from onmt.models.model import BaseModel

    torch.serialization.add_safe_globals([Namespace])
    wrap(BaseModel, "load_safe_state_dict", _load_safetensors)


def _load_safetensors(original: Any, self: Any, model_path: str, *args: Any, **kwargs: Any) -> Any:
    from safetensors.torch import load_file

    path = Path(f"{model_path}.safetensors")
    if not path.is_file():
        return original(self, model_path, *args, **kwargs)
    return self.load_state_dict({"model": load_file(path), "generator": {}}, *args, **kwargs)


def read_options(path: str) -> Namespace:
    """Return the options that a checkpoint was trained with; its weights are not read.

    Raises:
        DataError: the file is missing or is not a checkpoint.
    """
    try:
        return torch.load(path, map_location="cpu", mmap=True, weights_only=True)["opt"]
    except OSError as error:
        raise DataError(error.strerror or "cannot be read", path) from None
    except (RuntimeError, ValueError, TypeError, KeyError, EOFError, pickle.UnpicklingError):
        raise DataError("not a checkpoint of OpenNMT-py", path) from None
