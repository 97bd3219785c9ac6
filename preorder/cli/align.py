"""``preorder align``: align the words of a bitext."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from preorder.alignment.eflomal import DEFAULT_MODEL, DEFAULT_THREADS, MODELS, Settings, align, sample
from preorder.alignment.samples import agreement, confident
from preorder.alignment.symmetrize import SYMMETRIZATIONS
from preorder.cli import options
from preorder.cli.commands import SUMMARIES
from preorder.data import files
from preorder.data.alignment import Alignment
from preorder.data.errors import UsageError
from preorder.data.formats import format_alignment, parse_source, parse_tokens, read_alignments
from preorder.progress import LOGGER

DEFAULT_SYMMETRIZATION = "intersect"
DEFAULT_SAMPLERS = 4
DEFAULT_MIN_CONFIDENCE = 0.5

EXAMPLES = """\
  preorder align --src train.en --tgt train.ja --out train.align
  preorder align --src train.en --tgt train.ja --symmetrize grow-diag-final-and | gzip > train.align.gz
  preorder align --src train.en --tgt train.ja --samplers 4 --out train.align
  preorder align --forward en-ja.align --reverse ja-en.align --symmetrize grow-diag --out train.align
  preorder align --src train.en --tgt train.ja --hand-src hand.en --hand-tgt hand.ja \\
      --hand-align hand.align --out train.align
"""

Sentences = Sequence[Sequence[str]]


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = options.add_command(subparsers, "align", run, SUMMARIES["align"], EXAMPLES)
    options.add_source(parser)
    parser.add_argument("--tgt", metavar="F", help="target text, a tokenised sentence a line")
    _add_directions(parser)
    options.add_output(parser)
    parser.add_argument(
        "--symmetrize",
        choices=tuple(SYMMETRIZATIONS),
        help=f"how the links of both directions are joined (default: {DEFAULT_SYMMETRIZATION})",
    )
    _add_samplers(parser)
    _add_hand(parser)
    text = "eflomal's model: 1: IBM 1, 2: HMM, 3: HMM with fertilities"
    parser.add_argument(
        "--eflomal-model",
        type=int,
        choices=MODELS,
        default=DEFAULT_MODEL,
        help=f"{text} (default: %(default)s)",
    )
    options.add_number(
        parser, "--threads", options.workers, DEFAULT_THREADS, "number of runs of eflomal side by side"
    )
    options.add_seed(parser)


def _add_directions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("instead of --src and --tgt, from any aligner")
    group.add_argument("--forward", metavar="F", help="links of the forward direction, to be joined with")
    group.add_argument("--reverse", metavar="F", help="links of the reverse direction, source first, too")


def _add_samplers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--samplers",
        metavar="N",
        type=options.samplers,
        help="instead of --symmetrize: take the links on which N samplers a direction agree, each with its "
        f"confidence, the share of all 2N that drew it (default with --hand-align: {DEFAULT_SAMPLERS})",
    )
    parser.add_argument(
        "--min-confidence",
        metavar="P",
        type=options.confidence,
        help=f"the smallest confidence of a link (default: {DEFAULT_MIN_CONFIDENCE})",
    )


def _add_hand(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "hand-aligned sentences",
        "some hundred sentences of the same kind teach how probable each link is: more and better links",
    )
    group.add_argument("--hand-src", metavar="F", help="their source, tokenised as --src")
    group.add_argument("--hand-tgt", metavar="F", help="their target, tokenised as --tgt")
    group.add_argument("--hand-align", metavar="F", help="their links; see preorder map for other tokens")


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand."""
    _check(arguments)
    alignments = _joined(arguments) if arguments.forward else _aligned(arguments)
    files.write_lines(arguments.out, map(format_alignment, alignments))


def _check(arguments: argparse.Namespace) -> None:
    hand = [arguments.hand_src, arguments.hand_tgt, arguments.hand_align]
    if any(hand) and not all(hand):
        raise UsageError("--hand-src, --hand-tgt and --hand-align belong together")
    if (arguments.forward is None) != (arguments.reverse is None):
        raise UsageError("--forward and --reverse belong together")
    if (arguments.forward is None) == (arguments.tgt is None):
        raise UsageError("either --tgt or --forward and --reverse is needed")
    sampled = arguments.samplers or arguments.hand_align
    if sampled and arguments.forward:
        raise UsageError("--samplers and --hand-align have no effect with --forward")
    if sampled and arguments.symmetrize:
        raise UsageError("--symmetrize has no effect with --samplers and --hand-align")
    if arguments.min_confidence and not sampled:
        raise UsageError("--min-confidence has no effect without --samplers or --hand-align")


def _read(source: str, target: str) -> list[tuple[str, Iterator]]:
    """Return the names of the files of a bitext, and their sentences."""
    words = (sentence.words for sentence in files.read_parsed(source, parse_source))
    return [(source, words), (target, files.read_parsed(target, parse_tokens))]


def _read_hand(arguments: argparse.Namespace) -> Iterator[tuple]:
    """Return the hand-aligned sentences: the sources, the targets and the alignments."""

    def checked(source: Sequence[str], target: Sequence[str], links: Alignment) -> tuple:
        links.check_within(len(source), len(target))
        return source, target, links

    path = arguments.hand_align
    sides = (*_read(arguments.hand_src, arguments.hand_tgt), (path, read_alignments(path)))
    return zip(*files.not_empty(path, files.map_parallel(checked, path, *sides)), strict=True)


def _joined(arguments: argparse.Namespace) -> Iterator[Alignment]:
    """Join the links of both directions."""
    symmetrize = SYMMETRIZATIONS[arguments.symmetrize or DEFAULT_SYMMETRIZATION]
    paths = (arguments.forward, arguments.reverse)
    for forward, reverse in files.in_parallel(*((path, read_alignments(path)) for path in paths)):
        yield Alignment(symmetrize(forward.links, reverse.links))


def _aligned(arguments: argparse.Namespace) -> list[Alignment]:
    sides = files.in_parallel(*_read(arguments.src, arguments.tgt))
    sources, targets = zip(*files.not_empty(arguments.src, sides), strict=True)
    settings = Settings(arguments.eflomal_model, arguments.threads)
    least = arguments.min_confidence or DEFAULT_MIN_CONFIDENCE
    if arguments.hand_align:
        return _rescored(arguments, sources, targets, settings, least)
    if arguments.samplers:
        return agreement(sample(sources, targets, arguments.samplers, arguments.seed, settings), least)
    return align(sources, targets, arguments.symmetrize or DEFAULT_SYMMETRIZATION, arguments.seed, settings)


def _rescored(
    arguments: argparse.Namespace, sources: Sentences, targets: Sentences, settings: Settings, least: float
) -> list[Alignment]:
    """Align the text together with the hand-aligned sentences, and rescore its links by what these teach."""
    from preorder.alignment import rescoring
    from preorder.metrics.alignment import alignment_counts, alignment_scores

    hand_sources, hand_targets, hand_links = _read_hand(arguments)
    rescoring.check_enough(len(hand_links))
    whole = (*sources, *hand_sources), (*targets, *hand_targets)
    samples = sample(*whole, arguments.samplers or DEFAULT_SAMPLERS, arguments.seed, settings)
    corpus = rescoring.Corpus.build(*whole, samples)
    known = rescoring.known_candidates(corpus, dict(enumerate(hand_links, len(sources))))
    held_out = (confident(each, least) for each in rescoring.cross_validated(known, arguments.seed))
    scores = alignment_scores(list(map(alignment_counts, held_out, hand_links)))
    measured = f"precision {scores.precision:.3f}, recall {scores.recall:.3f}"
    LOGGER.info(f"hand-aligned sentences, held out: {measured}")
    classifier = rescoring.LinkClassifier.learn(known, arguments.seed)
    found = rescoring.rescored(corpus, classifier, range(len(sources)))
    return [confident(confidences, least) for confidences in found]
