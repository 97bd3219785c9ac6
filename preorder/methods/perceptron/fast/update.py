"""Tables that learn: weights, and their average over time.

The average is ``weights - changes / importance(now)``, where a change counts by the importance of its time.
Between iterations the average stands in the place of the changes, so that it takes no room of its own:
:func:`set_averages` and :func:`set_changes` turn one into the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.compiled import inner
from preorder.methods.perceptron.fast.difference import DENSE
from preorder.methods.perceptron.fast.table import by_slot, capacity, find, insert, insert_all, prefetch

AVERAGE_EXPONENT = 4
"""The average gives all weights up to time t a share of t to this power: those of later times weigh more."""


class Growing(NamedTuple):
    """A table that learns; its first three arrays are as in ``table.Table``."""

    slots: np.ndarray
    weights: np.ndarray
    spread: np.ndarray
    changes: np.ndarray  # float32, of each weight the sum of its (change · importance(time)), or its average
    keys: np.ndarray  # uint64, the key of each row
    used: np.ndarray  # int64 [1], rows in use, row 0 included


def allocate_table(rows: int, width: int, keys: np.ndarray, spread: np.ndarray) -> Growing:
    """Return a table with room for that many rows, and rows without weight for some keys."""
    table = Growing(
        np.zeros(capacity(rows), np.uint64),
        np.zeros((rows, width), np.float32),
        np.zeros(rows, np.uint8),
        np.zeros((rows, width), np.float32),
        np.zeros(rows, np.uint64),
        np.array([keys.size + 1]),
    )
    order = by_slot(keys, table.slots.size)
    table.keys[1 : keys.size + 1], table.spread[1 : keys.size + 1] = keys[order], spread[order]
    insert_all(table.slots, keys[order])
    return table


def with_room(table: Growing, more: int) -> Growing:
    """Return the table with room for so many more rows, all of them in the order of their slots.

    What is copied is freed at once, where the caller keeps nothing of the table.
    """
    rows, width = table.weights.shape
    used = int(table.used[0])
    if used + more <= rows:
        return table
    _, weights, spread, changes, keys, _ = table
    del table
    bigger = allocate_table(max(2 * rows, used + more), width, keys[1:used], spread[1:used])
    order = by_slot(keys[1:used], bigger.slots.size) + 1
    # mode: "raise" would take room for all rows once more
    np.take(weights, order, 0, bigger.weights[1:used], mode="clip")
    del weights
    np.take(changes, order, 0, bigger.changes[1:used], mode="clip")
    return bigger


def importance(time: float) -> np.float32:
    """Return how much the average gives to all weights up to a time, which is in passes over the corpus."""
    return np.float32(time**AVERAGE_EXPONENT)


def set_averages(table: Growing, time: float) -> None:
    """Put the average over the time so far, above 0, in the place of the changes."""
    used = slice(int(table.used[0]))
    table.changes[used] /= -importance(time)
    table.changes[used] += table.weights[used]


def set_changes(table: Growing, time: float) -> None:
    """Undo :func:`set_averages`, but for rounding, to learn more."""
    used = slice(int(table.used[0]))
    table.changes[used] -= table.weights[used]
    table.changes[used] *= -importance(time)


BY_ROW = ("weights", "spread", "changes", "keys")


def saved(table: Growing) -> dict[str, np.ndarray]:
    """Return what :func:`restored` needs to give the very same table: the rows in use, views of them."""
    rows = {name: getattr(table, name)[: int(table.used[0])] for name in BY_ROW}
    return {"slots": table.slots, **rows, "used": table.used, "room": np.array([len(table.weights)])}


def restored(arrays: dict[str, np.ndarray]) -> Growing:
    """Return a table that was saved."""
    room = int(arrays["room"][0])
    rows = {name: np.zeros((room, *arrays[name].shape[1:]), arrays[name].dtype) for name in BY_ROW}
    for name, array in rows.items():
        array[: len(arrays[name])] = arrays[name]
    return Growing(slots=arrays["slots"].copy(), used=arrays["used"].copy(), **rows)


@inner
def update(table, which, batch, begin, end, rows):
    """Change one table by the differences of a minibatch, in their order.

    Args:
        table: a :class:`Growing` with room for all new keys.
        which: its number, in the differences.
        batch: the :class:`preorder.methods.perceptron.fast.training.TrainingBatch`.
        begin, end: its sentences that were solved.
        rows: int64, scratch for the entries of a sentence.
    """
    differences = batch.differences
    slots, weights, changes, keys = table.slots, table.weights, table.changes, table.keys
    width = weights.shape[1]
    column, change = differences.column, differences.change
    mask = np.uint64(slots.size - 1)
    for s in range(begin, end):
        if not batch.wrong[s]:
            continue
        first = differences.ends[s, which - 1] if which else differences.starts[s]
        last = differences.ends[s, which]
        if which == DENSE:
            for i in range(first, last):
                rows[i - first] = differences.key[i]
        else:
            for i in range(first, last):
                prefetch(slots, np.int64(differences.key[i] & mask))
            for i in range(first, last):
                key = differences.key[i]
                row = find(slots, key)
                if row == 0:
                    row = table.used[0]
                    table.used[0] += 1
                    keys[row] = key
                    insert(slots, key, row)
                rows[i - first] = row
                prefetch(weights, row * width + column[i])
                prefetch(changes, row * width + column[i])
        passes = (batch.seen + s) / batch.corpus.lengths.size  # over the corpus, until now
        before = np.float32(passes**AVERAGE_EXPONENT)
        for i in range(first, last):
            weights[rows[i - first], column[i]] += change[i]
            changes[rows[i - first], column[i]] += change[i] * before
