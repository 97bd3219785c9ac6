"""``preorder annotate``: tag and parse a tokenised text."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from preorder.annotate.classes import word_classes
from preorder.annotate.options import TREES, AnnotatorOptions
from preorder.annotate.stanza import annotate
from preorder.command_line import options, shards, source
from preorder.command_line.paths import check_outputs, given_paths
from preorder.command_line.shards import Folder
from preorder.command_line.source import Source
from preorder.data.formats import format_annotated
from preorder.data.sentence import Sentence
from preorder.errors import UsageError
from preorder.io import files
from preorder.io.atomic import is_special
from preorder.io.storage import split_suffix
from preorder.learning.checkpoint import Checkpoints, digest
from preorder.progress import LOGGER, counting
from preorder.shards.jobs import Shard, Tick, in_worker_processes
from preorder.syntax.read import TAGSET_COMMENT

SUFFIXES = {"constituency": ".trees", "dependency": ".conllu"}

EXAMPLES = """\
  preorder annotate --src train.en --lang en --out train.annot
  preorder annotate --src train.en --lang en --trees constituency --workers 4 --out train.annot
      writes train.annot and train.annot.trees, for preorder train --annot and --trees
  preorder annotate --src train.cs --lang cs --trees dependency --tagset upos --out train.annot
      writes train.annot and train.annot.conllu
  preorder annotate --src train.en --pos train.en.pos --classes 256 --out train.annot
      tags from a file; classes are learned, and written to train.annot.classes, too, for the test set:
  preorder annotate --src test.en --pos test.en.pos --classes train.annot.classes --out test.annot
""" + shards.EXAMPLE.format("annotate")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder annotate``."""
    options.add_source(parser)
    source.add_syntax_options(parser, f"{source.STANZA}, or the tags of the trees with --trees F")
    text = "also write the class of each token: number of classes to learn from the text, or a file of "
    text += "word<TAB>class lines (default: no classes; preorder train learns its own)"
    parser.add_argument("--classes", metavar="N|F", type=options.classes, default="0", help=text)
    text = "words, POS tags and, with --classes, classes, separated by tabs; beside it, Stanza's trees as "
    text += "OUT.trees or OUT.conllu, and classes that are learned as OUT.classes"
    options.add_output(parser, text)
    options.add_files(parser, pos_out="the POS tags alone (default: they are not written)")
    options.add_seed(parser)
    text = "number of processes in which Stanza runs, each on one thread; the result does not depend on it"
    options.add_number(parser, "--workers", options.workers, 1, text)
    text = "start anew instead of resuming from OUT.checkpoint of an interrupted run"
    options.add_flags(parser, fresh=text)
    shards.add_shard_options(parser)


@dataclass(frozen=True)
class _Job:
    """A text to be annotated, or a pattern of shards to be annotated."""

    source: Source
    out: str
    pos_out: str | None
    classes: str
    seed: int
    fresh: bool


def run(arguments: argparse.Namespace) -> None:
    """Write the annotated text, or annotate each shard."""
    given = options.taken(Source, arguments, annot=None)
    folder = shards.given_folder(arguments, given)
    if given.pos is None and (given.trees is None or given.trees in TREES):
        given = replace(given, pos=source.STANZA)
    stanza = source.stanza_options(given)
    if stanza is not None and stanza.device == "gpu" and arguments.workers > 1:
        raise UsageError("--workers: on a GPU there is one worker")
    job = options.taken(_Job, arguments, source=given)
    if folder is not None:
        options.refuse(arguments, ("pos_out",), "with --out-dir")
        _do_shards(folder, job, stanza, arguments.workers)
        return
    beside = _beside(job, stanza).values()
    check_outputs(given_paths(arguments.parser, arguments), [*beside])
    count = sum(1 for _ in files.read_lines(given.src)) if os.path.isfile(given.src) else None
    with counting("sentences", count, "annotated") as tick:
        _do(job, stanza, arguments.workers, None, tick)
    for path in beside:
        LOGGER.info(f"saved in {path}")


def _do_shards(folder: Folder, job: _Job, stanza: AnnotatorOptions | None, workers: int) -> None:
    if _learns_classes(job):
        raise UsageError("--classes N learns from one text: learn them from it, then name the file")
    if folder.ray is not None and workers > 1:
        message = "--workers counts processes of this machine: on Ray there are as many as it has room for"
        raise UsageError(message)
    classes = None if job.classes == "0" else digest(list(files.read_lines(job.classes)))
    settings = {"command": "annotate", "--classes": classes}
    local = partial(in_worker_processes, 0 if stanza is None or workers == 1 else workers)

    def outputs(shard: Shard) -> set[str]:
        return {shard.output, *_beside(shards.for_shard(job, shard), stanza).values()}

    shards.do(folder, job.source, settings, stanza, partial(_do, job, stanza, 0), local, outputs=outputs)


def _do(job: _Job, stanza: AnnotatorOptions | None, workers: int, shard: Shard | None, tick: Tick) -> None:
    """Annotate a file or a shard; 0 workers: this process runs Stanza."""
    if shard is not None:
        job = shards.for_shard(job, shard)
    beside = _beside(job, stanza)
    is_stream = job.out == files.STANDARD or is_special(job.out)
    checkpoints = Checkpoints(None if is_stream else f"{job.out}.checkpoint")
    if job.fresh:
        checkpoints.remove()
    sentences: Iterable[Sentence] = source.read_sentences(job.source)
    if _learns_classes(job):
        sentences = list(sentences)
    classes = word_classes(source.given_classes(job.classes), sentences, job.seed)
    if classes is not None:
        sentences = map(classes.add_to, sentences)
    pairs: Iterable[tuple[Sentence, str | None]] = ((sentence, None) for sentence in sentences)
    if stanza is not None:
        pairs = _by_stanza(sentences, stanza, workers, checkpoints)
    with checkpoints.resumption_logged(), ExitStack() as stack:  # all files are written, or none
        annot_file = stack.enter_context(files.writer(job.out))
        beside_paths = (job.pos_out, beside.get("trees"))
        pos_file, trees_file = (path and stack.enter_context(files.writer(path)) for path in beside_paths)
        for sentence, tree in pairs:
            annot_file.write(format_annotated(sentence) + "\n")
            if pos_file:
                pos_file.write(" ".join(sentence.tags or ()) + "\n")
            if trees_file:
                trees_file.write(f"{tree}\n")
            tick(1)
    if classes is not None and "classes" in beside:
        files.write_lines(beside["classes"], classes.lines())
    checkpoints.remove()


def _beside(job: _Job, stanza: AnnotatorOptions | None) -> dict[str, str]:
    """Return the paths of ``trees`` and ``classes`` beside the annotated text."""
    suffixes = {}
    if stanza is not None and stanza.trees is not None:
        suffixes["trees"] = SUFFIXES[stanza.trees]
    if _learns_classes(job):
        suffixes["classes"] = ".classes"
    if suffixes and (job.out == files.STANDARD or is_special(job.out)):
        raise UsageError("--out is needed: trees and classes are written beside it")
    name, compression = split_suffix(job.out)
    return {kind: name + suffix + compression for kind, suffix in suffixes.items()}


def _by_stanza(
    sentences: Iterable[Sentence], stanza: AnnotatorOptions, workers: int, checkpoints: Checkpoints
) -> Iterator[tuple[Sentence, str | None]]:
    found = annotate(sentences, stanza, workers=workers, checkpoints=checkpoints)
    for number, (sentence, (tags, tree)) in enumerate(found, 1):
        if stanza.trees == "dependency":  # in CoNLL-U; an empty sentence has comments alone
            first = TAGSET_COMMENT + stanza.tagset if number == 1 else ""
            text = f"# text = {' '.join(sentence.words)}".rstrip(" ")
            tree = "\n".join(filter(None, (first, f"# sent_id = {number}", text, tree))) + "\n"
        yield replace(sentence, tags=tags), tree


def _learns_classes(job: _Job) -> bool:
    return job.classes.isdecimal() and job.classes != "0"
