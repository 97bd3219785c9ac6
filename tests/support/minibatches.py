"""Minibatches of trees, of a numbering of few words."""

import torch

from preorder.learning.vocabulary import Vocabulary
from preorder.methods.node_labels.forest import forest
from preorder.methods.node_labels.networks.batch import Numbering, equally_long, minibatch

CPU = torch.device("cpu")
ROWS = {"words": 13, "tags": 3}
NUMBERING = Numbering(
    Vocabulary({"words": [f"w{i}" for i in range(12)], "tags": ["NN", "X"]}), ["S", "NP", "VP'", "nsubj-"]
)


def minibatches(lines, how="head"):
    batch = NUMBERING(lines, forest(lines, how))
    for chosen in equally_long(batch.trees.lengths, lambda _: 3):
        yield batch, chosen, *minibatch(batch, chosen, CPU)
