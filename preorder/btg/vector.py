"""The innermost loops of the search, on vectors, which the compiler does not find by itself."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

VECTOR = 8
"""Numbers in a vector. Arrays that are read by vectors go on for so many items beyond their last."""

_TYPE = ir.VectorType(ir.FloatType(), VECTOR)
ALIGNMENT = 4  # bytes; vectors begin anywhere
_WIDE = ir.IntType(64)


def _address(context, builder, signature, arguments, k, index):
    """Return the address of the vector at an index of the k-th argument, an array."""
    data = context.make_array(signature.args[k])(context, builder, arguments[k]).data
    return builder.bitcast(builder.gep(data, [index]), _TYPE.as_pointer())


def _load(builder, address):
    vector = builder.load(address)
    vector.align = ALIGNMENT
    return vector


@intrinsic
def copy_vector(typing_context, target, to, source, index):  # noqa: ARG001
    """Copy a vector between float32 arrays, by flat indices."""

    def codegen(context, builder, signature, arguments):
        address = _address(context, builder, signature, arguments, 0, arguments[1])
        vector = _load(builder, _address(context, builder, signature, arguments, 2, arguments[3]))
        builder.store(vector, address).align = ALIGNMENT
        return context.get_dummy_value()

    return types.void(target, to, source, index), codegen


@intrinsic
def raise_best(typing_context, best, first, rows, children, indices, added, lanes):  # noqa: ARG001
    """Raise the best scores of spans that end together, a vector of begins, by those with one more split.

    ``best = max(best, row + child + added + lane)``, where the labels take turns in the lanes.

    Args:
        best: float32, flat ``[vector, lane, VECTOR]``.
        first: the least of the begins, a multiple of ``VECTOR``.
        rows, children: float32 arrays.
        indices: of each label, the flat indices of begin 0 in both: ``(row, child)``.
        added, lanes: float32 of each label, and of each lane.
    """

    def codegen(context, builder, signature, arguments):
        def address(k, index):
            return _address(context, builder, signature, arguments, k, index)

        def everywhere(k, item):
            value = builder.extract_value(arguments[k], item)
            undefined = ir.Constant(_TYPE, ir.Undefined)
            first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), [0] * VECTOR)
            return builder.shuffle_vector(first, undefined, zeros)

        scores, count = [], signature.args[6].count
        at = builder.mul(arguments[1], ir.Constant(_WIDE, count))
        for label in range(signature.args[5].count):
            row, child = (
                builder.add(builder.extract_value(arguments[4], [label, k]), arguments[1]) for k in range(2)
            )
            score = builder.fadd(_load(builder, address(2, row)), _load(builder, address(3, child)))
            scores.append(builder.fadd(score, everywhere(5, label)))
        for lane in range(count):
            kept = address(0, builder.add(at, ir.Constant(_WIDE, lane * VECTOR)))
            old = _load(builder, kept)
            new = builder.fadd(scores[lane % len(scores)], everywhere(6, lane))
            greater = builder.fcmp_ordered(">", new, old)
            builder.store(builder.select(greater, new, old), kept).align = ALIGNMENT
        return context.get_dummy_value()

    return types.void(best, first, rows, children, indices, added, lanes), codegen
