"""Named arrays, as a model or a checkpoint file holds them."""

from __future__ import annotations

import numpy as np

from preorder.data.errors import DataError

Arrays = dict[str, np.ndarray]


def add_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays with ``prefix`` before each name, so that several sets fit into one file."""
    return {prefix + name: array for name, array in arrays.items()}


def part_with(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays whose names begin with ``prefix``, without it: undoes :func:`add_prefix`."""
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}


def checked(arrays: Arrays, name: str, dtype: type, shape: tuple[int | None, ...], of: str) -> np.ndarray:
    """Return an array of a file once it is known to be what compiled code and networks rely on.

    Args:
        arrays: by name.
        name: of the array.
        dtype: its type.
        shape: its shape; None: any size.
        of: what it is a part of, for the message.

    Raises:
        DataError: it is missing, of another type or shape, or a number in it is infinite or none.
    """
    if name not in arrays:
        raise DataError(f"not the weights of {of}: there is no {name}")
    array = arrays[name]
    sizes = len(shape) == array.ndim and all(s in (None, n) for s, n in zip(shape, array.shape, strict=True))
    if array.dtype != dtype or not sizes:
        raise DataError(f"not the weights of {of}: {name} is {array.dtype} {list(array.shape)}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise DataError(f"not the weights of {of}: not all of {name} are finite")
    return array
