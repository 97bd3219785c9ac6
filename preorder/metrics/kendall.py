"""The pairs of a vector that are in order, reversed or tied: what Kendall's tau is made of."""

from __future__ import annotations

import numpy as np

from preorder.compiled import entry_point


@entry_point
def count_pairs(ranks: np.ndarray, size: int) -> tuple[int, int, int]:
    """Count the pairs ``i < j`` of integers in ``[0, size)``: concordant, discordant, tied.

    Concordant is ``ranks[i] < ranks[j]``. A Fenwick tree holds how often each rank was seen. O(n log size).
    """
    tree = np.zeros(size + 1, np.int64)
    seen = np.zeros(size, np.int64)
    concordant, tied = 0, 0
    for rank in ranks:
        tied += seen[rank]
        seen[rank] += 1
        node = rank
        while node > 0:  # tree nodes 1 … rank: the ranks below this one
            concordant += tree[node]
            node -= node & -node
        node = rank + 1
        while node <= size:
            tree[node] += 1
            node += node & -node
    pairs = len(ranks) * (len(ranks) - 1) // 2
    return concordant, pairs - concordant - tied, tied
