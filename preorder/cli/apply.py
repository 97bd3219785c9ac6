"""``preorder apply``: put source words in the order that a model predicts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tqdm import tqdm

from preorder import corpus
from preorder.cli import options, source
from preorder.cli.output import formatted
from preorder.formats import format_tree
from preorder.preorderer import Model, load_model
from preorder.types import Permutation, Sentence

BATCH = 5000  # sentences held at a time, whatever the input's length

EXAMPLES = """\
  preorder apply --model model --src test.en --pos test.en.pos --out test.features
  zcat big.en.gz | preorder apply --model model --format text --threads 4 > big.reordered
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(
        subparsers, "apply", run, "put source words in the order that a model predicts", EXAMPLES
    )
    parser.add_argument("--model", metavar="DIR", required=True, help="model directory of preorder train")
    source.add_layers(parser)
    options.add_output(parser)
    options.add_format(parser)
    options.add_threads(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    model = load_model(arguments.model)
    sentences = source.read_sentences(arguments)
    annotated = (model.annotate(sentence) for sentence in tqdm(sentences, unit=" sentences", disable=None))
    lines = _trees(model, annotated, arguments.threads) if arguments.format == "tree" else None
    lines = lines or formatted(_orders(model, annotated, arguments.threads), arguments.format)
    corpus.write_lines(arguments.out, lines)


def _trees(model: Model, sentences: Iterator[Sentence], threads: int) -> Iterator[str]:
    for batch in corpus.batched(sentences, BATCH):
        for sentence, tree in zip(batch, model.preorderer.trees(batch, threads), strict=True):
            yield format_tree(sentence.words, tree)


def _orders(
    model: Model, sentences: Iterator[Sentence], threads: int
) -> Iterator[tuple[Sentence, Permutation]]:
    for batch in corpus.batched(sentences, BATCH):
        yield from zip(batch, model.preorderer.order(batch, threads), strict=True)
