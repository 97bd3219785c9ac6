"""Named arrays, as a model or a checkpoint file holds them."""

from __future__ import annotations

import numpy as np

Arrays = dict[str, np.ndarray]


def add_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays with ``prefix`` before each name, so that several sets fit into one file."""
    return {prefix + name: array for name, array in arrays.items()}


def part_with(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays whose names begin with ``prefix``, without it: undoes :func:`add_prefix`."""
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
