"""Logistic regression on hashed features: what is joined is told apart by its hash alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

BITS = 20  # hashed features share 2^BITS weights
SURE = 20  # log-odds where there is nothing to tell apart

_MULTIPLIERS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64
)
_MIX = np.uint64(0xD6E8FEB86659FD93)


def hashed(number: int, atoms: Sequence[np.ndarray]) -> np.ndarray:
    """Return the hash of atoms joined, below ``2^BITS``; ``number`` tells one join from others.

    Args:
        number: of the join.
        atoms: uint64 ``[rows]`` each, hashes; at most four.
    """
    key = np.full(len(atoms[0]), number, np.uint64)
    for multiplier, atom in zip(_MULTIPLIERS, atoms, strict=False):
        key = (key ^ atom * multiplier) * _MIX
        key ^= key >> np.uint64(32)
    return key * _MULTIPLIERS[0] >> np.uint64(64 - BITS)


def fit(
    features: np.ndarray, labels: np.ndarray, inverse_penalty: float, passes: int, seed: int
) -> np.ndarray:
    """Learn to tell rows that are labelled from others by their features.

    Args:
        features: int32 ``[rows, features]``, below ``2^BITS``.
        labels: bool ``[rows]``.
        inverse_penalty: how little large weights cost.
        passes: of the coordinate descent, at most; a few do as well as many.
        seed: of the order of its steps.

    Returns:
        Weights: float32 ``[2^BITS + 1]``, exact in half precision; the bias last.
    """
    from scipy.sparse import csr_matrix
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if labels.all() or not labels.any():
        return np.append(np.zeros(1 << BITS, np.float32), np.float32(SURE if labels.all() else -SURE))
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
    return weights.astype(np.float16).astype(np.float32)


def log_odds(weights: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return for each row of ``features`` how much rather it is labelled: float32 ``[rows]``."""
    return weights[-1] + weights[features].sum(axis=1)
