"""``preorder annotate``: tag and parse a tokenised text."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from preorder.annotate.classes import WordClasses
from preorder.annotate.stanza import TREES, StanzaOptions, annotate
from preorder.cli import shards, source
from preorder.cli.source import Source
from preorder.command_line import options
from preorder.command_line.paths import check_outputs, given_paths
from preorder.data.formats import format_annotated
from preorder.data.sentence import Sentence
from preorder.errors import UsageError
from preorder.io import files, storage
from preorder.io.storage import split_suffix
from preorder.learning.checkpoint import Checkpoints, digest
from preorder.progress import LOGGER, counting
from preorder.shards import Shard, Tick, in_worker_processes, run_shards
from preorder.syntax.read import tagset_comment

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
    options.add_source(parser)
    source.add_syntax_options(parser, f"{source.STANZA}, or the tags of the trees with --trees F")
    parser.add_argument(
        "--classes",
        metavar="N|F",
        default="0",
        help="number of word classes to learn from the text, or a file of word<TAB>class lines; the class "
        "of each token is written, too (default: no classes; preorder train learns its own)",
    )
    text = "words, POS tags and, with --classes, classes, separated by tabs; beside it, Stanza's trees as "
    text += "OUT.trees or OUT.conllu, and classes that are learned as OUT.classes"
    options.add_output(parser, text)
    options.add_files(parser, pos_out="the POS tags alone (default: they are not written)")
    options.add_seed(parser)
    text = "number of processes in which Stanza runs, each on one thread; the result does not depend on it"
    options.add_number(parser, "--workers", options.workers, 1, text)
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="start anew, instead of going on from OUT.checkpoint, which an interrupted run left",
    )
    shards.add_shard_options(parser)


@dataclass(frozen=True)
class _Job:
    """A text to be annotated, or each of the shards that its paths stand for."""

    source: Source
    out: str
    pos_out: str | None
    classes: str
    seed: int
    fresh: bool

    def for_shard(self, shard: Shard) -> _Job:
        return replace(self, source=replace(self.source, **shard.inputs), out=shard.output)


def run(arguments: argparse.Namespace) -> None:
    given = options.taken(Source, arguments, annot=None)
    shards.check_options(arguments, given)
    if given.pos is None and (given.trees is None or given.trees in TREES):
        given = replace(given, pos=source.STANZA)
    stanza = source.stanza_options(given)
    job = options.taken(_Job, arguments, source=given)
    if arguments.out_dir is not None:
        _do_shards(arguments, job, stanza)
        return
    beside = [path for path in _outputs(job, stanza)[1:] if path is not None]
    inputs, outputs = (given_paths(arguments.parser, arguments, outputs) for outputs in (False, True))
    check_outputs(inputs, [*outputs, *beside])
    count = sum(1 for _ in files.read_lines(given.src)) if os.path.isfile(given.src) else None
    with counting("sentences", count, "annotated") as tick:
        _do_file(job, stanza, arguments.workers, tick)
    for path in beside:
        LOGGER.info(f"saved in {path}")


def _do_shards(arguments: argparse.Namespace, job: _Job, stanza: StanzaOptions | None) -> None:
    workers = arguments.workers
    if _learns_classes(job):
        raise UsageError("--classes N learns from one text: learn them from it, then name the file")
    options.refuse(arguments, ("pos_out",), "with --out-dir")
    if stanza is not None and stanza.device == "gpu" and workers > 1:
        raise UsageError("on a GPU there is one worker")
    if arguments.engine != shards.LOCAL and workers > 1:
        message = "--workers counts processes of this machine: on Ray there are as many as it has room for"
        raise UsageError(message)
    classes = None if job.classes == "0" else digest(list(files.read_lines(job.classes)))
    settings = {"command": "annotate", **source.settings(job.source), "--classes": classes}
    settings |= shards.stanza_settings(stanza)
    parts = shards.shards_of(arguments, job.source, settings)
    local = partial(in_worker_processes, 0 if stanza is None or workers == 1 else workers)

    def outputs(shard: Shard) -> set[str]:
        return {path for path in _outputs(job.for_shard(shard), stanza) if path is not None}

    done = storage.sizes(path for shard in parts for path in outputs(shard)).keys()
    engine = shards.engine_of(arguments, stanza, 1, local)
    run_shards(parts, partial(_do_shard, job, stanza), engine, lambda shard: done >= outputs(shard))


def _do_shard(job: _Job, stanza: StanzaOptions | None, shard: Shard, tick: Tick) -> None:
    _do_file(job.for_shard(shard), stanza, 0, tick)


def _do_file(job: _Job, stanza: StanzaOptions | None, workers: int, tick: Tick) -> None:
    """Annotate a file; 0 workers: this process runs Stanza itself."""
    out, trees_out, classes_out = _outputs(job, stanza)
    checkpoints = Checkpoints(None if out == files.STANDARD else f"{out}.checkpoint")
    if job.fresh:
        checkpoints.remove()
    sentences, classes = _with_classes(source.read_sentences(job.source), job)
    pairs: Iterable[tuple[Sentence, str | None]] = ((sentence, None) for sentence in sentences)
    if stanza is not None:
        pairs = _by_stanza(sentences, stanza, workers, checkpoints)
    with checkpoints.told(), ExitStack() as stack:  # all files are written, or none
        paths = (out, job.pos_out, trees_out)
        annot_file, pos_file, trees_file = (
            path and stack.enter_context(files.writer(path)) for path in paths
        )
        for sentence, tree in pairs:
            annot_file.write(format_annotated(sentence) + "\n")
            if pos_file:
                pos_file.write(" ".join(sentence.tags) + "\n")
            if trees_file:
                trees_file.write(tree + "\n")
            tick(1)
    if classes_out is not None:
        files.write_lines(classes_out, classes.lines())
    checkpoints.remove()


def _outputs(job: _Job, stanza: StanzaOptions | None) -> tuple[str, str | None, str | None]:
    """Return the paths of the annotated text, of the trees and of the classes; None: there are none."""
    suffixes = (
        None if stanza is None or stanza.trees is None else SUFFIXES[stanza.trees],
        ".classes" if _learns_classes(job) else None,
    )
    if any(suffixes) and job.out == files.STANDARD:
        raise UsageError("--out is needed: trees and classes are written beside it")
    name, compression = split_suffix(job.out)
    trees, classes = (suffix and name + suffix + compression for suffix in suffixes)
    return job.out, trees, classes


def _by_stanza(
    sentences: Iterable[Sentence], stanza: StanzaOptions, workers: int, checkpoints: Checkpoints
) -> Iterator[tuple[Sentence, str | None]]:
    found = annotate(sentences, stanza, workers=workers, checkpoints=checkpoints)
    for number, (sentence, (tags, tree)) in enumerate(found, 1):
        if stanza.trees == "dependency":  # in CoNLL-U; an empty sentence has comments alone
            first = tagset_comment(stanza.tagset) if number == 1 else ""
            text = f"# text = {' '.join(sentence.words)}".rstrip(" ")
            tree = "\n".join(filter(None, (first, f"# sent_id = {number}", text, tree))) + "\n"
        yield replace(sentence, tags=tags), tree


def _with_classes(sentences: Iterable[Sentence], job: _Job) -> tuple[Iterable[Sentence], WordClasses | None]:
    words: Sequence[Sequence[str]] = ()
    if _learns_classes(job):
        sentences = list(sentences)
        words = [sentence.words for sentence in sentences]
    classes = source.read_or_learn_classes(job.classes, words, job.seed)
    if classes is None:
        return sentences, None
    return map(classes.add_to, sentences), classes


def _learns_classes(job: _Job) -> bool:
    return job.classes.isdecimal() and job.classes != "0"
