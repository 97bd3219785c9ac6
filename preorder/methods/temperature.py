"""The temperature of a model: by how much its scores have to be divided to be logs of probabilities.

A perceptron learns to have the best tree, and not how probable it is; a network is too sure of itself. The
temperature is the one under which the trees that the alignments of held-out lines allow are most probable.
The lines that a model has learned from would make it too low.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from preorder.btg.pieces import EXACT
from preorder.data.types import Bitext, Sentence
from preorder.progress import LOGGER

LEAST, GREATEST = 0.01, 100.0
"""Bounds of a temperature: a model that errs nowhere has the least, one that knows nothing the greatest."""

PRECISION = 1e-3
"""Of the log of the temperature."""

MOST_LINES = 1000
"""Lines that the temperature is fitted on; each takes some 20 times the sums over all trees."""


def temperature_of(
    held_out: Bitext,
    seed: int,
    likelihoods_of: Callable[[list[Sentence], np.ndarray], Callable[[float], np.ndarray]],
) -> float | None:
    """Return the temperature under which held-out lines are most probable; None: there are none to tell.

    ``likelihoods_of`` takes what :func:`lines_to_fit` returns, and gives the log likelihoods at a rate.
    """
    sentences, groups = lines_to_fit(held_out, seed)
    if not sentences:
        return None
    temperature = fitted_temperature(likelihoods_of(sentences, groups))
    LOGGER.info(f"temperature of the scores: {temperature:.3f} ({len(sentences):,} held-out lines)")
    return temperature


def is_temperature(value: Any) -> bool:
    """Say whether a value from a file is a temperature that can have been fitted."""
    return isinstance(value, float) and LEAST <= value <= GREATEST


def lines_to_fit(held_out: Bitext, seed: int) -> tuple[list[Sentence], np.ndarray]:
    """Return held-out lines whose alignments a tree can satisfy, evenly spread.

    Returns:
        Sentences of 2 to ``EXACT`` tokens, maybe none; and where their tokens belong, int32 groups, one
        sentence after another. Where links are less than certain, these are drawn by their confidences.
    """
    from preorder.btg.constraint import Constraint, constraint  # not needed where a model is used

    fitting = [
        pair
        for pair in zip(held_out.sentences, held_out.alignments, strict=True)
        if 1 < len(pair[0]) <= EXACT
    ]
    found = [(s, c) for s, a in fitting if (c := constraint(a, len(s))) is not None]
    if not found:
        return [], np.empty(0, np.int32)
    chosen = np.linspace(0, len(found) - 1, min(len(found), MOST_LINES)).astype(np.int64)
    sentences, constraints = zip(*(found[i] for i in chosen), strict=True)
    lengths = np.array(list(map(len, sentences)))
    whole = Constraint(*map(np.concatenate, zip(*constraints, strict=True)))
    return list(sentences), whole.drawn(lengths, np.random.default_rng(seed))


def fitted_temperature(log_likelihoods: Callable[[float], np.ndarray]) -> float:
    """Return the temperature of the greatest likelihood, from ``LEAST`` to ``GREATEST``.

    ``log_likelihoods`` gives those of the lines at a rate, one over the temperature.
    """
    from scipy.optimize import minimize_scalar  # slow to import

    found = minimize_scalar(
        lambda log_rate: -float(log_likelihoods(math.exp(log_rate)).mean()),
        bounds=(-math.log(GREATEST), -math.log(LEAST)),
        method="bounded",
        options={"xatol": PRECISION},
    )
    return math.exp(-found.x)
