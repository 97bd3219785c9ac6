"""The best distinct orders of a sentence, exactly and lazily.

Huang and Chiang (2005), algorithm 3, over the Viterbi chart: an *item* is a span in a context; its
*entries* are its distinct orders, best first, found only when someone asks for the next; its
*candidates* wait in a heap, each a split, a label, and an entry of either child. Many trees give
one order, and the best of them comes first; those that follow are known by a hash of the order and
dropped. An order that is not among the k best of its item cannot be part of the k best of the whole,
as those k in its place would be better and as distinct.

The hash of a sequence is a polynomial in an odd number modulo 2^64, so that of two sequences, one
after the other, follows from theirs; two orders share one with a probability of some 2^-54.

A sentence of more than ``EXACT`` tokens is cut where its parser cuts it, and what is distinct is
the order within its parts.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from preorder.btg.viterbi import NODE_FIELDS, best_scores, positions_of
from preorder.compiled import entry_point, inner
from preorder.learning.encode import Batch
from preorder.methods.perceptron.fast.scores import Tables, node_index, score_sentence
from preorder.methods.perceptron.features import CONTEXTS, INVERTED, LABELS, LEFT, RIGHT
from preorder.methods.perceptron.parse import borders_of, context_of, join, run_in_chunks


class NBest(NamedTuple):
    """The best orders of the sentences of a batch, best first, one sentence after another.

    Attributes:
        counts: int64, how many each sentence has.
        first, offsets: int64, where those of a sentence begin, in ``totals`` and in the others.
        totals: float32 ``[sum of counts]``, the scores of the best trees behind them.
        nodes: int32 ``[sum of counts · tokens, NODE_FIELDS]``, those trees, as :func:`parse` gives them.
        positions: int32 ``[sum of counts · tokens]``, the orders.
    """

    counts: np.ndarray
    first: np.ndarray
    offsets: np.ndarray
    totals: np.ndarray
    nodes: np.ndarray
    positions: np.ndarray


def nbest(tables: Tables, shape: np.ndarray, batch: Batch, most: int, threads: int) -> NBest:
    """Return the ``most`` best orders of each sentence, fewer where a BTG gives fewer.

    Costs the parse, and for each order some splits of each span on the way to it.
    """
    best = room_for(batch.lengths, most)
    run = partial(_search_sentences, tables, shape, batch, best)
    run_in_chunks(run, batch.lengths.size, threads)
    return best


def room_for(lengths: np.ndarray, most: int) -> NBest:
    """Return arrays for the best orders of sentences of the given lengths, at most so many each."""
    counts = np.minimum(most, _ORDERS[np.minimum(lengths, _ORDERS.size - 1)])
    first = np.cumsum(counts) - counts
    offsets = np.cumsum(counts * lengths) - counts * lengths
    tokens = int((counts * lengths).sum())
    return NBest(
        counts,
        first,
        offsets,
        np.zeros(int(counts.sum()), np.float32),
        np.empty((tokens, NODE_FIELDS), np.int32),
        np.empty(tokens, np.int32),
    )


def _orders_of_length() -> np.ndarray:
    """Return how many orders a BTG gives to so many tokens, as far as int64 holds them.

    The large Schröder numbers: (n + 1) S(n) = 3 (2n - 1) S(n - 1) - (n - 2) S(n - 2).
    """
    numbers = [1, 2]
    while numbers[-1] < 1 << 60:
        n = len(numbers)
        numbers.append((3 * (2 * n - 1) * numbers[-1] - (n - 2) * numbers[-2]) // (n + 1))
    return np.array([1, *numbers], np.int64)  # by number of tokens: 1, 1, 2, 6, 22, …


_ORDERS = _orders_of_length()


@entry_point
def _search_sentences(tables, shape, batch, best, begin, end):
    for sentence in range(begin, end):
        n, start = batch.lengths[sentence], batch.starts[sentence]
        if n > 0:
            trees, totals, positions = of_sentence(best, sentence, n)
            _search_parts(tables, shape, batch.tokens[:, start - 1 : start + n + 1], n, trees, totals)
            for k in range(totals.size):
                positions_of(trees[k], positions[k])


@entry_point
def of_sentence(best, sentence, n):
    """Return the trees, totals and positions of a sentence of n tokens, a row or an item an order."""
    count, first, offset = best.counts[sentence], best.first[sentence], best.offsets[sentence]
    trees = best.nodes[offset : offset + n * count].reshape((count, n, NODE_FIELDS))[:, : n - 1]
    positions = best.positions[offset : offset + n * count].reshape((count, n))
    return trees, best.totals[first : first + count], positions


@inner
def _search_parts(tables, shape, tokens, n, trees, totals):
    """Find the best orders of a sentence part by part; most sentences are one."""
    borders = borders_of(tables, tokens, n)
    count = trees.shape[0]
    known = 1  # orders of the parts so far
    for p in range(borders.size - 1):
        b, e = borders[p], borders[p + 1]
        part, scores, found = no_orders(e - b, count)
        if e - b > 1:
            nodes = score_sentence(tables, shape, tokens[:, b : e + 2], e - b)
            found = best_orders(nodes, e - b, context_of(b, e, n), part, scores)
        known = join_best(trees, totals, known, part, scores, found, b)


@entry_point
def no_orders(n, most):
    """Return room for the trees and scores of so many orders of n tokens, and how many of one there are."""
    return np.empty((most, n - 1, NODE_FIELDS), np.int32), np.zeros(most, np.float32), 1


@entry_point
def join_best(trees, totals, known, part, scores, found, begin):
    """Join the best orders of the parts so far with those of the next, and keep the best.

    Args:
        trees, totals: the best of the parts so far, ``known`` of them; in the end the joined ones.
        part, scores: the best of the next part, ``found`` of them, as :func:`best_orders` gives them.
        begin: where that part begins.

    Returns:
        How many were kept.
    """
    n, size = trees.shape[1] + 1, part.shape[1] + 1
    earlier, sums = trees[:known].copy(), totals[:known].copy()
    next_ = np.zeros(known, np.int64)  # of the part, to be joined to each of the earlier ones
    for k in range(totals.size):
        chosen, best = -1, np.float32(0)
        for i in range(known):
            if next_[i] < found and (chosen < 0 or sums[i] + scores[next_[i]] > best):
                chosen, best = i, sums[i] + scores[next_[i]]
        if chosen < 0:
            return k
        totals[k] = best
        _copy_nodes(earlier[chosen], trees[k], 0, begin, 0)
        done = begin + join(trees[k], begin, begin, begin + size, n)
        _copy_nodes(part[next_[chosen]], trees[k], done, size - 1, begin)
        next_[chosen] += 1
    return totals.size


@inner
def _copy_nodes(nodes, target, first, count, begin):
    """Copy nodes to a place from a row on, their tokens counted from another."""
    for k in range(count):
        for field in range(NODE_FIELDS):
            target[first + k, field] = nodes[k, field] + (begin if field < 3 else 0)


# --- one part ---

NONE = -1

ITEMS, CANDIDATES, ENTRIES = range(3)

# Columns of an item: its span and context; the candidate at the top of its heap; the candidate taken from
# there last, whose successors are not there yet; its first and its last entry.
BEGIN, END, CONTEXT, HEAP, TAKEN, FIRST, LAST = range(7)

# Columns of a candidate: an entry of each child (NONE: the best), and the two candidates below it in its
# skew heap, by score, then by age.
SPLIT, LABEL, ONE, OTHER, BETTER, WORSE = range(6)

# Columns of an entry: its item, its candidate, and the next best entry of the item.
ITEM, CANDIDATE, NEXT = range(3)


class _Pool(NamedTuple):
    """All that is known of a sentence.

    Attributes:
        used: int64, how many items, candidates and entries there are.
        number: int32, the item of ``[begin, end, context]``.
        items, candidates, entries: int32, a row each.
        scores: float32 ``[candidate, 2]``, and with the best entries of both children.
        hashes: uint64, of each entry.
        powers: uint64, of ``_ODD``.
    """

    used: np.ndarray
    number: np.ndarray
    items: np.ndarray
    candidates: np.ndarray
    entries: np.ndarray
    scores: np.ndarray
    hashes: np.ndarray
    powers: np.ndarray


_ODD = np.uint64(0x9E3779B97F4A7C15)


@inner
def _new_pool(n, room):
    powers = np.ones(n + 1, np.uint64)
    for i in range(n):
        powers[i + 1] = powers[i] * _ODD
    return _Pool(
        np.zeros(3, np.int64),
        np.full((n, n + 1, CONTEXTS), NONE, np.int32),
        np.full((room, LAST + 1), NONE, np.int32),
        np.full((room, WORSE + 1), NONE, np.int32),
        np.full((room, NEXT + 1), NONE, np.int32),
        np.zeros((room, 2), np.float32),
        np.zeros(room, np.uint64),
        powers,
    )


@inner
def _is_full(pool, n):
    """Say whether there may not be room for two items, with all their candidates, and an entry."""
    items, candidates, entries = pool.used
    return max(items + 2, candidates + 2 * LABELS * n, entries + 3) > pool.hashes.size


@inner
def best_orders(scores, n, root, trees, totals):
    """Find the best distinct orders of a sentence of at least two tokens, best first.

    Args:
        scores: its :class:`preorder.methods.perceptron.fast.scores.Scores`.
        n: tokens.
        root: context of the whole, ROOT but for a part of a longer sentence.
        trees: int32 ``[most, n - 1, NODE_FIELDS]``, filled: of each order the best tree, parents first.
        totals: float32 ``[most]``, filled: the trees' scores.

    Returns:
        How many there are, at most ``most``.
    """
    left, right = best_scores(scores, n)
    room = 16 * n
    while True:
        room *= 4
        pool = _new_pool(n, room)
        whole = _item(scores, left, right, pool, 0, n, root)
        count = 0
        while count < totals.size and _find_next(scores, left, right, pool, n, whole):
            entry = pool.items[whole, LAST]
            totals[count] = pool.scores[pool.entries[entry, CANDIDATE], 0]
            _read_tree(pool, entry, trees[count])
            count += 1
        if not _is_full(pool, n):
            return count


@inner
def _find_next(scores, left, right, pool, n, wanted):
    """Find the next entry of an item; say whether there is one, and room for it.

    What it takes, the next entries of other items, is found first.
    """
    items, candidates = pool.items, pool.candidates
    waiting = [wanted]
    while waiting:
        if _is_full(pool, n):
            return False
        item = waiting[-1]
        taken = items[item, TAKEN]
        if taken != NONE:
            missing = _without_successor(pool, taken)
            if missing != NONE:
                waiting.append(missing)
                continue
            _add_successors(pool, item, taken)
        top = items[item, HEAP]
        if top == NONE:
            waiting.pop()
            continue
        if candidates[top, ONE] == NONE:
            b, m, e = items[item, BEGIN], candidates[top, SPLIT], items[item, END]
            one = _item(scores, left, right, pool, b, m, candidates[top, LABEL] * 2 + LEFT)
            other = _item(scores, left, right, pool, m, e, candidates[top, LABEL] * 2 + RIGHT)
            candidates[top, ONE], candidates[top, OTHER] = items[one, FIRST], items[other, FIRST]
            if items[one, FIRST] == NONE or items[other, FIRST] == NONE:
                candidates[top, ONE] = NONE
                waiting.append(one if items[one, FIRST] == NONE else other)
                continue
        items[item, HEAP] = _merge(pool, candidates[top, BETTER], candidates[top, WORSE])
        items[item, TAKEN] = top
        if _append_new(pool, item, top):
            waiting.pop()
    return items[wanted, TAKEN] != NONE


@inner
def _item(scores, left, right, pool, b, e, context):
    """Return the item of a span in a context; a new one has every split and label as a candidate."""
    if pool.number[b, e, context] != NONE:
        return np.int64(pool.number[b, e, context])
    item = pool.used[ITEMS]
    pool.used[ITEMS] += 1
    pool.number[b, e, context] = item
    pool.items[item, BEGIN], pool.items[item, END], pool.items[item, CONTEXT] = b, e, context
    if e - b == 1:
        value = np.uint64(b + 1) * _ODD
        _append(pool, item, NONE, (value ^ (value >> np.uint64(29))) * _ODD)
    for label in range(LABELS):
        lane = context * LABELS + label
        for m in range(b + 1, e):
            # Summed as the chart's own search does it, so that the best is the very same tree.
            score = scores.node[label, node_index(m, e) + b] + left[label, m, b] + right[e, m, label]
            score = score + scores.pivot[m, lane] + scores.span[b, e, lane]
            _push(pool, item, score, score, m, label)
    return np.int64(item)


@inner
def _push(pool, item, score, base, split, label):
    """Add a candidate to an item and return it."""
    new = pool.used[CANDIDATES]
    pool.used[CANDIDATES] += 1
    pool.scores[new, 0], pool.scores[new, 1] = score, base
    pool.candidates[new, SPLIT], pool.candidates[new, LABEL] = split, label
    pool.items[item, HEAP] = _merge(pool, pool.items[item, HEAP], new)
    return new


@inner
def _merge(pool, a, b):
    """Return the top of the heap that two skew heaps make (Sleator and Tarjan 1986)."""
    if a == NONE or b == NONE:
        return np.int64(max(a, b))
    below = pool.candidates
    if _comes_first(pool, b, a):
        a, b = b, a
    top = np.int64(a)
    while True:
        next_ = below[a, WORSE]
        below[a, WORSE] = below[a, BETTER]
        if next_ == NONE:
            below[a, BETTER] = b
            return top
        if _comes_first(pool, b, next_):
            next_, b = b, next_
        below[a, BETTER] = next_
        a = next_


@inner
def _comes_first(pool, a, b):
    if pool.scores[a, 0] == pool.scores[b, 0]:
        return a < b
    return pool.scores[a, 0] > pool.scores[b, 0]


@inner
def _without_successor(pool, candidate):
    """Return an item whose next entry must be found to know a candidate's successors, or NONE."""
    for child in (pool.candidates[candidate, OTHER], pool.candidates[candidate, ONE]):
        item = pool.entries[child, ITEM]
        exhausted = pool.items[item, HEAP] == NONE and pool.items[item, TAKEN] == NONE
        if pool.entries[child, NEXT] == NONE and not exhausted:
            return np.int64(item)
        if child != pool.items[item, FIRST]:
            break
    return np.int64(NONE)


@inner
def _add_successors(pool, item, taken):
    """Replace the candidate taken last by those that only it leads to."""
    pool.items[item, TAKEN] = NONE
    one, other = pool.candidates[taken, ONE], pool.candidates[taken, OTHER]
    _add_successor(pool, item, taken, one, pool.entries[other, NEXT])
    if other == pool.items[pool.entries[other, ITEM], FIRST]:
        _add_successor(pool, item, taken, pool.entries[one, NEXT], other)


@inner
def _add_successor(pool, item, taken, one, other):
    if one == NONE or other == NONE:
        return
    base = pool.scores[taken, 1]
    score = base + _loss(pool, one) + _loss(pool, other)
    new = _push(pool, item, score, base, pool.candidates[taken, SPLIT], pool.candidates[taken, LABEL])
    pool.candidates[new, ONE], pool.candidates[new, OTHER] = one, other


@inner
def _loss(pool, entry):
    """Return how much an entry scores more than the best of its item: nothing, or less."""
    first = pool.items[pool.entries[entry, ITEM], FIRST]
    if entry == first:
        return np.float32(0)
    return pool.scores[pool.entries[entry, CANDIDATE], 0] - pool.scores[pool.entries[first, CANDIDATE], 0]


@inner
def _append_new(pool, item, candidate):
    """Add a candidate's order to the entries of its item; say whether it is new."""
    one, other = pool.candidates[candidate, ONE], pool.candidates[candidate, OTHER]
    second = pool.entries[other, ITEM]
    if pool.candidates[candidate, LABEL] == INVERTED:
        one, other, second = other, one, pool.entries[one, ITEM]
    size = pool.items[second, END] - pool.items[second, BEGIN]
    value = pool.hashes[one] * pool.powers[size] + pool.hashes[other]
    entry = pool.items[item, FIRST]
    while entry != NONE:
        if pool.hashes[entry] == value:
            return False
        entry = pool.entries[entry, NEXT]
    _append(pool, item, candidate, value)
    return True


@inner
def _append(pool, item, candidate, value):
    new = pool.used[ENTRIES]
    pool.used[ENTRIES] += 1
    pool.hashes[new] = value
    pool.entries[new, ITEM], pool.entries[new, CANDIDATE] = item, candidate
    if pool.items[item, FIRST] == NONE:
        pool.items[item, FIRST] = new
    else:
        pool.entries[pool.items[item, LAST], NEXT] = new
    pool.items[item, LAST] = new


@inner
def _read_tree(pool, whole, nodes):
    """Write the nodes of an entry, parents before children."""
    waiting = [np.int64(whole)]
    count = 0
    while waiting:
        entry = waiting.pop()
        item, candidate = pool.entries[entry, ITEM], pool.entries[entry, CANDIDATE]
        if candidate != NONE:
            nodes[count, 0], nodes[count, 2] = pool.items[item, BEGIN], pool.items[item, END]
            nodes[count, 1], nodes[count, 3] = (
                pool.candidates[candidate, SPLIT],
                pool.candidates[candidate, LABEL],
            )
            nodes[count, 4] = pool.items[item, CONTEXT]
            count += 1
            waiting.append(np.int64(pool.candidates[candidate, OTHER]))
            waiting.append(np.int64(pool.candidates[candidate, ONE]))
