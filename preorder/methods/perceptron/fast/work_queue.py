"""A queue of tasks for threads inside compiled code: drawn in their order, some only after others are done.

The tasks take some 20 µs: too short to hand out from Python. Here, one costs two atomic additions.
A thread that the system has stopped delays only those that wait for its task.
"""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from preorder.compiled import inner

DRAWN, DONE, STOPPED = 0, 8, 16
"""Indices of the counts, on cache lines of their own: tasks drawn, tasks done, reasons to wait no longer."""

_MAX_LOOKS = 200  # at a count, before the processor is left to others

_yield_processor = types.ExternalFunction("sched_yield", types.int32())


def work_queue() -> np.ndarray:
    """Return a queue of which no task is drawn yet: int64 counts that all threads share."""
    return np.zeros(3 * DONE, np.int64)


@intrinsic
def add(typing_context, array, index, value):  # noqa: ARG001
    """Add to a count, atomically; return what it was: of ``DRAWN``, the number of the next task, from 0."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), codegen


@intrinsic
def _look(typing_context, array, index):  # noqa: ARG001
    """Return an item of an int64 array as others have left it, without taking its cache line from them."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(builder.gep(data, [arguments[1]]), "seq_cst", 8)

    return types.int64(array, types.int64), codegen


@inner
def wait_for(queue, tasks):
    """Wait until the first so many tasks are done; say whether they are, or the queue was stopped."""
    looks = 0
    while _look(queue, DONE) < tasks:
        if _look(queue, STOPPED) > 0:
            return False
        looks += 1
        if looks > _MAX_LOOKS:
            _yield_processor()
    return True
