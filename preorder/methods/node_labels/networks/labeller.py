"""What the preorderers that label given trees by a network share: training, use, and what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from preorder.data import NO_LINES, Bitext, Sentence
from preorder.data.trees import Binarisation
from preorder.errors import DataError, shown
from preorder.learning.backend import device, network_of, sizes_of, torch, weights_of
from preorder.learning.checkpoint import NO_CHECKPOINT, Arrays, Checkpoint
from preorder.learning.options import without_threads
from preorder.learning.vocabulary import Vocabulary, is_strings
from preorder.methods.node_labels.forest import Forest
from preorder.methods.node_labels.labeller import TreeLabeller, trees_of
from preorder.methods.node_labels.networks.batch import Numbering, log_odds
from preorder.methods.node_labels.networks.learner import Learner
from preorder.methods.node_labels.options import RecursiveOptions
from preorder.methods.node_labels.training_data import training_data


class NetworkLabeller(TreeLabeller):
    """A trained network; see :class:`preorder.methods.base.Preorderer`.

    Attributes:
        method: its name.
        network: the class of its networks. It is made from the size of each layer's vocabulary, the number of
            categories, a size, the share of units that is dropped in training, and whether it sees the
            categories of nodes. It returns the log-odds of the nodes of a :class:`.batch.Minibatch`.
    """

    method: ClassVar[str]
    network: ClassVar[type[torch.nn.Module]]

    def __init__(
        self, kind: str, binarisation: Binarisation, numbering: Numbering, network: torch.nn.Module
    ) -> None:
        """Make a preorderer of a network and the numbering that it was made for."""
        super().__init__(kind, binarisation, tuple(numbering.vocabulary.known))
        self._numbering = numbering
        self._network = network.to(device()).eval()

    def log_odds(self, sentences: Sequence[Sentence], trees: Forest, threads: int) -> np.ndarray:
        """Return the log-odds that each of ``trees.rows`` is inverted: float32 ``[nodes]``."""
        return log_odds(self._network, self._numbering(sentences, trees), threads)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what :meth:`from_state` needs: values for JSON, and arrays."""
        values = {
            "trees": self.kind,
            "binarisation": self.binarisation,
            "size": self._network.output.in_features,
            "category": self._network.category is not None,
            "vocabulary": self._numbering.vocabulary.known,
            "categories": self._numbering.categories,
        }
        return values, weights_of(self._network)

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> NetworkLabeller:
        """Rebuild a preorderer from its :meth:`state`; a DataError says that it is none of such a network."""
        category, categories = values.get("category"), values.get("categories")
        if not isinstance(category, bool) or not is_strings(categories):
            raise DataError(f"not the categories of a model of nodes: {shown(category)}, {shown(categories)}")
        numbering = Numbering(Vocabulary.from_state(values.get("vocabulary")), categories)
        (size,) = sizes_of(values, arrays, "size")
        rows = numbering.vocabulary.rows, numbering.rows
        network = network_of(lambda: cls.network(*rows, size, category=category), arrays)
        return cls(*trees_of(values), numbering, network)

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        options: RecursiveOptions,
        held_out: Bitext = NO_LINES,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> tuple[NetworkLabeller, dict[str, Any]]:
        """Learn from sentences with trees and alignments; see :meth:`preorder.methods.base.Preorderer.fit`.

        Word classes are used if all sentences have them. The same input and options give the same
        model on the same machine, whatever the number of threads and however often training was interrupted.
        The statistics include those of :class:`.training_data.TrainingData`.
        """
        data = training_data(bitext, held_out, options.binarisation)
        learner = Learner(cls.method, cls.network, data, options)
        statistics = {
            "options": without_threads(options),
            **data.statistics,
            **learner.train(held_out, checkpoint),
        }
        return cls(data.kind, options.binarisation, learner.numbering, learner.average), statistics
