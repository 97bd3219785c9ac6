"""``preorder apply``: put source words in the order that a model predicts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import itemgetter

from preorder.annotate.stanza import add_layers
from preorder.annotate.stanza_models import StanzaOptions
from preorder.annotate.workers import in_order
from preorder.cli import options, source
from preorder.cli.in_blocks import can_order, ordered_blocks
from preorder.cli.output import formatted, formatted_nbest
from preorder.data import files
from preorder.methods.model_directory import Model, load_model
from preorder.progress import progress

BATCH = 50_000  # tokens that are ordered at once; two batches are held, whatever the length of the input

EXAMPLES = """\
  preorder apply --model model --src test.en --pos test.en.pos --out test.features
  preorder apply --model model --src test.en --stanza-dir models --out test.features
      for a model that was trained with Stanza's tags or trees; Stanza's own models are in the folder "models"
  zcat big.en.gz | preorder apply --model model --format text --threads 4 > big.reordered
  preorder apply --model model --src test.en --n-best 10 --format order
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
    parser.add_argument(
        "--n-best",
        metavar="K",
        type=options.n_best,
        help="write up to K distinct orders of each sentence, best first, as lines of: "
        "sentence number, from 0 ||| order in the chosen format ||| score",
    )
    options.add_threads(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand; its memory does not grow with the input."""
    from preorder.compiled import import_without_blas  # numba takes a while to import

    import_without_blas()
    model = load_model(arguments.model)
    stanza = source.stanza_options(arguments, model.stanza, model.language)
    source.check_sources(arguments)
    source.warn_of_unused(arguments, model.preorderer.layers, stanza)
    if stanza is None and can_order(model, arguments):
        from preorder.methods.bulk.orderer import BulkOrderer

        order = BulkOrderer(model, arguments.format)
        with ThreadPoolExecutor(arguments.threads) as pool:
            blocks = ordered_blocks(model, order, arguments, pool)
            blocks = progress(blocks, "sentences", done="ordered", size=itemgetter(0))
            files.write_texts(arguments.out, map(itemgetter(1), blocks))
    else:
        files.write_lines(arguments.out, _lines(model, stanza, arguments))


def _lines(model: Model, stanza: StanzaOptions | None, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the output, for any method and any input."""
    sentences = source.read_sentences(arguments)
    if stanza is not None:
        sentences = add_layers(sentences, stanza, workers=arguments.threads)
    sentences = progress(sentences, "sentences", done="read")
    k, trees = arguments.n_best, arguments.format == "tree"
    if k is None:
        find = model.preorderer.trees if trees else model.preorderer.order
    else:
        find = partial(model.preorderer.best_trees if trees else model.preorderer.best_orders, k=k)
    find = partial(find, threads=arguments.threads)
    batches = files.batched(map(model.annotate, sentences), BATCH // (k or 1), lambda s: len(s) + 1)
    write = formatted if k is None else formatted_nbest
    with ThreadPoolExecutor(1) as pool:  # a batch is ordered while the one before it is written
        found = in_order(partial(pool.submit, find), batches, 1)
        pairs = (pair for batch, items in found for pair in zip(batch, items, strict=True))
        yield from write(pairs, arguments.format)
