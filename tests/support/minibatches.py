"""Minibatches of trees, of a numbering of few words."""

import torch

from preorder.learning.encode import Vocabulary
from preorder.learning.network import equally_long
from preorder.methods.tree_swap.networks import Numbering, minibatch
from preorder.methods.tree_swap.trees import forest

CPU = torch.device("cpu")
ROWS = {"words": 13, "tags": 3}
NUMBERING = Numbering(
    Vocabulary({"words": [f"w{i}" for i in range(12)], "tags": ["NN", "X"]}), ["S", "NP", "VP'", "nsubj-"]
)


def minibatches(lines, how="head"):
    batch = NUMBERING(lines, forest(lines, how))
    for chosen in equally_long(batch.trees.lengths, lambda _: 3):
        yield batch, chosen, *minibatch(batch, chosen, CPU)
