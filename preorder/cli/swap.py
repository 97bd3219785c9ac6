"""``preorder swap``: swap some of the source's words, to measure how much a system depends on word order."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Mapping
from itertools import chain, tee

from preorder.command_line import options
from preorder.command_line.paths import check_outputs, given_paths
from preorder.command_line.source import STANZA, Source, read_sentences
from preorder.errors import UsageError
from preorder.io import files
from preorder.io.storage import split_suffix
from preorder.progress import LOGGER, progress

EXAMPLES = """\
  preorder swap --src test.en --out-dir swapped
  preorder swap --src test.en --pos test.en.pos --percent 0,20,40,60 --seed 7 --out-dir swapped

Writes DIR/NAME.0, DIR/NAME.10, …, where NAME is that of the source's file, and likewise for the POS tags
("source" and "tags" for standard input). At p %, p n / 100 of n words, rounded, are chosen at random:
two at least, or none where it is below 1. They are moved in a cycle, so that each gets another position.
A larger percentage swaps the same words and more. preorder analyse robustness scores the translations.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder swap``."""
    options.add_source(parser)
    options.add_files(parser, pos="one POS tag for each token, to be swapped with it")
    parser.add_argument("--out-dir", metavar="DIR", required=True, help="folder for the texts")
    options.add_percentages(parser)
    options.add_seed(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the text with swapped words of each percentage."""
    from preorder.analysis.swap import swaps

    if arguments.pos == STANZA:
        raise UsageError(f"--pos {STANZA}: swap reads tags from a file")
    inputs = {"source": arguments.src, "tags": arguments.pos}
    paths = [_paths(inputs, arguments.out_dir, percent) for percent in arguments.percent]
    files.make_folder(arguments.out_dir)
    check_outputs(given_paths(arguments.parser, arguments, outputs=False), list(chain.from_iterable(paths)))
    sentences = read_sentences(Source(arguments.src, pos=arguments.pos))
    sentences, twins = tee(progress(sentences, "sentences", done="swapped"))
    swapped = swaps(map(len, twins), arguments.percent, arguments.seed)
    with contextlib.ExitStack() as stack:
        outputs = [[stack.enter_context(files.writer(path)) for path in of_one] for of_one in paths]
        for sentence, permutations in zip(sentences, swapped, strict=True):
            layers = [sentence.words, sentence.tags or ()]
            for streams, permutation in zip(outputs, permutations, strict=True):
                for stream, layer in zip(streams, layers, strict=False):  # tags only where a file has them
                    stream.write(" ".join(permutation.apply(layer)) + "\n")
    LOGGER.info(f"saved in {arguments.out_dir}")


def _paths(given: Mapping[str, str | None], folder: str, percent: int) -> list[str]:
    paths = [name if path == files.STANDARD else path for name, path in given.items() if path is not None]
    names = [split_suffix(os.path.basename(path))[0] for path in paths]
    return [os.path.join(folder, f"{name}.{percent}") for name in names]
