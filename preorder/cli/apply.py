"""``preorder apply``: put source words in the order that a model predicts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tqdm import tqdm

from preorder.annotate.stanza import add_layers
from preorder.cli import options, source
from preorder.cli.output import formatted, formatted_nbest
from preorder.data import files
from preorder.data.types import Sentence
from preorder.methods.base import Preorderer
from preorder.methods.model_directory import load_model

BATCH = 50_000  # tokens held at a time, whatever the input's length

EXAMPLES = """\
  preorder apply --model model --src test.en --pos test.en.pos --out test.features
  preorder apply --model model --src test.en --stanza-dir models --out test.features
      where the model was trained with --pos stanza or with Stanza's trees, and its models lie in a folder
  zcat big.en.gz | preorder apply --model model --format text --threads 4 > big.reordered
  preorder apply --model model --src test.en --n-best 10 --format order
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(
        subparsers, "apply", run, "put source words in the order that a model predicts", EXAMPLES
    )
    parser.add_argument("--model", metavar="DIR", required=True, help="model directory of preorder train")
    source.add_layers(parser, f"{source.STANZA}, and so for trees, if the model was trained so")
    options.add_output(parser)
    options.add_format(parser)
    parser.add_argument(
        "--n-best",
        metavar="K",
        type=options.positive,
        help="write up to K distinct orders of each sentence, best first, as lines of: "
        "sentence number, from 0 ||| order in the chosen format ||| score",
    )
    options.add_threads(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand; its memory does not grow with the input."""
    model = load_model(arguments.model)
    sentences = source.read_sentences(arguments)
    stanza = source.stanza_options(arguments, model.stanza, model.language)
    if stanza is not None:
        sentences = add_layers(sentences, stanza, workers=arguments.threads)
    sentences = tqdm(sentences, unit=" sentences", disable=None)
    find = _finder(model.preorderer, arguments.format == "tree", arguments.n_best, arguments.threads)
    tokens = BATCH // (arguments.n_best or 1)
    batches = files.batched(map(model.annotate, sentences), tokens, lambda s: len(s) + 1)
    found = (pair for batch, items in _ahead(find, batches) for pair in zip(batch, items, strict=True))
    write = formatted if arguments.n_best is None else formatted_nbest
    files.write_lines(arguments.out, write(found, arguments.format))


Batch = Sequence[Sentence]
Find = Callable[[Batch], Sequence[Any]]


def _finder(preorderer: Preorderer, trees: bool, k: int | None, threads: int) -> Find:
    """Return a function that gives the order of each sentence, or its k best; or else their trees."""
    if k is None:
        find_one = preorderer.trees if trees else preorderer.order
        return lambda batch: find_one(batch, threads)
    find_best = preorderer.best_trees if trees else preorderer.best_orders
    return lambda batch: find_best(batch, k, threads)


def _ahead(find: Find, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Sequence[Any]]]:
    """Yield each batch with what ``find`` gives for it; meanwhile ``find`` works on the next batch."""
    with ThreadPoolExecutor(1) as pool:
        waiting: list[tuple[Batch, Any]] = []
        for batch in batches:
            waiting.append((batch, pool.submit(find, batch)))
            if len(waiting) > 1:
                earlier, future = waiting.pop(0)
                yield earlier, future.result()
        for earlier, future in waiting:
            yield earlier, future.result()
