"""What ``preorder apply`` looks for in each sentence: the best order, several, or a drawn one."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from preorder.cli import options
from preorder.cli.output import formatted, formatted_nbest
from preorder.data.errors import UsageError
from preorder.data.types import Permutation, Sentence
from preorder.methods.base import Preorderer

Search = Callable[[Sequence[Sentence]], list[Any]]
"""Returns what is found of each sentence of a batch; the batches of a file come in order."""

Write = Callable[..., Iterator[str]]
"""Makes lines of pairs of a sentence and what was found of it, in a format."""


def check_search(arguments: argparse.Namespace) -> None:
    """Raise a UsageError where the options do not go together."""
    if arguments.sample and arguments.format == "tree":
        raise UsageError("--sample draws orders: it does not go with --format tree")
    if arguments.seed is not None and not arguments.sample:
        raise UsageError("--seed goes with --sample")


def search(arguments: argparse.Namespace, preorderer: Preorderer) -> tuple[Search, Write]:
    """Return what finds what is wanted of a file, and what writes it.

    Raises:
        UsageError: the model has no probabilities, and they are wanted.
    """
    k, trees = arguments.n_best, arguments.format == "tree"
    write: Write = formatted
    find: Callable[..., list[Any]]
    if arguments.sample:
        find = _drawing(preorderer, arguments)
        find([])  # raises before any work
    elif k is None:
        find = preorderer.trees if trees else preorderer.order
    else:
        find = partial(preorderer.best_trees if trees else preorderer.best_orders, k=k)
        write = formatted_nbest
    return partial(find, threads=arguments.threads), write


def _drawing(preorderer: Preorderer, arguments: argparse.Namespace) -> Callable[..., list[Permutation]]:
    """Return what draws an order of each sentence, by the number of its line in the file."""
    lines = itertools.count()
    seed = options.DEFAULT_SEED if arguments.seed is None else arguments.seed

    def draw(sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        return preorderer.sample(sentences, list(itertools.islice(lines, len(sentences))), seed, threads)

    return draw
