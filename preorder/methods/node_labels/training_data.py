"""What sentences with trees and alignments teach about the labels of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from preorder.data import Bitext, Sentence
from preorder.data.trees import Binarisation
from preorder.errors import UsageError
from preorder.learning.vocabulary import common_layers
from preorder.methods.node_labels.forest import Forest, forest
from preorder.methods.node_labels.labeller import KINDS
from preorder.methods.node_labels.oracle import allowed, best_labels, count_pairs, flat_keys
from preorder.progress import LOGGER


@dataclass(frozen=True)
class TrainingData:
    """Sentences with trees, and which labels their alignments ask for.

    Attributes:
        sentences: those to learn from.
        trees: their binary trees, of one ``kind`` of the ``KINDS``.
        layers: of tokens, those that all sentences have, held-out ones too.
        counts: the pairs of :func:`.oracle.count_pairs`, for each of ``trees.rows``.
        statistics: for ``model.json``: ``nodes``, how many decide about aligned tokens; ``inverted``, how
            many of these are best inverted; and the tau_nakagawa of the best order that the trees allow,
            over aligned tokens (``allowed_aligned``) and all (``allowed_all``).
    """

    sentences: Sequence[Sentence]
    trees: Forest
    kind: str
    layers: list[str]
    counts: np.ndarray
    statistics: dict[str, float]


def training_data(bitext: Bitext, held_out: Bitext, how: Binarisation) -> TrainingData:
    """Collect the training data, and tell how good an order the trees allow.

    Raises:
        DataError: a link is out of range.
        UsageError: trees or tags are missing, or no node has an aligned token in both of its children.
    """
    lines = (*bitext.sentences, *held_out.sentences)
    kind = kind_of(lines)
    trees = forest(bitext.sentences, how)
    counts = count_pairs(trees, flat_keys(bitext))
    if not counts.any():
        raise UsageError("no node of the trees has an aligned token in both of its children")
    aligned, everything = allowed(trees, bitext), allowed(trees, bitext, every=True)
    LOGGER.info(
        f"the best order that the trees allow has a tau_nakagawa of {aligned:.4f} over aligned tokens, "
        f"{everything:.4f} over all"
    )
    statistics = {
        "nodes": int(counts.any(axis=1).sum()),
        "inverted": int(best_labels(counts).sum()),
        "allowed_aligned": aligned,
        "allowed_all": everything,
    }
    return TrainingData(bitext.sentences, trees, kind, common_layers(lines), counts, statistics)


def kind_of(sentences: Sequence[Sentence]) -> str:
    """Return the kind of the trees of sentences to learn from.

    Raises:
        UsageError: a sentence has no tree, or no tags, or trees are of both kinds.
    """
    kinds = [kind for kind in KINDS if any(getattr(sentence, kind) is not None for sentence in sentences)]
    if not kinds or any(sentence.tree is None for sentence in sentences):
        raise UsageError("the method needs syntax trees (--trees), and none are given")
    if len(kinds) > 1:
        raise UsageError("constituency and dependency trees are mixed")
    if any(sentence.tags is None for sentence in sentences):
        raise UsageError("the method needs POS tags (--pos), and none are given")
    return kinds[0]
