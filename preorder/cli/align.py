"""``preorder align``: align the words of a bitext."""

from __future__ import annotations

import argparse
import collections
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

from preorder.alignment.eflomal import THREADS, Sentences, align, sample
from preorder.alignment.links import DEFAULT_SYMMETRIZATION, SYMMETRIZATIONS, Samples, agreement, confident
from preorder.command_line import options
from preorder.data.formats import format_alignment, parse_source, parse_tokens, read_alignments
from preorder.data.sentence import Alignment
from preorder.data.texts import read_tokens
from preorder.errors import UsageError
from preorder.io import files
from preorder.progress import LOGGER

DEFAULT_SAMPLERS = 4
DEFAULT_MIN_CONFIDENCE = 0.5
DEFAULT_CHUNK = 1_000_000

Draw = Callable[[Sentences, Sentences], Samples]
"""Draws the links of several samplers."""

EXAMPLES = """\
  preorder align --src train.en --tgt train.ja --out train.align
  preorder align --src train.en --tgt train.ja --symmetrize grow-diag-final-and | gzip > train.align.gz
  preorder align --src train.en --tgt train.ja --samplers 4 --out train.align
  preorder align --src train.en --tgt train.ja --hand-src hand.en --hand-tgt hand.ja \\
      --hand-align hand.align --out train.align
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder align``."""
    options.add_source(parser)
    text = "target text, a tokenised sentence a line"
    parser.add_argument("--tgt", metavar="F", required=True, help=text)
    options.add_output(parser)
    text = f"how the links of both directions are joined (default: {DEFAULT_SYMMETRIZATION})"
    parser.add_argument("--symmetrize", choices=tuple(SYMMETRIZATIONS), help=text)
    add_number = partial(options.add_number, parser)
    text = "instead of --symmetrize: run N samplers in each direction; the confidence of a link is its share "
    text += f"of all 2N (default with --hand-align: {DEFAULT_SAMPLERS})"
    add_number("--samplers", options.samplers, None, text)
    text = "with --samplers or --hand-align: the smallest confidence of a link"
    text += f" (default: {DEFAULT_MIN_CONFIDENCE})"
    add_number("--min-confidence", options.confidence, None, text, "P")
    text = "some hundred sentences of the same domain; links learned from them are more and better"
    group = parser.add_argument_group("hand-aligned sentences", text)
    options.add_files(
        group,
        hand_src="their source, tokenised as --src",
        hand_tgt="their target, tokenised as --tgt",
        hand_align="their links; see preorder map for other tokens",
    )
    add_number("--threads", options.workers, THREADS, "runs of eflomal at a time")
    text = "lines to align at a time; the last chunk has up to 2N - 1"
    add_number("--chunk", options.positive, DEFAULT_CHUNK, text)
    options.add_seed(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the links of each sentence pair, with confidences where samplers vote."""
    hand = arguments.hand_src, arguments.hand_tgt, arguments.hand_align
    if any(hand) and not all(hand):
        raise UsageError("--hand-src, --hand-tgt and --hand-align belong together")
    if arguments.samplers or arguments.hand_align:
        options.refuse(arguments, ("symmetrize",), "with --samplers or --hand-align")
    else:
        options.refuse(arguments, ("min_confidence",), "without --samplers or --hand-align")
    least = arguments.min_confidence or DEFAULT_MIN_CONFIDENCE
    common = {"seed": arguments.seed, "threads": arguments.threads}
    draw: Draw = partial(sample, samplers=arguments.samplers or DEFAULT_SAMPLERS, **common)
    chunks = _chunks(arguments.src, arguments.tgt, arguments.chunk)
    if arguments.hand_align:
        found = _rescored(*hand, draw, arguments.seed, least, chunks)
    elif arguments.samplers:
        found = chain.from_iterable(agreement(draw(*sides), least) for sides in chunks)
    else:
        symmetrization = arguments.symmetrize or DEFAULT_SYMMETRIZATION
        found = chain.from_iterable(align(*sides, symmetrization, **common) for sides in chunks)
    files.write_lines(arguments.out, map(format_alignment, found))


def _read(source: str, target: str) -> list[tuple[str, Iterator]]:
    words = (sentence.interned().words for sentence in read_tokens(source, parse_source))
    targets = (tuple(map(sys.intern, tokens)) for tokens in read_tokens(target, parse_tokens))
    return [(source, words), (target, targets)]


def _chunks(source: str, target: str, size: int) -> Iterator[tuple[Sentences, Sentences]]:
    """Yield ``size`` sources and targets at a time; the last ones join those before them if they are fewer.

    Files are first read to their end: errors in them appear before hours of work.
    """
    if os.path.isfile(source) and os.path.isfile(target):
        collections.deque(files.in_parallel(*_read(source, target)), maxlen=0)
    chunks = files.batched(files.in_parallel(*_read(source, target)), size, lambda _: 1)
    (chunk,) = files.not_empty(source, islice(chunks, 1))
    for following in chunks:
        if len(following) < size:
            chunk = [*chunk, *following]
        else:
            yield _sides(chunk)
            chunk = following
    yield _sides(chunk)


def _sides(chunk: Sequence[tuple[Any, ...]]) -> tuple[Sentences, Sentences]:
    sources, targets = zip(*chunk, strict=True)
    return sources, targets


def _rescored(
    source: str,
    target: str,
    alignment: str,
    draw: Draw,
    seed: int,
    least: float,
    chunks: Iterable[tuple[Sentences, Sentences]],
) -> Iterator[Alignment]:
    """Align; rescore links by hand-aligned sentences, which are aligned with the first chunk."""
    from preorder.alignment import rescoring
    from preorder.metrics.alignment import alignment_counts, alignment_scores

    def checked(source: Sequence[str], target: Sequence[str], links: Alignment) -> tuple:
        links.check_within(len(source), len(target))
        return source, target, links

    sides = (*_read(source, target), (alignment, read_alignments(alignment)))
    hand = files.not_empty(alignment, files.map_parallel(checked, alignment, *sides))
    hand_sources, hand_targets, hand_links = zip(*hand, strict=True)
    rescoring.check_enough(len(hand_links))
    classifier = None
    for sources, targets in chunks:
        whole = sources, targets
        if classifier is None:
            whole = (*sources, *hand_sources), (*targets, *hand_targets)
        corpus = rescoring.Corpus.build(*whole, draw(*whole))
        if classifier is None:
            known = rescoring.known_candidates(corpus, dict(enumerate(hand_links, len(sources))))
            held_out = [confident(c, least) for c in rescoring.cross_validated(known, seed)]
            scores = alignment_scores(list(map(alignment_counts, held_out, hand_links)))
            measured = f"precision {scores.precision:.3f}, recall {scores.recall:.3f}"
            LOGGER.info(f"hand-aligned sentences, held out: {measured}")
            classifier = rescoring.learn(known, seed)
        found = rescoring.rescored(corpus, classifier, range(len(sources)))
        yield from (confident(confidences, least) for confidences in found)
