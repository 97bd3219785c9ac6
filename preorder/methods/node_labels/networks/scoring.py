"""The log-odds of inversion of the nodes of any sentences, by a trained network."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from preorder.learning import backend
from preorder.learning.backend import device, torch
from preorder.methods.node_labels.networks.batch import Batch, equally_long, minibatch

MAX_TOKENS = 8192
"""Greatest number of tokens that are labelled at a time, unless one sentence has more."""


def log_odds(network: torch.nn.Module, batch: Batch, threads: int) -> np.ndarray:
    """Return the log-odds of inversion for each of ``batch.trees.rows``: float32 ``[nodes]``.

    Minibatches of equally long sentences are computed side by side, each by one thread, so that the result
    does not depend on how many threads there are.
    """
    odds = np.zeros(len(batch.trees.nodes), np.float32)

    def run(sentences: np.ndarray) -> None:
        with torch.inference_mode():
            nodes, rows = minibatch(batch, sentences, device())
            odds[rows] = network(nodes).cpu().numpy()

    with backend.threads(1), ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, equally_long(batch.trees.lengths, lambda n: max(1, MAX_TOKENS // n))))
    return odds[batch.trees.rows]
