"""Logistic regression on hashed features.

A feature is a combination of values (atoms), such as two neighbouring words. Its hash is the index of its
weight; features of one hash share a weight.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from preorder.data.errors import NotFiniteError

BITS = 20  # there are 2^BITS weights
CERTAIN = 20  # log-odds where all rows have the same label

_MULTIPLIERS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64
)
_MIX = np.uint64(0xD6E8FEB86659FD93)


def hashed(number: int, atoms: Sequence[np.ndarray]) -> np.ndarray:
    """Return the hash of each row's combination of atoms: uint64 ``[rows]``, below ``2^BITS``.

    Args:
        number: of the kind of combination, so that different kinds have different hashes.
        atoms: hashes, uint64 ``[rows]`` each; at most four.
    """
    key = np.full(len(atoms[0]), number, np.uint64)
    for multiplier, atom in zip(_MULTIPLIERS, atoms, strict=False):
        key = (key ^ atom * multiplier) * _MIX
        key ^= key >> np.uint64(32)
    return key * _MULTIPLIERS[0] >> np.uint64(64 - BITS)


def fit(
    features: np.ndarray, labels: np.ndarray, inverse_penalty: float, passes: int, seed: int
) -> np.ndarray:
    """Learn to predict the label of each row from its features.

    Args:
        features: int32 ``[rows, features]``, below ``2^BITS``.
        labels: bool ``[rows]``.
        inverse_penalty: inverse strength of the regularisation.
        passes: maximum of the coordinate descent; a few do as well as many.
        seed: of the order of the descent's steps.

    Returns:
        Weights: float32 ``[2^BITS + 1]``, exact in half precision; the bias last.

    Raises:
        NotFiniteError: a weight is too large for that.
    """
    from scipy.sparse import csr_matrix
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if labels.all() or not labels.any():
        return np.append(np.zeros(1 << BITS, np.float32), np.float32(CERTAIN if labels.all() else -CERTAIN))
    rows, width = features.shape
    starts = np.arange(0, rows * width + 1, width)
    matrix = csr_matrix((np.ones(features.size), features.ravel(), starts), (rows, 1 << BITS))
    regression = LogisticRegression(
        C=inverse_penalty, solver="liblinear", dual=True, max_iter=passes, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        regression.fit(matrix, labels)
    weights = np.append(regression.coef_[0], regression.intercept_)
    if not (np.abs(weights) <= np.finfo(np.float16).max).all():
        raise NotFiniteError("the weights")
    return weights.astype(np.float16).astype(np.float32)


def log_odds(weights: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return the log-odds that each row of ``features`` has the label: float32 ``[rows]``."""
    return weights[-1] + weights[features].sum(axis=1)
