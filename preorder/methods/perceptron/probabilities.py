"""The trees of a batch's sentences as distributions: probabilities are proportional to exp(rate · score).

The rate is one over the temperature (:mod:`.temperature`). Sentences are cut as :mod:`.parse` cuts them, and
the pieces are independent. O(n³) a sentence of n tokens, O(EXACT² n) beyond ``EXACT``.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from preorder.btg.constraint import group_bounds, penalise
from preorder.btg.grammar import NODE_FIELDS
from preorder.btg.pieces import context_of
from preorder.btg.sample import draw_tree
from preorder.btg.scores import FORBIDDEN
from preorder.btg.sums import log_total
from preorder.btg.viterbi import positions_of
from preorder.compiled import entry_point, inner
from preorder.learning.encode import Batch
from preorder.methods.perceptron.fast.table import Tables
from preorder.methods.perceptron.parse import cuts_of, in_chunks, scores_of


def drawn_positions(
    tables: Tables, shape: np.ndarray, batch: Batch, rate: float, uniforms: np.ndarray, threads: int
) -> np.ndarray:
    """Return the positions that a drawn tree gives, one sentence after another: int32 ``[tokens]``.

    ``uniforms`` are float64 ``[tokens]``, from [0, 1), all that the draws depend on.
    """
    positions = np.empty(int(batch.lengths.sum()), np.int32)
    run = partial(_draw, tables, shape, batch, rate, uniforms, positions)
    in_chunks(run, batch.lengths.size, threads)
    return positions


def log_likelihoods(
    tables: Tables, shape: np.ndarray, batch: Batch, groups: np.ndarray, rate: float, threads: int
) -> np.ndarray:
    """Return the log of the probability that a tree has valid nodes only: float64 ``[sentences]``.

    The sentences have 2 to ``EXACT`` tokens; ``groups`` are int32 ``[tokens]``, where each token belongs
    (:mod:`preorder.btg.constraint`), and some tree has to satisfy them.
    """
    result = np.empty(batch.lengths.size)
    in_chunks(partial(_likelihoods, tables, shape, batch, groups, rate, result), result.size, threads)
    return result


@inner
def _sentence(tables, batch, sentence):
    """Return a sentence's length, where it begins among all tokens, its part of the batch, and its cuts."""
    n, start = batch.lengths[sentence], batch.starts[sentence]
    tokens = batch.tokens[:, start - 1 : start + n + 1]
    cuts = cuts_of(tables, tokens, n)
    return n, start - sentence - 1, tokens, cuts if n else cuts[:1]


@entry_point
def _draw(tables, shape, batch, rate, uniforms, positions, first, last):
    for sentence in range(first, last):
        n, offset, tokens, cuts = _sentence(tables, batch, sentence)
        for p in range(cuts.size - 1):
            begin, end = cuts[p], cuts[p + 1]
            here = slice(offset + begin, offset + end)
            nodes = np.empty((end - begin - 1, NODE_FIELDS), np.int32)
            scores = scores_of(tables, shape, tokens[:, begin : end + 2], end - begin)
            draw_tree(scores, context_of(begin, end, n), rate, uniforms[here], nodes)
            of_piece = positions[here]
            positions_of(nodes, of_piece)
            of_piece += np.int32(begin)


@entry_point
def _likelihoods(tables, shape, batch, groups, rate, result, first, last):
    for sentence in range(first, last):
        n, offset, tokens, _ = _sentence(tables, batch, sentence)
        scores = scores_of(tables, shape, tokens, n)
        whole = log_total(scores, n, rate)
        penalise(group_bounds(groups[offset : offset + n]), n, FORBIDDEN, scores.node)
        result[sentence] = log_total(scores, n, rate) - whole
