"""``preorder apply``: put source words in the order that a model predicts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any

from preorder.annotate.stanza import StanzaOptions, add_layers
from preorder.cli import SUMMARIES, source
from preorder.cli.in_blocks import BlockOrdering, can_order
from preorder.cli.output import formatted, formatted_nbest
from preorder.cli.shards import (
    EXAMPLE,
    LOCAL,
    add_shard_options,
    check_options,
    engine_of,
    for_workers,
    of_shard,
    shards_of,
    stanza_settings,
)
from preorder.command_line import options
from preorder.data.sentence import Sentence
from preorder.errors import UsageError
from preorder.io import files, storage
from preorder.methods.model_directory import Model, checksum, load_model
from preorder.processes import in_order
from preorder.progress import counting
from preorder.shards.plan import Shard
from preorder.shards.run import Tick, Work, in_threads, run_shards

BATCH = 50_000  # tokens that are ordered at once; two batches are held, whatever the length of the input

SETTINGS = ("format", "n-best", "lang", "tagset")
"""Options on which the output depends, beside the model and the input."""

Texts = Callable[[argparse.Namespace, Tick], Iterator[str]]
"""Yields the output for a file, and tells the number of sentences."""

EXAMPLES = """\
  preorder apply --model model --src test.en --pos test.en.pos --out test.features
  preorder apply --model model --src test.en --stanza-dir models --out test.features
      for a model that was trained with Stanza's tags or trees; Stanza's own models are in the folder "models"
  zcat big.en.gz | preorder apply --model model --format text --threads 4 > big.reordered
  preorder apply --model model --src test.en --n-best 10 --format order
""" + EXAMPLE.format("apply --model model")


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(subparsers, "apply", run, SUMMARIES["apply"], EXAMPLES)
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
    add_shard_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand; its memory does not grow with the input."""
    check_options(arguments)
    source.check_sources(arguments)
    from preorder.compiled import import_without_blas  # numba takes a while to import

    import_without_blas()
    settings = {} if arguments.out_dir is None else _settings(arguments)
    model = load_model(arguments.model)
    stanza = source.stanza_of(arguments, model)
    with ThreadPoolExecutor(arguments.threads) as pool:
        texts = _texts_of(model, arguments, stanza, pool, arguments.threads)
        if arguments.out_dir is None:
            with counting("sentences", done="read") as tick:
                files.write_texts(arguments.out, texts(arguments, tick))
        else:
            at_once = arguments.threads if isinstance(texts, BlockOrdering) else 1
            work: Work = partial(_do_shard, arguments, texts)
            if arguments.engine != LOCAL:
                work = _WorkElsewhere(model, for_workers(arguments), stanza)
            engine = engine_of(arguments, stanza, arguments.threads, partial(in_threads, at_once))
            if _settings(arguments) != settings:  # it may be another one that was loaded
                raise UsageError(f"{arguments.model} has been replaced meanwhile: begin again")
            shards = shards_of(arguments, settings | stanza_settings(stanza))
            done = storage.sizes(shard.output for shard in shards)
            run_shards(shards, work, engine, lambda shard: shard.output in done)


def _texts_of(
    model: Model,
    arguments: argparse.Namespace,
    stanza: StanzaOptions | None,
    pool: Executor,
    stanza_workers: int,
) -> Texts:
    """Return what orders files by a model, with the threads of a pool and so many processes of Stanza."""
    if stanza is None and can_order(model, arguments):
        return BlockOrdering(model, arguments, pool)
    return partial(_texts, model, stanza, stanza_workers)


class _WorkElsewhere:
    """Does shards, one after another, in a process that it is sent to; what threads need is made there."""

    def __init__(self, model: Model, arguments: argparse.Namespace, stanza: StanzaOptions | None) -> None:
        self._given = model, arguments, stanza
        self._texts: Texts | None = None

    def __call__(self, shard: Shard, tick: Tick) -> None:
        model, arguments, stanza = self._given
        if self._texts is None:
            self._texts = _texts_of(model, arguments, stanza, ThreadPoolExecutor(arguments.threads), 0)
        _do_shard(arguments, self._texts, shard, tick)


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    given = {f"--{name}": getattr(arguments, name.replace("-", "_")) for name in SETTINGS}
    return {"command": "apply", "--model": checksum(arguments.model), **given}


def _do_shard(arguments: argparse.Namespace, texts: Texts, shard: Shard, tick: Tick) -> None:
    files.write_texts(shard.output, texts(of_shard(arguments, shard), tick))


def _texts(
    model: Model, stanza: StanzaOptions | None, stanza_workers: int, arguments: argparse.Namespace, tick: Tick
) -> Iterator[str]:
    """Yield the lines of the output, for any method and any input."""
    sentences = source.read_sentences(arguments)
    if stanza is not None:
        sentences = add_layers(sentences, stanza, workers=stanza_workers)
    sentences = _told(sentences, tick)
    preorderer, trees = model.preorderer, arguments.format == "tree"
    if arguments.n_best is None:
        find, write = preorderer.trees if trees else preorderer.order, formatted
    else:
        best = preorderer.best_trees if trees else preorderer.best_orders
        find, write = partial(best, k=arguments.n_best), formatted_nbest
    size = BATCH // (arguments.n_best or 1)
    batches = files.batched(map(model.annotate, sentences), size, lambda s: len(s) + 1)
    with ThreadPoolExecutor(1) as pool:  # a batch is ordered while the one before it is written
        found = in_order(partial(pool.submit, find, threads=arguments.threads), batches, 1)
        pairs = (pair for batch, items in found for pair in zip(batch, items, strict=True))
        for line in write(pairs, arguments.format):
            yield f"{line}\n"


def _told(sentences: Iterable[Sentence], tick: Tick) -> Iterator[Sentence]:
    for sentence in sentences:
        yield sentence
        tick(1)
