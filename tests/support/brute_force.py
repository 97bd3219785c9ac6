"""What a tree scores by parts, node by node."""

import numpy as np
import torch

from preorder.btg.inside import FIRST, PARTS, SECOND, WHOLE


def draw_parts(n, batch, *seed):
    """Draw the parts of a minibatch, in double precision."""
    generator = np.random.default_rng((n, *seed))
    return torch.tensor(generator.normal(size=(batch, PARTS, 2, n + 1, n + 1)))


def score(parts, tree):
    return sum(
        parts[FIRST, label, b, m] + parts[SECOND, label, m, e] + parts[WHOLE, label, b, e]
        for b, m, e, label, _ in tree
    )
