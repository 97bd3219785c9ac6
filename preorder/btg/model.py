"""The BTG preorderer: training, use, and what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from tqdm import tqdm

from preorder.btg.constraint import constraint
from preorder.btg.encode import LAYERS, Batch, Encoder
from preorder.btg.options import Options
from preorder.btg.parse import EXACT, parse
from preorder.btg.perceptron import Progress, train
from preorder.btg.scores import shape_scores
from preorder.btg.weights import NEGLIGIBLE, Weights, unpack
from preorder.errors import DataError, UsageError
from preorder.types import Alignment, BinaryTree, Node, Permutation, Sentence


class BTGPreorderer:
    """A trained BTG model; see :class:`preorder.preorderer.Preorderer`."""

    method: ClassVar[str] = "btg"

    def __init__(self, weights: Weights, layers: Sequence[str]) -> None:
        """Make a preorderer of the weights learned on the given layers, of ``encode.LAYERS``."""
        self._weights = weights
        self._layers = tuple(layers)
        self._tables = weights.tables()
        self._shape = shape_scores(weights.shape, EXACT)
        self._encoder = Encoder(self._layers)

    @property
    def layers(self) -> frozenset[str]:
        """Names of the layers of a :class:`Sentence` that it reads beside the words."""
        return frozenset(self._layers) - {"words"}

    def order(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        """Return the reordering of each sentence; cost: see :func:`preorder.btg.parse.parse`."""
        _, positions = self._parse(sentences, threads)
        return [Permutation(tuple(part)) for part in _divide(positions.tolist(), sentences)]

    def trees(self, sentences: Sequence[Sentence], threads: int = 1) -> list[BinaryTree]:
        """Return the tree behind each reordering."""
        nodes, _ = self._parse(sentences, threads)
        return [
            BinaryTree(len(part), tuple(Node(b, m, e, label == 1) for b, m, e, label, _ in part[:-1]))
            for part in _divide(nodes.tolist(), sentences)
        ]

    def _parse(self, sentences: Sequence[Sentence], threads: int) -> tuple[np.ndarray, np.ndarray]:
        return parse(self._tables, self._shape, self._encoder(sentences), threads)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""
        return {"layers": list(self._layers)}, self._weights.pack()

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> BTGPreorderer:
        """Rebuild a preorderer.

        Raises:
            DataError: the state is not one of a BTG model.
        """
        layers = values.get("layers")
        if not isinstance(layers, list) or not layers or not set(layers) <= set(LAYERS):
            raise DataError(f"not the layers of a BTG model: {layers!r}")
        return cls(unpack(arrays), layers)

    @classmethod
    def fit(
        cls, sentences: Sequence[Sentence], alignments: Sequence[Alignment], options: Options
    ) -> tuple[BTGPreorderer, dict[str, Any]]:
        """Train on sentences with alignments; progress goes to standard error.

        Layers that any sentence lacks are not used. The same input and options give the same
        model, whatever the number of threads.

        Returns:
            The preorderer, and figures: ``options``; ``trained`` sentences; those ``skipped``, as no
            tree can satisfy their alignment, and ``trivial``, of fewer than two tokens; ``errors`` and
            ``updates`` of each iteration; ``weights`` that are not zero.

        Raises:
            DataError: a link is out of range.
            UsageError: no sentence can be learned from.
        """
        layers = [name for name in LAYERS if all(getattr(s, name) is not None for s in sentences)]
        pairs = [(s, a) for s, a in zip(sentences, alignments, strict=True) if len(s) > 1]
        groups = [constraint(alignment, len(s), options.unaligned) for s, alignment in pairs]
        used = [(s, g) for (s, _), g in zip(pairs, groups, strict=True) if g is not None]
        if not used:
            raise UsageError("no sentence has two tokens and an alignment that a BTG tree can satisfy")
        batch = Encoder(layers)([s for s, _ in used])
        weights, history = _train(batch, np.concatenate([g for _, g in used]), options)
        weights = weights.compact(NEGLIGIBLE * options.cost)
        figures = {
            "options": {k: v for k, v in asdict(options).items() if k != "threads"},
            "trained": len(used),
            "skipped": len(pairs) - len(used),
            "trivial": len(sentences) - len(pairs),
            "errors": [progress.errors for progress in history],
            "weights": sum(int(np.count_nonzero(rows)) for rows in (*weights.rows, weights.shape)),
        }
        return cls(weights, layers), figures


def _train(batch: Batch, groups: np.ndarray, options: Options) -> tuple[Weights, list[Progress]]:
    """Train, with a progress bar."""
    history: list[Progress] = []
    with tqdm(total=options.iterations, unit=" iterations", disable=None) as bar:

        def report(progress: Progress) -> None:
            history.append(progress)
            bar.set_postfix(errors=progress.errors)
            bar.update()

        return train(batch, groups, options, report), history


def _divide(flat: list[Any], sentences: Sequence[Sentence]) -> list[list[Any]]:
    """Cut what is one item a token into sentences."""
    parts, begin = [], 0
    for sentence in sentences:
        parts.append(flat[begin : begin + len(sentence)])
        begin += len(sentence)
    return parts
