"""``preorder apply``: put source words in the order that a model predicts."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from preorder.annotate.stanza import add_layers
from preorder.annotate.workers import in_order
from preorder.cli import options, source
from preorder.cli.output import EXPECTED_FORMATTERS, formatted, formatted_nbest
from preorder.data import files
from preorder.data.errors import UsageError
from preorder.data.types import Permutation, Sentence
from preorder.methods.base import Preorderer
from preorder.methods.model_directory import load_model
from preorder.progress import progress

BATCH = 50_000  # tokens that are ordered at once; two batches are held, whatever the length of the input

Search = Callable[..., list[Any]]
"""Takes the sentences of a batch, and ``threads`` by name; returns what is found of each."""

Write = Callable[..., Iterator[str]]

EXAMPLES = """\
  preorder apply --model model --src test.en --pos test.en.pos --out test.features
  preorder apply --model model --src test.en --stanza-dir models --out test.features
      for a model that was trained with Stanza's tags or trees; Stanza's own models are in the folder "models"
  zcat big.en.gz | preorder apply --model model --format text --threads 4 > big.reordered
  preorder apply --model model --src test.en --n-best 10 --format order
  preorder apply --model model --src test.en --expected --out test.features
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(
        subparsers, "apply", run, "put source words in the order that a model predicts", EXAMPLES
    )
    parser.add_argument("--model", metavar="DIR", required=True, help="model directory of preorder train")
    source.add_layer_options(parser, f"{source.STANZA} if the model was trained so; so for --trees")
    options.add_output(parser)
    options.add_format(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--n-best",
        metavar="K",
        type=options.n_best,
        help="write up to K distinct orders of each sentence, best first, as lines of: "
        "sentence number, from 0 ||| order in the chosen format ||| score",
    )
    what.add_argument(
        "--expected",
        action="store_true",
        help="write, as features or positions, where each token stands on average over all orders, by their "
        "probabilities: numbers with two decimals, from 0, which say how sure an order is",
    )
    what.add_argument(
        "--sample",
        action="store_true",
        help="write an order drawn by its probability, instead of the best one; see --seed",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=options.seed,
        help="of --sample: an order depends on it and the number of the line alone "
        f"(default: {options.DEFAULT_SEED})",
    )
    options.add_threads(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand; its memory does not grow with the input."""
    _check(arguments)
    model = load_model(arguments.model)
    find, write = _search(arguments, model.preorderer)
    sentences = source.read_sentences(arguments)
    stanza = source.stanza_options(arguments, model.stanza, model.language)
    source.warn_of_unused(arguments, model.preorderer.layers, stanza)
    if stanza is not None:
        sentences = add_layers(sentences, stanza, workers=arguments.threads)
    sentences = progress(sentences, "sentences", done="read")
    size = BATCH // (arguments.n_best or 1)
    batches = files.batched(map(model.annotate, sentences), size, lambda s: len(s) + 1)
    with ThreadPoolExecutor(1) as pool:  # a batch is ordered while the one before it is written
        found = in_order(partial(pool.submit, find), batches, 1)
        pairs = (pair for batch, items in found for pair in zip(batch, items, strict=True))
        files.write_lines(arguments.out, write(pairs, arguments.format))


def _check(arguments: argparse.Namespace) -> None:
    if arguments.expected and arguments.format not in EXPECTED_FORMATTERS:
        raise UsageError(f"--expected goes with --format {' or '.join(EXPECTED_FORMATTERS)}")
    if arguments.sample and arguments.format == "tree":
        raise UsageError("--sample draws orders: it does not go with --format tree")
    if arguments.seed is not None and not arguments.sample:
        raise UsageError("--seed goes with --sample")


def _search(arguments: argparse.Namespace, preorderer: Preorderer) -> tuple[Search, Write]:
    """Return what finds what is wanted of a batch, which come in order, and what makes lines of it.

    Raises:
        UsageError: the model has no probabilities, and they are wanted.
    """
    k, trees = arguments.n_best, arguments.format == "tree"
    write: Write = formatted
    if arguments.expected:
        find: Search = preorderer.expected_positions
        write = partial(formatted, formatters=EXPECTED_FORMATTERS)
    elif arguments.sample:
        find = _drawing(preorderer, arguments)
    elif k is None:
        find = preorderer.trees if trees else preorderer.order
    else:
        find = partial(preorderer.best_trees if trees else preorderer.best_orders, k=k)
        write = formatted_nbest
    if arguments.expected or arguments.sample:
        find([])  # raises before any work
    return partial(find, threads=arguments.threads), write


def _drawing(preorderer: Preorderer, arguments: argparse.Namespace) -> Search:
    """Return what draws an order of each sentence, by the number of its line."""
    lines = itertools.count()
    seed = options.DEFAULT_SEED if arguments.seed is None else arguments.seed

    def draw(sentences: Sequence[Sentence], threads: int = 1) -> list[Permutation]:
        return preorderer.sample(sentences, list(itertools.islice(lines, len(sentences))), seed, threads)

    return draw
