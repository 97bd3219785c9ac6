"""A safetensors file from which an interrupted training resumes; nothing in it is executed.

Its metadata hold a key, which differs for other data or options, and further values as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save_file

from preorder import __version__
from preorder.errors import DataError, UsageError
from preorder.io import files, storage
from preorder.io.atomic import atomic_file, check_writable, remove_left
from preorder.io.storage import SUFFIX, is_url
from preorder.progress import LOGGER

Arrays = dict[str, np.ndarray]
"""Named arrays, as a model or a checkpoint file holds them."""

SAFETENSORS = ".safetensors"
INTERVAL = 60.0  # least number of seconds between two writes
SHARE = 0.05  # greatest share of the time that may go into writing


def digest(values: Any, *arrays: np.ndarray) -> str:
    """Return a key that differs for other JSON values, other arrays, and another version of this package."""
    state = blake2b(json.dumps([__version__, values], sort_keys=True).encode(), digest_size=16)
    for array in arrays:
        state.update(f"{array.dtype.str}{array.shape}".encode())
        state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()


def _checksum(values: str, arrays: Arrays) -> str:
    return digest([values, *sorted(arrays)], *(arrays[name] for name in sorted(arrays)))


def add_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays with ``prefix`` before each name, so that several sets fit into one file."""
    return {prefix + name: array for name, array in arrays.items()}


def part_with(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays whose names begin with ``prefix``, without it: undoes :func:`add_prefix`."""
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}


def checked(arrays: Arrays, name: str, dtype: type, shape: tuple[int | None, ...], of: str) -> np.ndarray:
    """Return an array of this type and shape (None: any size), its numbers finite; ``of`` names its owner."""
    if name not in arrays:
        raise DataError(f"not the weights of {of}: there is no {name}")
    array = arrays[name]
    sizes = len(shape) == array.ndim and all(s in (None, n) for s, n in zip(shape, array.shape, strict=True))
    if array.dtype != dtype or not sizes:
        raise DataError(f"not the weights of {of}: {name} is {array.dtype} {list(array.shape)}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise DataError(f"not the weights of {of}: not all of {name} are finite")
    return array


class Checkpoint:
    """The file, by path or URL, that one training writes now and then, and reads when it is started again."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else os.fspath(path)
        self._next = time.monotonic() + INTERVAL

    def member(self, number: int) -> Checkpoint:
        """Return the file of another training beside this one: ``NAME-NUMBER.safetensors``."""
        if self._path is None:
            return self
        return Checkpoint(f"{self._path.removesuffix(SAFETENSORS)}-{number}{SAFETENSORS}")

    def load(self, key: str) -> tuple[Any, Arrays] | None:
        """Return the values and arrays that were saved under a key; None: there is no file."""
        if self._path is None or not storage.exists(self._path):
            return None
        try:
            content = files.read_bytes(self._path)
            arrays = load(content)
            header = content[8 : 8 + int.from_bytes(content[:8], "little")]
            metadata = json.loads(header)["__metadata__"]
            values = files.parse_json(metadata["values"])
            if metadata["checksum"] != _checksum(metadata["values"], arrays):
                raise ValueError("its content has changed since it was written")
        except (OSError, SafetensorError, KeyError, ValueError, DataError) as error:
            raise DataError(f"not a checkpoint; `fresh` starts anew: {error}", self._path) from None
        if metadata.get("key") != key:
            raise UsageError(
                f"{self._path}: left by an interrupted training with other data or options; "
                "go on with those, or start anew with `fresh`"
            )
        return values, arrays

    @property
    def present(self) -> bool:
        """Whether there is a file."""
        return self._path is not None and storage.exists(self._path)

    @property
    def due(self) -> bool:
        """Whether it is time to write again."""
        return self._path is not None and time.monotonic() >= self._next

    def save(self, key: str, values: Any, arrays: Arrays) -> None:
        """Write values and arrays, under the key of the training."""
        if self._path is None:
            return
        began = time.monotonic()
        files.make_folder(os.path.dirname(self._path) or ".")
        with atomic_file(self._path) as temporary:
            try:
                metadata = {"key": key, "values": (text := json.dumps(values))}
                save_file(arrays, temporary, metadata | {"checksum": _checksum(text, arrays)})
            except (OSError, SafetensorError) as error:
                raise DataError(f"cannot be written: {error}", self._path) from None
        now = time.monotonic()
        self._next = now + max(INTERVAL, (now - began) / SHARE)


NO_CHECKPOINT = Checkpoint()


class Checkpoints:
    """A folder of checkpoints, one for each training, or other long job, of a command; None: none is kept."""

    def __init__(self, folder: str | None = None) -> None:
        if folder is not None:
            check_writable(folder)
        self._folder = folder

    def part(self, name: str) -> Checkpoint:
        """Return the checkpoint of one job of the command."""
        if self._folder is None:
            return NO_CHECKPOINT
        return Checkpoint(os.path.join(self._folder, f"{name}{SAFETENSORS}"))

    @contextlib.contextmanager
    def resumption_logged(self) -> Iterator[None]:
        """Log what the same command will go on from, if a block is interrupted."""
        try:
            yield
        except KeyboardInterrupt:
            if self._folder is not None:
                is_kept = any(name.endswith(SAFETENSORS) for name in storage.names(self._folder))
                anew = "there is no checkpoint yet: the same command starts anew"
                LOGGER.warning(f"the same command goes on from {self._folder}" if is_kept else anew)
            raise

    def remove(self) -> None:
        """Remove the checkpoints, what killed runs left of them, and the folder if nothing else is in it."""
        if self._folder is None:
            return
        for name in storage.names(self._folder):
            path = os.path.join(self._folder, name)
            if name.endswith(SUFFIX) and not is_url(path):
                remove_left(Path(path))
            elif name.endswith((SAFETENSORS, SUFFIX)):
                storage.remove([path])
        with contextlib.suppress(OSError):  # other things are in it; or a storage, which has no folders
            os.rmdir(self._folder)


NO_CHECKPOINTS = Checkpoints()
