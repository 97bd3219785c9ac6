"""The softmax over a vocabulary and its gradient, compiled for a CPU.

Why: torch passes over the logits ten times. A row of them that is read three times in turn stays in the
processor's nearest cache: a sixth of the time.

The logits are float32 or bfloat16, and are read as bits, which take the same steps for both: a float32 is 16
bits of bfloat16, or all 32, shifted to the left.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from numba.core import types
from numba.extending import intrinsic
from torch import Tensor

from preorder.compiled import entry_point

_BITS = {torch.float32: (torch.int32, 0), torch.bfloat16: (torch.int16, 16)}
"""The type of the bits of each type of logits, and how far they are shifted."""


def is_compiled(logits: Tensor) -> bool:
    """Return whether the functions here can read these logits."""
    return logits.device.type == "cpu" and logits.dtype in _BITS


def log_probabilities(logits: Tensor, words: Tensor) -> Tensor:
    """Return the log probabilities, ``(t, k)`` float32, that ``logits (t, v)`` give ``words (t, k)``.

    Cost: ``t v`` exponentials, on the threads of torch.
    """
    found = torch.empty(words.shape, dtype=torch.float32)
    bits, shift = _bits_of(logits)
    rows = bits, words.numpy(), found.numpy()
    _on_threads(lambda *part: _log_probabilities(*part, shift), *rows)
    return found


class Sums(NamedTuple):
    """Sums over the rows of logits.

    Attributes:
        loss: of the negative log probabilities.
        right: of the rows in which the first of the words is the most probable of all.
        gradient: of the gradient, ``(v,)`` float32; empty where there is none.
    """

    loss: float
    right: int
    gradient: Tensor


def replace_by_gradient(
    logits: Tensor, words: Tensor, weights: Tensor, smoothing: float, gradient: bool
) -> Sums:
    """Sum negative log probabilities, by their weights; leave the gradient in place of the logits.

    Args:
        logits: ``(t, v)``.
        words: ``(t, k)``.
        weights: ``(t, k)`` float32: of the words in the sum.
        smoothing: the weight, in equal parts, of all words of the vocabulary.
        gradient: whether it is wanted.
    """
    bits, shift = _bits_of(logits)
    how = np.float32(smoothing), shift, gradient
    parts = _on_threads(lambda *part: _replace(*part, *how), bits, words.numpy(), weights.numpy())
    losses, right, gradients = zip(*parts, strict=True)
    return Sums(sum(losses), sum(right), torch.from_numpy(np.sum(gradients, axis=0)))


def _bits_of(logits: Tensor) -> tuple[np.ndarray, np.int32]:
    kind, shift = _BITS[logits.dtype]
    return logits.view(kind).numpy(), np.int32(shift)


def _on_threads(work: Callable[..., Any], *arrays: np.ndarray) -> list[Any]:
    """Let each thread of torch do its part of the rows."""
    threads = min(torch.get_num_threads(), len(arrays[0]))
    if threads <= 1:
        return [work(*arrays)]
    bounds = [len(arrays[0]) * part // threads for part in range(threads + 1)]
    parts = [[array[begin:end] for array in arrays] for begin, end in pairwise(bounds)]
    return list(_pool(threads).map(lambda part: work(*part), parts))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


_inner = numba.njit(fastmath={"reassoc", "contract", "arcp", "nsz"}, forceinline=True)
"""Sums may be taken in another order, or nothing can be computed side by side. NaN stays NaN.

Everything is inlined. The process that compiles a function has two copies of it where it is called: one by
itself, and one with its caller, which is all that later processes load. The copies sum in different orders.
"""


@intrinsic
def _to_float(_context: Any, _bits: Any) -> Any:
    """Read 32 bits as a float32."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), generate


@intrinsic
def _from_float(_context: Any, _number: Any) -> Any:
    """Read a float32 as 32 bits."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.int32))

    return types.int32(types.float32), generate


@_inner
def _number(bits, shift):
    return _to_float(np.int32(np.int32(bits) << shift))


@_inner
def _highest(row, shift):
    """Find the highest of a row's numbers: as integers, which are compared side by side, unlike floats.

    The bits of negative numbers grow as the numbers fall, so they are turned round.
    """
    signless = np.int32(0x7FFFFFFF)
    highest = np.int32(-0x80000000)
    for word in range(len(row)):
        bits = np.int32(np.int32(row[word]) << shift)
        highest = max(highest, np.int32(bits ^ ((bits >> np.int32(31)) & signless)))
    return _to_float(np.int32(highest ^ ((highest >> np.int32(31)) & signless)))


@_inner
def _exponential(x):
    """Return e^x of x ≤ 0: 2^n, times a polynomial for the rest of the power, whose error is 10^-7."""
    power = x * np.float32(1.4426950408889634)
    power = np.float32(-126) if power < np.float32(-126) else power
    whole = np.floor(power)
    rest = power - whole
    value = np.float32(0.001893754058) * rest + np.float32(0.008949590423)
    value = value * rest + np.float32(0.05586033708)
    value = value * rest + np.float32(0.2401418182)
    value = value * rest + np.float32(0.6931544897)
    value = value * rest + np.float32(0.9999998984)
    return value * _to_float(np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)))


@_inner
def _shares(row, shift, highest, shares):
    """Write the shares of the words, whose sum is returned."""
    total = np.float32(0)
    for word in range(len(row)):
        share = _exponential(_number(row[word], shift) - highest)
        shares[word] = share
        total += share
    return total


@_inner
def _sum(row, shift):
    total = np.float32(0)
    for word in range(len(row)):
        total += _number(row[word], shift)
    return total


@_inner
def _write(row, shift, shares, scale, less, sums):
    """Write ``shares · scale - less``, rounded to the nearest number of the row's type, to even between two.

    The numbers are added to the sums before they are rounded.
    """
    half = np.int32(0x7FFF) if shift else np.int32(0)
    odd = np.int32(1) if shift else np.int32(0)
    for word in range(len(row)):
        number = shares[word] * scale - less
        sums[word] += number
        bits = _from_float(number)
        row[word] = np.int32(np.int32(bits + half + ((bits >> shift) & odd)) >> shift)


@_inner
def _is_first_highest(row, shift, word, highest):
    is_first = _number(row[word], shift) == highest
    for other in range(word if is_first else 0):
        is_first &= _number(row[other], shift) != highest
    return is_first


@entry_point
def _log_probabilities(logits, words, found, shift):
    shares = np.empty(logits.shape[1], np.float32)
    for token in range(len(logits)):
        row = logits[token]
        highest = _highest(row, shift)
        normaliser = np.log(_shares(row, shift, highest, shares)) + highest
        for column in range(words.shape[1]):
            found[token, column] = _number(row[words[token, column]], shift) - normaliser


@entry_point
def _replace(logits, words, weights, smoothing, shift, gradient):
    vocabulary, sum_of_all, right = logits.shape[1], 0.0, 0
    shares, each = np.empty(vocabulary, np.float32), smoothing / np.float32(vocabulary)
    sums = np.zeros(vocabulary if gradient else 0, np.float32)
    for token in range(len(logits)):
        row = logits[token]
        highest = _highest(row, shift)
        right += _is_first_highest(row, shift, words[token, 0], highest)
        total = _shares(row, shift, highest, shares)
        normaliser, weight = np.log(total) + highest, smoothing
        if smoothing:
            sum_of_all += smoothing * normaliser - each * _sum(row, shift)
        for column in range(words.shape[1]):
            weight += weights[token, column]
            of_word = _number(row[words[token, column]], shift)
            sum_of_all += weights[token, column] * (normaliser - of_word)
        if not gradient:
            continue
        scale = weight / total
        if scale:
            for column in range(words.shape[1]):
                shares[words[token, column]] -= weights[token, column] / scale
        _write(row, shift, shares, scale, each, sums)
    return sum_of_all, right, sums
