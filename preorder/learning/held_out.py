"""Which lines a model learns from, and which are held out to measure it while it learns."""

from __future__ import annotations

import random
from collections.abc import Sequence

from preorder.alignment.gold import trusted_groups
from preorder.data import Bitext, Permutation
from preorder.errors import UsageError

DEFAULT_HELD_OUT = 1000
"""Lines that are held out by default, but at most ``MAX_SHARE`` of all."""

MAX_SHARE = 0.05


def chosen_lines(bitext: Bitext, limit: int, max_length: int, seed: int) -> list[int]:
    """Return the indices of at most ``limit`` lines to train on, drawn at random, ascending.

    Raises:
        UsageError: no line has 1 to ``max_length`` tokens.
    """
    fitting = [i for i, sentence in enumerate(bitext.sentences) if 0 < len(sentence) <= max_length]
    if not fitting:
        raise UsageError(f"no sentence of 1 to {max_length} tokens to train on")
    if len(fitting) <= limit:
        return fitting
    return sorted(random.Random(seed).sample(fitting, limit))


def hold_out(bitext: Bitext, count: int | None, seed: int) -> tuple[Bitext, Bitext]:
    """Divide a bitext into the lines to learn from and those to measure on, drawn at random.

    Args:
        bitext: all lines.
        count: of lines held out; None: ``DEFAULT_HELD_OUT``, but at most ``MAX_SHARE`` of all.
        seed: the same seed holds out the same lines.

    Raises:
        UsageError: no line is left to learn from.
    """
    if count is None:
        count = min(DEFAULT_HELD_OUT, int(MAX_SHARE * len(bitext)))
    if count >= len(bitext):
        raise UsageError(f"--held-out {count}: no line of {len(bitext)} is left to learn from")
    held = set(random.Random(seed).sample(range(len(bitext)), count))
    return bitext.take(i for i in range(len(bitext)) if i not in held), bitext.take(sorted(held))


class HeldOutLines:
    """Lines to measure a model on while it learns.

    Attributes:
        sentences: those of two tokens or more whose alignment says in which order they belong.
        groups: the target groups of each sentence's tokens.
    """

    def __init__(self, bitext: Bitext) -> None:
        pairs = zip(bitext.sentences, bitext.alignments, strict=True)
        grouped = [(s, trusted) for s, a in pairs if len(s) > 1 and (trusted := trusted_groups(a, len(s)))]
        self.sentences = [sentence for sentence, _ in grouped]
        self.groups = [groups for _, (groups, _) in grouped]

    def __len__(self) -> int:
        return len(self.sentences)

    def tau(self, permutations: Sequence[Permutation]) -> float:
        """Return the mean tau_nakagawa of one reordering of each sentence; about 2 µs a token."""
        from preorder.metrics.orders import (
            mean_scores,
            order_statistics,
        )  # numba takes a while to import

        return mean_scores(order_statistics(self.groups, [p.positions for p in permutations])).tau_nakagawa
