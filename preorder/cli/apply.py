"""``preorder apply``: put source words in the order that a model predicts."""

from __future__ import annotations

import argparse
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, tee
from typing import TYPE_CHECKING, Any, TextIO

from preorder.annotate.options import AnnotatorOptions
from preorder.annotate.tokenizers import log_tokenizers
from preorder.command_line import options, shards, source
from preorder.command_line.source import Source
from preorder.data import Sentence
from preorder.data.formats import Escaped, format_confidence, formatted, parse_annotated, warn_of_escapes
from preorder.data.texts import JUDGED
from preorder.errors import UsageError
from preorder.io import files
from preorder.io.files import Block, read_blocks
from preorder.methods.base import HashedPreorderer
from preorder.methods.model_directory import Model, checksum, load_model
from preorder.methods.ordering import BATCH, LineOrderer, Ordering, confident, orders
from preorder.methods.registry import check_able
from preorder.methods.shipped import shipped_models
from preorder.processes import MAX_AHEAD, in_order
from preorder.progress import counting
from preorder.shards.jobs import Shard, Tick, in_threads

if TYPE_CHECKING:
    from preorder.metrics.confidence import OrderConfidence

MARK = files.BYTE_ORDER_MARK.encode()


@dataclass(frozen=True)
class ApplyJob:
    """A source to be ordered by a model, or a pattern of shards to be ordered."""

    source: Source
    model: str
    out: str
    out_dir: str | None
    format: str
    n_best: int | None
    threads: int
    confidence_out: str | None
    line_by_line: bool = False


Texts = Callable[[ApplyJob, Tick], Iterator[str]]
"""Yields the output text of a file; calls ``tick`` with the number of sentences done."""

EXAMPLES = """\
  preorder apply --model model --src test.en --pos test.en.pos --out test.features
  preorder apply --model model --src test.en --stanza-dir models --out test.features
      for a model that was trained with Stanza's tags or trees; Stanza's own models are in the folder "models"
  zcat big.en.gz | preorder apply --model model --format text --threads 4 > big.reordered
  preorder apply --model model --src test.en --n-best 10 --format order
  preorder apply --model model --src test.en --out test.features --confidence-out test.confidence
  preorder apply --model en-verb-final --src test.raw --tokenize en --format text
  preorder apply --model en-verb-final --line-by-line --format positions
      answers each line at once: for a program that asks by a pipe
""" + shards.EXAMPLE.format("apply --model model")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder apply``."""
    text = f"model directory of preorder train, or a model of the package: {', '.join(shipped_models())}"
    parser.add_argument("--model", metavar="DIR", required=True, help=text)
    source.add_layer_options(parser, source.TAGS_OF_MODEL)
    source.add_tokenize(parser)
    options.add_output(parser)
    options.add_format(parser)
    text = "write up to K distinct orders of each sentence, best first, as lines of: "
    text += "sentence number, from 0 ||| order in the chosen format ||| score"
    options.add_number(parser, "--n-best", options.n_best, None, text, "K")
    text = "write the confidence of each order of btg and neural-btg: E[tau], the tau that the model expects "
    text += "(-1 to 1), a tab, and the same for each source token"
    options.add_files(parser, confidence_out=text)
    options.add_number(parser, "--threads", options.workers, 1, "number of threads")
    text = "answer each line before the next is read, for a program at a pipe"
    options.add_flags(parser, line_by_line=text)
    shards.add_shard_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the order of each sentence, or order each shard."""
    job = options.taken(ApplyJob, arguments, source=options.taken(Source, arguments))
    folder = shards.given_folder(arguments, job.source)
    from preorder.compiled import import_without_blas  # numba takes a while to import

    import_without_blas()
    settings: dict[str, Any] = {}
    if folder is not None:
        settings = {"command": "apply", "--model": checksum(job.model), "--format": job.format}
        settings |= {"--n-best": job.n_best}
    model = load_model(job.model)
    if job.confidence_out is not None:
        check_able("confidence_out", model.preorderer.method, "has_confidences")
        options.refuse(arguments, ("n_best",), "with --confidence-out")
    given, stanza = source.for_model(job.source, model)
    job = replace(job, source=given)
    log_tokenizers(given.tokenize)
    if folder is not None:
        options.refuse(arguments, ("confidence_out", "line_by_line"), "with --out-dir")
    if job.line_by_line:
        options.refuse(arguments, ("confidence_out", "threads"), "with --line-by-line")
    is_alone = folder is not None and (folder.ray is not None or job.threads == 1)
    texts: Texts = partial(_texts, model, stanza, 0 if is_alone else job.threads)  # 0: Stanza stays loaded
    if stanza is None and can_order_blocks(model, job):
        texts = BlockOrdering(model, job)
    if folder is None:
        with counting("sentences", done="read") as tick:
            files.write_texts(job.out, texts(job, tick), flush=job.line_by_line)
        return
    if checksum(job.model) != settings["--model"]:  # it may be another one that was loaded
        raise UsageError(f"{job.model} has been replaced meanwhile: begin again")
    at_once = job.threads if isinstance(texts, BlockOrdering) else 1
    work = partial(_do_shard, job, texts)
    shards.do(folder, job.source, settings, stanza, work, partial(in_threads, at_once), job.threads)


def can_order_blocks(model: Model, job: ApplyJob) -> bool:
    """Return whether the job is to write one order for each line of plain files, by a hashed model."""
    others = job.source.trees, job.source.tokenize, job.n_best, job.confidence_out, job.line_by_line or None
    return isinstance(model.preorderer, HashedPreorderer) and others == (None,) * 5


def _do_shard(job: ApplyJob, texts: Texts, shard: Shard, tick: Tick) -> None:
    files.write_texts(shard.output, texts(shards.for_shard(job, shard), tick))


def _texts(
    model: Model, stanza: AnnotatorOptions | None, workers: int, job: ApplyJob, tick: Tick
) -> Iterator[str]:
    """Yield the output lines sentence by sentence, for any method and any input."""
    spelled, sentences = tee(source.read_sentences(job.source))
    preorderer, trees = model.preorderer, job.format == "tree"
    find: Callable[..., Any] = preorderer.trees if trees else preorderer.order
    if job.n_best is not None:
        find = partial(preorderer.best_trees if trees else preorderer.best_orders, k=job.n_best)
    if job.confidence_out is not None:
        find = partial(confident, preorderer, find)
    find = partial(find, threads=job.threads)
    found: Iterable[Any]
    if job.line_by_line:
        found = chain.from_iterable(orders(model, [sentence], find, stanza) for sentence in sentences)
    else:
        found = orders(model, sentences, find, stanza, workers, BATCH // (job.n_best or 1))
    items: Iterator[Any] = (tick(1) or item for item in found)
    with contextlib.ExitStack() as stack:
        if job.confidence_out is not None:
            items = _written(items, stack.enter_context(files.writer(job.confidence_out)))
        pairs = zip(spelled, items, strict=True)
        for line in formatted(pairs, job.format, ranked=job.n_best is not None):
            yield f"{line}\n"


def _written(items: Iterable[tuple[Ordering, OrderConfidence]], stream: TextIO) -> Iterator[Ordering]:
    """Write the confidence of each order or tree, then yield it."""
    for item, confidence in items:
        stream.write(f"{format_confidence(*confidence)}\n")
        yield item


class BlockOrdering:
    """Orders files by a model in blocks, on threads of its own; several threads may share it."""

    def __init__(self, model: Model, job: ApplyJob) -> None:
        self._given = model, job
        self._pool = ThreadPoolExecutor(job.threads)
        self._order = LineOrderer(model, job.format)
        self._has_warned = False

    def __reduce__(self) -> tuple[Any, ...]:  # threads cannot be pickled: another process starts its own
        return BlockOrdering, self._given

    def __call__(self, job: ApplyJob, tick: Callable[[int], None]) -> Iterator[str]:
        """Yield the output text of a file, a block at a time."""
        done = in_order(
            lambda work: self._pool.submit(self._ordered, job, work), _blocks(job), MAX_AHEAD * job.threads
        )
        for _, (block, text, escaped) in done:
            if escaped is not None and not self._has_warned:
                self._has_warned = True
                where = "" if job.out_dir is None else f"{job.source.name}, "
                warn_of_escapes((block.first - 1 + escaped[0], escaped[1]), where)
            tick(block.lines)
            yield text

    def _ordered(self, job: ApplyJob, work: _Work | Exception) -> tuple[Block, str, Escaped | None]:
        if isinstance(work, Exception):
            raise work
        block, columns = work
        texts = block.texts
        if block.first == 1:
            texts = tuple(text.removeprefix(MARK) for text in texts)
        return block, *self._order(texts, block.lines, columns, partial(_sentences, job, *work))


_Work = tuple[Block, int]  # a block and its number of columns


def _blocks(job: ApplyJob) -> Iterator[_Work | Exception]:
    """Yield the blocks of the input; yield an error, too: errors of earlier blocks come before it."""
    columns = 1 if job.source.annot is None else 0
    try:
        for block in read_blocks(source.plain_files(job.source)):
            if not columns:  # as in read_annotated; 0: only blank lines so far
                text = block.texts[0].decode(errors="replace").removeprefix(files.BYTE_ORDER_MARK)
                first, _ = files.first_filled(iter(text.split("\n")))
                columns = (2 if first.count("\t") == 1 else 3) if first else 0
            if block.first == 1:  # its first sentences show whether the file is refused
                deque(islice(filter(len, _sentences(job, block, columns or 3)), JUDGED), maxlen=0)
            yield block, columns or 3
    except Exception as error:
        yield error


def _sentences(job: ApplyJob, block: Block, columns: int) -> Iterator[Sentence]:
    paths = source.plain_files(job.source)
    lines = [files.decoded_lines(*file, block.first) for file in zip(block.texts, paths, strict=True)]
    if job.source.annot is None:
        return source.parsed_sentences(job.source, lines, block.first)
    parse = partial(parse_annotated, fields=columns)
    return files.parse_lines(job.source.annot, lines[0], parse, block.first)
