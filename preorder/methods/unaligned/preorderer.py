"""A preorderer of any method whose orders put unaligned tokens where the gold order has them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import numpy as np

from preorder.btg.results import permutations
from preorder.data.errors import UsageError
from preorder.data.types import BinaryTree, Bitext, Permutation, Sentence
from preorder.learning.checkpoint import Arrays
from preorder.learning.vocabulary import LAYERS
from preorder.methods.base import ATTACHMENT, Preorderer
from preorder.methods.unaligned.attach import attach
from preorder.methods.unaligned.links import Links


class AttachingPreorderer:
    """A preorderer whose unaligned tokens are attached to aligned ones.

    See :class:`preorder.methods.base.Preorderer`; but its training takes a preorderer, not options.
    """

    def __init__(self, preorderer: Preorderer, links: Links) -> None:
        self.preorderer = preorderer
        self._links = links
        self.method = preorderer.method
        self.layers = preorderer.layers

    @classmethod
    def fit(cls, preorderer: Preorderer, bitext: Bitext, seed: int) -> AttachingPreorderer:
        """Learn which tokens are linked, from the layers that the preorderer reads."""
        return cls(preorderer, Links.fit(bitext, _layers(preorderer), seed))

    @classmethod
    def of(cls, preorderer: Preorderer, weights: np.ndarray) -> AttachingPreorderer:
        """Add the attachment to a preorderer again, from the array ``ATTACHMENT`` of the :meth:`state`.

        Raises:
            DataError: the weights are not of a predictor of links.
        """
        return cls(preorderer, Links(_layers(preorderer), weights))

    def order(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        """Return the reordering of each sentence; the cost of :func:`attach` comes on top."""
        given = [p.positions for p in self.preorderer.order(sentences, threads)]
        starts = np.cumsum([0, *map(len, given)])
        flat = np.fromiter((position for positions in given for position in positions), np.int32, starts[-1])
        linked = self._links.probabilities(sentences)
        bounds = np.linspace(0, len(sentences), threads + 1).astype(np.int64).tolist()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda b, e: attach(flat, linked, starts[b : e + 1]), bounds[:-1], bounds[1:]))
        return permutations(flat, sentences)

    def trees(self, sentences: Sequence[Sentence], threads: int = 1) -> list[BinaryTree]:
        """Return for each sentence a tree that gives its reordering."""
        return [BinaryTree.from_permutation(permutation) for permutation in self.order(sentences, threads)]

    def best_orders(self, sentences: Sequence[Sentence], k: int, threads: int = 1) -> NoReturn:  # noqa: ARG002
        """Refuse: only one order is found.

        Raises:
            UsageError: always.
        """
        raise UsageError("the model attaches unaligned tokens (--attach): it finds one order only, no n-best")

    best_trees = best_orders

    def expected_positions(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: where unaligned tokens go has no probability.

        Raises:
            UsageError: always.
        """
        raise UsageError("the model attaches unaligned tokens (--attach): it has no probabilities of orders")

    sample = expected_positions

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the preorderer's state, with the weights of the predictor of links in its arrays."""
        values, arrays = self.preorderer.state()
        return values, arrays | {ATTACHMENT: self._links.weights}


def _layers(preorderer: Preorderer) -> list[str]:
    return [name for name in LAYERS if name == "words" or name in preorderer.layers]
