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


class Sums(NamedTuple):
    """Sums over the rows of logits."""

    loss: float  # of the negative log probabilities, by their weights
    right: int  # of the rows in which the first of the words is the most probable of all
    gradient: Tensor  # of the gradient, (v,) float32; empty where there is none


def log_probabilities(logits: Tensor, words: Tensor) -> Tensor:
    """Return the log probabilities, ``(t, k)`` float32, that ``logits (t, v)`` give ``words (t, k)``.

    Cost: ``t v`` exponentials, on the threads of torch.
    """
    found = torch.empty(words.shape, dtype=torch.float32)
    _on_threads(_log_probabilities, logits, words, found)
    return found


def replace_by_gradient(
    logits: Tensor, words: Tensor, weights: Tensor, smoothing: float, gradient: bool
) -> Sums:
    """Sum the negative log probabilities of ``words (t, k)`` by float32 ``weights (t, k)``.

    All words of the vocabulary have the weight ``smoothing`` besides, in equal parts. The gradient, where
    it is wanted, takes the place of ``logits (t, v)``.
    """
    parts = _on_threads(_replace, logits, words, weights, np.float32(smoothing), gradient)
    losses, right, gradients = zip(*parts, strict=True)
    return Sums(sum(losses), sum(right), torch.from_numpy(np.sum(gradients, axis=0)))


def _on_threads(work: Callable[..., Any], logits: Tensor, *others: Any) -> list[Any]:
    """Let each thread of torch do its part of the rows; numbers among the arguments are for all."""
    kind, shift = _BITS[logits.dtype]
    tensors = [logits.view(kind), *(other for other in others if isinstance(other, Tensor))]
    numbers = [other for other in others if not isinstance(other, Tensor)]
    threads = max(min(torch.get_num_threads(), len(logits)), 1)
    bounds = [len(logits) * part // threads for part in range(threads + 1)]
    parts = [[tensor[begin:end].numpy() for tensor in tensors] for begin, end in pairwise(bounds)]
    each = map if threads == 1 else _pool(threads).map
    return list(each(lambda part: work(*part, np.int32(shift), *numbers), parts))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


_inner = numba.njit(fastmath={"reassoc", "contract", "arcp", "nsz"}, forceinline=True)
"""Sums may be taken in another order, or nothing can be computed side by side. NaN stays NaN.

Everything is inlined. The process that compiles a function has two copies of it where it is called: one by
itself, and one with its caller, which is all that later processes load. The copies sum in different orders.
"""


def _reading(bits_of: Any, as_type: Any) -> Any:
    """Make a function that reads the 32 bits of one type as another."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(as_type))

    return intrinsic(lambda _context, _bits: (as_type(bits_of), generate))


_to_float = _reading(types.int32, types.float32)
_from_float = _reading(types.float32, types.int32)


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
def _replace(logits, words, weights, shift, smoothing, gradient):
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
