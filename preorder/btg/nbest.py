"""The best distinct orders of a sentence, exactly and lazily (Huang and Chiang 2005, algorithm 3).

Sentences of more than ``EXACT`` tokens are cut into pieces, which straight nodes join in the source's order.

An *item* is a span in a context; its *entries* are its distinct orders, best first, found only when someone
asks for the next; its *candidates* wait in a heap, each a split, a label, and an entry of either child. Of
the trees of one order the best comes first; those that follow are dropped. So no order is lost that is part
of the k best of the whole. Orders are told apart by hashes of 64 bits.

Where all trees of an order score alike, as those of expected agreement do, O(n³) candidates are taken before
the second order is found. So beyond ``EXACT_ORDERS`` tokens, spans of more than ``WINDOW`` tokens have only
their best candidate and those that split at a multiple of ``WINDOW``.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from preorder.btg.grammar import CONTEXTS, INVERTED, LABELS, LEFT, NODE_FIELDS, RIGHT, ROOT_CONTEXT, STRAIGHT
from preorder.btg.scores import Scores, allocate_scores, check_finite, node_index, set_parts
from preorder.btg.viterbi import LOWEST, best_scores
from preorder.compiled import entry_point, inner

EXACT = 256  # sentences of at most that many tokens are parsed exactly
EXACT_ORDERS = 64  # all orders of these are searched exactly; the best order always is found
WINDOW = 32
MISSING, UNSEARCHED = -1, -2  # in place of an entry or candidate: there is none; it has not been searched for

UNBEGUN, IDLE, TAKEN, TRIED = range(4)
"""States of an item: nobody has asked for it; its candidates wait; the best of them is taken, to be compared
with the entries; it has been compared, and its successors do not wait yet."""

ITEM = np.dtype(
    [
        ("state", np.int8),
        ("first", np.int32),  # entry
        ("last", np.int32),
        ("fresh", np.int32),  # where the scores of its fresh candidates begin, label by label
        ("best", np.int32),  # which of these is the best, or MISSING
        ("waiting", np.int32),  # the best other candidate, root of a skew heap (Sleator and Tarjan 1986)
        ("taken", np.int32),  # candidate
    ]
)

ENTRY = np.dtype(
    [
        ("score", np.float32),  # of the best tree that gives it, rounded as in the search for the best tree
        ("loss", np.float32),  # how much more it is than that of the item's best order: zero, or less
        ("split", np.int32),
        ("label", np.int32),
        ("left", np.int32),  # entries of the children
        ("right", np.int32),
        ("next", np.int32),  # entry of the item
        ("first", np.int32),  # token of the order
        ("last", np.int32),
        ("hash", np.uint64),  # of the order: the sum of those of its pairs of neighbours
    ]
)

CANDIDATE = np.dtype(
    [
        ("score", np.float32),
        ("best", np.float32),  # score with the best entries of both children
        ("split", np.int32),
        ("label", np.int32),
        ("left", np.int32),  # entries of the children; UNSEARCHED where it is fresh: the first
        ("right", np.int32),
        ("below", np.int32),  # candidates in the heap
        ("beside", np.int32),
    ]
)


class ScoredTree(NamedTuple):
    """A tree of n tokens, int32 ``[n - 1, NODE_FIELDS]``, and its score, float32."""

    score: np.float32
    nodes: np.ndarray


def kbest(scores: Scores, n: int, root: int, k: int) -> list[ScoredTree]:
    """Return the best trees of the k best orders of n >= 1 tokens, best first; fewer where there are fewer.

    The first is :func:`preorder.btg.viterbi.best_tree`'s, score and all. Beyond ``EXACT_ORDERS`` tokens
    others may be missing. ``root`` is the context of the whole. Some 2 µs a token and order.
    """
    return list(map(ScoredTree, *_search(scores, n, root, k)))


def kbest_of_parts(parts: np.ndarray, root: int, k: int) -> list[ScoredTree]:
    """Return the same by the parts of the sentence, float32 ``[PARTS, LABELS, n + 1, n + 1]``."""
    check_finite(parts)
    return kbest(_scores(parts), parts.shape[-1] - 1, root, k)


@entry_point
def _scores(parts):
    scores = allocate_scores(parts.shape[-1] - 1)
    set_parts(parts, scores)
    return scores


@entry_point
def _search(scores, n, root, k):
    left, right = best_scores(scores, n)
    items = np.zeros((CONTEXTS, n, n + 1), ITEM)
    entries, count = np.empty(4 * n, ENTRY), n
    fresh, filled = np.empty(8 * LABELS * n, np.float32), 0  # scores; -inf where they are taken
    candidates, used = np.empty(8 * LABELS * n, CANDIDATE), 0
    for token in range(n):
        entry = entries[token]
        entry.score, entry.loss, entry.next, entry.hash = 0, 0, MISSING, 0
        entry.first = entry.last = token
        for context in range(CONTEXTS):
            item = items[context, token, token + 1]
            item.state, item.first, item.best, item.waiting = IDLE, token, MISSING, MISSING
    known = {np.uint64(0)}  # hashes of the orders of all items
    stack = np.empty((n + 1, 4), np.int64)  # entry, context, begin, end: items that want the next entry
    chosen = np.empty(k, np.int64)
    found, last = 0, UNSEARCHED
    while found < k and last != MISSING:
        following = _after(items[root, 0, n], entries, last)
        if following != UNSEARCHED:
            chosen[found], last = following, following
            found += following != MISSING
            continue
        depth = _push(stack, 0, last, root, 0, n)
        while depth:
            context, begin, end = stack[depth - 1, 1], stack[depth - 1, 2], stack[depth - 1, 3]
            item = items[context, begin, end]
            if count == entries.size:
                entries = _enlarged(entries)
            if filled + LABELS * n > fresh.size:
                fresh = _enlarged(fresh)
            if used + 2 > candidates.size:  # no step adds more
                candidates = _enlarged(candidates)
            if item.state == UNBEGUN:
                filled = _begin(
                    scores, left, right, context, begin, end, item, fresh, filled, n > EXACT_ORDERS
                )
            if item.state == IDLE:
                if item.best == MISSING and item.waiting == MISSING:
                    depth -= 1
                    continue
                used = _take(item, begin, end, fresh, candidates, used)
            taken = candidates[item.taken]
            split, label, i, j = taken.split, taken.label, taken.left, taken.right
            one, other = items[label * 2 + LEFT, begin, split], items[label * 2 + RIGHT, split, end]
            if item.state == TRIED or i == UNSEARCHED:
                # Where the right entry is not its item's first, another way leads to the left one's next.
                i = _after(one, entries, i) if item.state == TAKEN or j == other.first else MISSING
                j = _after(other, entries, j)
            if i == UNSEARCHED:
                depth = _push(stack, depth, i, label * 2 + LEFT, begin, split)
            elif j == UNSEARCHED:
                depth = _push(stack, depth, j, label * 2 + RIGHT, split, end)
            elif item.state == TRIED:
                item.state = IDLE
                if j != MISSING:
                    used = _add(item, taken, taken.left, j, entries, candidates, used)
                if i != MISSING:
                    used = _add(item, taken, i, taken.right, entries, candidates, used)
            else:
                item.state, taken.left, taken.right = TRIED, i, j
                entry = entries[count]
                first, second = (entries[j], entries[i]) if label == INVERTED else (entries[i], entries[j])
                entry.first, entry.last = first.first, second.last
                neighbours = _mixed((first.last + 1) << 32 | (second.first + 1))
                entry.hash = first.hash + second.hash + neighbours
                key = entry.hash + _mixed(context)
                if item.first == MISSING or (entry.hash != entries[item.first].hash and key not in known):
                    known.add(key)
                    entry.split, entry.label, entry.left, entry.right = split, label, i, j
                    entry.next, entry.score = MISSING, taken.score
                    if item.first == MISSING:
                        item.first = count
                    else:
                        entries[item.last].next = count
                    entry.loss = taken.score - entries[item.first].score
                    item.last = count
                    count, depth = count + 1, depth - 1
    return _trees(entries, chosen[:found], n, root)


@inner
def _enlarged(pool):
    larger = np.empty(2 * pool.size, pool.dtype)
    for index in range(pool.size):  # to assign a slice takes numba seconds to compile
        larger[index] = pool[index]
    return larger


@inner
def _after(item, entries, entry):
    if item.state == UNBEGUN:
        return UNSEARCHED
    following = item.first if entry == UNSEARCHED else entries[entry].next
    is_spent = item.state == IDLE and item.best == MISSING and item.waiting == MISSING
    return following if following != MISSING or is_spent else UNSEARCHED


@inner
def _begin(scores, left, right, context, begin, end, item, fresh, filled, is_thin):
    """Let a fresh candidate wait for each label and split, with the first entries of both children.

    Summed as by the search for the best tree. ``is_thin``: of a long span only few wait.
    """
    item.state, item.first, item.waiting, item.fresh, item.best = IDLE, MISSING, MISSING, filled, 0
    for label in range(LABELS):
        lane = context * LABELS + label
        for m in range(begin + 1, end):
            score = scores.node[label, node_index(m, end) + begin] + left[label, m, begin]
            score = score + right[end, m, label] + scores.pivot[m, lane] + scores.span[begin, end, lane]
            fresh[filled] = score
            if score > fresh[item.fresh + item.best]:
                item.best = filled - item.fresh
            filled += 1
    splits = end - begin - 1
    for index in range(LABELS * splits if is_thin and end - begin > WINDOW else 0):
        if index != item.best and (begin + 1 + index % splits) % WINDOW:
            fresh[item.fresh + index] = LOWEST
    return filled


@inner
def _take(item, begin, end, fresh, candidates, used):
    item.state = TAKEN
    own = fresh[item.fresh : item.fresh + LABELS * (end - begin - 1)]
    if item.best == MISSING or (item.waiting != MISSING and candidates[item.waiting].score > own[item.best]):
        item.taken, first = item.waiting, candidates[item.waiting]
        item.waiting = _joined(candidates, first.below, first.beside)
        return used
    item.taken, taken = used, candidates[used]
    taken.score = taken.best = own[item.best]
    taken.label, taken.split = item.best // (end - begin - 1), begin + 1 + item.best % (end - begin - 1)
    taken.left = taken.right = UNSEARCHED
    own[item.best] = LOWEST
    item.best = np.argmax(own)
    if own[item.best] == LOWEST:
        item.best = MISSING
    return used + 1


@inner
def _add(item, taken, i, j, entries, candidates, used):
    new = candidates[used]
    new.best, new.split, new.label, new.left, new.right = taken.best, taken.split, taken.label, i, j
    new.score = taken.best + entries[i].loss + entries[j].loss
    new.below = new.beside = MISSING
    item.waiting = _joined(candidates, item.waiting, used)
    return used + 1


@inner
def _joined(candidates, one, other):
    """Return the root of two skew heaps in one: the better candidate, of equal ones the earlier."""
    root = above = MISSING
    while one != MISSING and other != MISSING:
        difference = candidates[other].score - candidates[one].score
        if difference > 0 or (difference == 0 and other < one):
            one, other = other, one
        if above == MISSING:
            root = one
        else:
            candidates[above].below = one
        above, one = one, candidates[one].beside
        candidates[above].beside = candidates[above].below
    rest = max(one, other)
    if above == MISSING:
        return rest
    candidates[above].below = rest
    return root


@inner
def _mixed(number):
    """Return a hash of a number below 2⁶⁴: the finalizer of SplitMix64 (Steele et al. 2014)."""
    z = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def _trees(entries, chosen, n, root):
    """Return the scores and nodes of the trees of entries of the whole sentence; parents before children."""
    totals = np.empty(chosen.size, np.float32)
    nodes = np.empty((chosen.size, n - 1, NODE_FIELDS), np.int32)
    stack = np.empty((n + 1, 4), np.int64)  # entry, context, begin, end
    for tree in range(chosen.size):
        totals[tree] = entries[chosen[tree]].score
        count, depth = 0, _push(stack, 0, chosen[tree], root, 0, n)
        while depth:
            depth -= 1
            entry, context = entries[stack[depth, 0]], stack[depth, 1]
            begin, end, split, label = stack[depth, 2], stack[depth, 3], entry.split, entry.label
            if end - begin > 1:
                node = nodes[tree, count]
                node[0], node[1], node[2], node[3], node[4] = begin, split, end, label, context
                count += 1
                depth = _push(stack, depth, entry.right, label * 2 + RIGHT, split, end)
                depth = _push(stack, depth, entry.left, label * 2 + LEFT, begin, split)
    return totals, nodes


@inner
def _push(stack, depth, entry, context, begin, end):
    stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = entry, context, begin, end
    return depth + 1


def context_of(begin: int, end: int, n: int) -> int:
    """Return the context of the root of a piece, ``[begin, end)`` of n tokens."""
    if end < n:
        return STRAIGHT * 2 + LEFT
    return STRAIGHT * 2 + RIGHT if begin else ROOT_CONTEXT


def join_pieces(pieces: Iterable[tuple[int, int, list[ScoredTree]]], n: int, k: int) -> list[ScoredTree]:
    """Join the best trees of pieces (begin, end, trees) of n tokens, from left to right, into the k best."""
    best = [ScoredTree(np.float32(0), np.empty((0, NODE_FIELDS), np.int32))]
    for begin, end, trees in pieces:
        joint = [[begin, end, n, STRAIGHT, context_of(begin, n, n)]] if end < n else []
        above = np.array(joint, np.int32).reshape(-1, NODE_FIELDS)
        heap = [(-(tree.score + trees[0].score), i, 0) for i, tree in enumerate(best)]
        heapq.heapify(heap)
        joined: list[ScoredTree] = []
        while heap and len(joined) < k:
            negative, i, j = heapq.heappop(heap)
            nodes = trees[j].nodes + np.array([begin, begin, begin, 0, 0], np.int32)
            joined.append(ScoredTree(-negative, np.concatenate((best[i].nodes, above, nodes))))
            if j + 1 < len(trees):
                heapq.heappush(heap, (-(best[i].score + trees[j + 1].score), i, j + 1))
        best = joined
    return best
