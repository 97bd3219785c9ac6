"""``preorder apply``: put source words in the order that a model predicts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tqdm import tqdm

from preorder.annotate.stanza import add_layers
from preorder.cli import options, source
from preorder.cli.output import formatted, formatted_nbest
from preorder.data import files
from preorder.data.types import Sentence
from preorder.methods.base import load_model

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
        "sentence's number from 0 ||| order in the chosen format ||| score",
    )
    options.add_threads(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand; memory does not grow with the input."""
    model = load_model(arguments.model)
    sentences = source.read_sentences(arguments)
    stanza = source.stanza_options(arguments, model.stanza, model.language)
    if stanza is not None:
        sentences = add_layers(sentences, stanza, workers=arguments.threads)
    sentences = tqdm(sentences, unit=" sentences", disable=None)
    most, trees, threads = arguments.n_best, arguments.format == "tree", arguments.threads
    if most is None:
        find = partial(model.preorderer.trees if trees else model.preorderer.order, threads=threads)
    else:
        find = model.preorderer.best_trees if trees else model.preorderer.best_orders
        find = partial(find, k=most, threads=threads)
    batches = files.batched(map(model.annotate, sentences), BATCH // (most or 1), lambda s: len(s) + 1)
    found = (pair for batch, items in _ahead(find, batches) for pair in zip(batch, items, strict=True))
    write = formatted if most is None else formatted_nbest
    files.write_lines(arguments.out, write(found, arguments.format))


Batch = Sequence[Sentence]


def _ahead(
    find: Callable[[Batch], Sequence[Any]], batches: Iterable[Batch]
) -> Iterator[tuple[Batch, Sequence[Any]]]:
    """Yield each batch with what is found for it, while that for the next is looked for."""
    with ThreadPoolExecutor(1) as pool:
        waiting: list[tuple[Batch, Any]] = []
        for batch in batches:
            waiting.append((batch, pool.submit(find, batch)))
            if len(waiting) > 1:
                earlier, future = waiting.pop(0)
                yield earlier, future.result()
        for earlier, future in waiting:
            yield earlier, future.result()
