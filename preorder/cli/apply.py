"""``preorder apply``: put source words in the order that a model predicts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, tee
from typing import Any, NamedTuple

from preorder.annotate.stanza import StanzaOptions, add_layers
from preorder.cli import shards, source
from preorder.cli.output import formatted, formatted_nbest, warn_of_escapes
from preorder.cli.source import Source
from preorder.command_line import options
from preorder.data.formats import parse_annotated
from preorder.data.sentence import Sentence
from preorder.errors import UsageError
from preorder.io import files, storage
from preorder.io.files import Block, read_blocks
from preorder.methods.base import HashedPreorderer
from preorder.methods.line_order import Escaped, LineOrderer
from preorder.methods.model_directory import Model, checksum, load_model
from preorder.processes import in_order
from preorder.progress import counting
from preorder.shards import Shard, Tick, Work, in_threads, run_shards

BATCH = 50_000  # tokens that are ordered at once; two batches are held, whatever the length of the input

MAX_AHEAD = 2
"""Blocks of a file that are held for each thread, whatever its length."""

MARK = files.BYTE_ORDER_MARK.encode()


@dataclass(frozen=True)
class ApplyJob:
    """What is to be done: order a source by a model, or each of the shards that its paths stand for."""

    source: Source
    model: str
    out: str
    format: str
    n_best: int | None
    threads: int
    lowercase: bool
    is_shard: bool = False

    def for_shard(self, shard: Shard) -> ApplyJob:
        given = replace(self.source, **shard.inputs)
        return replace(self, source=given, out=shard.output, is_shard=True)


Texts = Callable[[ApplyJob, Tick], Iterator[str]]
"""Yields the output for a file, and tells the number of sentences."""

EXAMPLES = """\
  preorder apply --model model --src test.en --pos test.en.pos --out test.features
  preorder apply --model model --src test.en --stanza-dir models --out test.features
      for a model that was trained with Stanza's tags or trees; Stanza's own models are in the folder "models"
  zcat big.en.gz | preorder apply --model model --format text --threads 4 > big.reordered
  preorder apply --model model --src test.en --n-best 10 --format order
""" + shards.EXAMPLE.format("apply --model model")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="DIR", required=True, help="model directory of preorder train")
    source.add_layer_options(parser, f"{source.STANZA} if the model was trained so; so for --trees")
    options.add_output(parser)
    options.add_format(parser)
    text = "write up to K distinct orders of each sentence, best first, as lines of: "
    text += "sentence number, from 0 ||| order in the chosen format ||| score"
    options.add_number(parser, "--n-best", options.n_best, None, text, "K")
    options.add_lowercase(parser)
    options.add_threads(parser)
    shards.add_shard_options(parser)


def run(arguments: argparse.Namespace) -> None:
    job = options.taken(ApplyJob, arguments, source=options.taken(Source, arguments), is_shard=False)
    shards.check_options(arguments, job.source)
    source.check_sources(job.source)
    from preorder.compiled import import_without_blas  # numba takes a while to import

    import_without_blas()
    settings: dict[str, Any] = {}
    if arguments.out_dir is not None:
        chosen = {"--format": job.format, "--n-best": job.n_best, "--lowercase": job.lowercase or None}
        chosen |= source.settings(job.source)
        settings = {"command": "apply", "--model": checksum(job.model), **chosen}
    model = load_model(job.model)
    given, stanza = source.for_model(job.source, model)
    job = replace(job, source=given)
    with ThreadPoolExecutor(job.threads) as pool:
        texts = _texts_of(model, job, stanza, pool, job.threads)
        if arguments.out_dir is None:
            with counting("sentences", done="read") as tick:
                files.write_texts(job.out, texts(job, tick))
        else:
            at_once = job.threads if isinstance(texts, BlockOrdering) else 1
            work: Work = partial(_do_shard, job, texts)
            if arguments.engine != shards.LOCAL:
                work = _WorkElsewhere(model, job, stanza)
            engine = shards.engine_of(arguments, stanza, job.threads, partial(in_threads, at_once))
            if checksum(job.model) != settings["--model"]:  # it may be another one that was loaded
                raise UsageError(f"{job.model} has been replaced meanwhile: begin again")
            parts = shards.shards_of(arguments, job.source, settings | shards.stanza_settings(stanza))
            done = storage.sizes(shard.output for shard in parts)
            run_shards(parts, work, engine, lambda shard: shard.output in done)


def _texts_of(
    model: Model, job: ApplyJob, stanza: StanzaOptions | None, pool: Executor, stanza_workers: int
) -> Texts:
    """Return what orders files by a model, with the threads of a pool and so many processes of Stanza."""
    if stanza is None and can_order_blocks(model, job):
        return BlockOrdering(model, job, pool)
    return partial(_texts, model, stanza, stanza_workers)


def can_order_blocks(model: Model, job: ApplyJob) -> bool:
    """Say whether a model orders the lines of plain files, and there is one order of each to be written."""
    is_plain = job.source.trees is None and job.n_best is None and not job.lowercase
    return isinstance(model.preorderer, HashedPreorderer) and is_plain


class _WorkElsewhere:
    """Does shards, one after another, in a process that it is sent to; what threads need is made there."""

    def __init__(self, model: Model, job: ApplyJob, stanza: StanzaOptions | None) -> None:
        self._given = model, job, stanza
        self._texts: Texts | None = None

    def __call__(self, shard: Shard, tick: Tick) -> None:
        model, job, stanza = self._given
        if self._texts is None:
            self._texts = _texts_of(model, job, stanza, ThreadPoolExecutor(job.threads), 0)
        _do_shard(job, self._texts, shard, tick)


def _do_shard(job: ApplyJob, texts: Texts, shard: Shard, tick: Tick) -> None:
    files.write_texts(shard.output, texts(job.for_shard(shard), tick))


def _texts(
    model: Model, stanza: StanzaOptions | None, stanza_workers: int, job: ApplyJob, tick: Tick
) -> Iterator[str]:
    """Yield the lines of the output, for any method and any input."""
    spelled, sentences = tee(source.read_sentences(job.source))
    if job.lowercase:
        sentences = map(Sentence.lowercased, sentences)
    if stanza is not None:
        sentences = add_layers(sentences, stanza, workers=stanza_workers)

    def annotated() -> Iterator[Sentence]:
        for sentence in sentences:
            yield model.annotate(sentence)
            tick(1)

    preorderer, trees = model.preorderer, job.format == "tree"
    if job.n_best is None:
        find, write = preorderer.trees if trees else preorderer.order, formatted
    else:
        best = preorderer.best_trees if trees else preorderer.best_orders
        find, write = partial(best, k=job.n_best), formatted_nbest
    size = BATCH // (job.n_best or 1)
    batches = files.batched(annotated(), size, lambda s: len(s) + 1)
    with ThreadPoolExecutor(1) as pool:  # a batch is ordered while the one before it is written
        found = in_order(partial(pool.submit, find, threads=job.threads), batches, 1)
        pairs = zip(spelled, chain.from_iterable(items for _, items in found), strict=True)
        for line in write(pairs, job.format):
            yield f"{line}\n"


class _Work(NamedTuple):
    block: Block
    columns: int


class BlockOrdering:
    """Orders files by a model; several threads may share it, and the threads that it has at work."""

    def __init__(self, model: Model, job: ApplyJob, pool: Executor) -> None:
        self._pool = pool
        self._ahead = MAX_AHEAD * job.threads
        self._order = LineOrderer(model, job.format)
        self._has_warned = False

    def __call__(self, job: ApplyJob, tick: Callable[[int], None]) -> Iterator[str]:
        """Yield the output for a file in parts, and tell the number of sentences of each."""
        submit = partial(self._pool.submit, _order, self._order, job)
        for work, (text, escaped) in in_order(submit, _work(job), self._ahead):
            if escaped is not None and not self._has_warned:
                self._has_warned = True
                line, words = escaped
                where = f"{job.source.name}, " if job.is_shard else ""
                warn_of_escapes(f"{where}line {work.block.first + line}", words)
            tick(work.block.lines)
            yield text


def _work(job: ApplyJob) -> Iterator[_Work | Exception]:
    """Yield the blocks of the input, and an error in reading in its place: after what is wrong before it."""
    columns = 1 if job.source.annot is None else None
    try:
        for block in read_blocks(source.plain_files(job.source)):
            columns = columns or _columns(block)
            work = _Work(block, columns or 3)
            if block.first == 1:  # what a whole file is refused for, its first sentence shows
                next(filter(len, _sentences(job, work)), None)
            yield work
    except Exception as error:
        yield error


def _columns(block: Block) -> int | None:
    """Return the number of columns, as ``read_annotated`` finds it; None: all is blank."""
    text = block.texts[0].decode(errors="replace")
    first, _ = files.first_filled(iter(text.removeprefix(files.BYTE_ORDER_MARK).split("\n")))
    return (2 if first.count("\t") == 1 else 3) if first else None


def _order(order: LineOrderer, job: ApplyJob, work: _Work | Exception) -> tuple[str, Escaped | None]:
    if isinstance(work, Exception):
        raise work
    texts = work.block.texts
    if work.block.first == 1:
        texts = tuple(text.removeprefix(MARK) for text in texts)
    return order(texts, work.block.lines, work.columns, partial(_sentences, job, work))


def _sentences(job: ApplyJob, work: _Work) -> Iterator[Sentence]:
    first = work.block.first
    paths = source.plain_files(job.source)
    columns = [_decoded(*file, first) for file in zip(paths, work.block.texts, strict=True)]
    if job.source.annot is None:
        return source.parsed_sentences(job.source, columns, first)
    parse = partial(parse_annotated, fields=work.columns)
    return files.parse_lines(job.source.annot, columns[0], parse, first)


def _decoded(path: str, text: bytes, first: int) -> Iterator[str]:
    for number, line in enumerate(text.split(b"\n")[:-1], first):
        yield files.decoded(line, path, number)
