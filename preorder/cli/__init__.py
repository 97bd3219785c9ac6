"""The ``preorder`` command: each subcommand's module parses options, calls the library and prints.

It has ``EXAMPLES`` for the help, ``add_options`` and, unless it has subcommands itself, ``run``.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence

from preorder import __version__
from preorder.command_line import COMPLETION, Parser, execute
from preorder.methods import FORMAT_VERSION

GROUPS = {
    "Is word order your problem?": {
        "diagnose": "measure how far word orders differ, and what an order would gain",
    },
    "Links between words": {
        "align": "align the words of a bitext by eflomal",
        "map": "put links on other tokens of the same text, reverse or filter them",
        "gold": "sort source words by the target positions of their links",
    },
    "An order of the source": {
        "models": "list the models that come with the package",
        "annotate": "tag and parse text by Stanza, or check such files",
        "train": "learn to preorder from a word-aligned bitext",
        "apply": "put source words in the order that a model predicts",
        "serve": "order sentences over HTTP, and draw them on a page",
    },
    "Scores": {
        "evaluate": "measure orders or alignments against alignments",
        "score": "score translations against references, with significance",
        "analyse": "find out why translations differ",
        "swap": "swap some of the source's words, to test how a system takes it",
    },
    "Pictures and pages": {
        "show": "show what preordering does to sentences",
        "report": "put runs on one page of HTML",
    },
}
"""Heading → name → what it does, without a capital and a full stop; the module of that name here does it."""

SUMMARIES = {name: summary for group in GROUPS.values() for name, summary in group.items()}
COMMANDS = tuple(SUMMARIES)
GC_THRESHOLD = 100_000
"""New objects between two runs of the cyclic garbage collector: sentences are many, and form no cycles."""

EPILOG = """\
from a bitext to the features that onmt_train reads:
  preorder align --src train.en --tgt train.ja --out train.align
  preorder train --method btg --src train.en --align train.align --model model
  preorder gold  --src train.en --align train.align --out train.features
  preorder apply --model model --src test.en --out test.features
  preorder apply --model model --src test.en --format positions --out test.positions
  preorder evaluate --align test.align --positions test.positions
A file whose name ends in .gz, .bz2, .xz or .zst is compressed; one like s3://… is a URL (docs/scale.md).
"""


def build_parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """Build the parser of the command line, which knows the options of some commands; these are imported."""
    parser = Parser(
        prog="preorder",
        usage="preorder [-h] [--version] COMMAND ...",
        description=f"Put source words in the order of the target language.\n{_listed()}",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"preorder {__version__} (models of format version {FORMAT_VERSION})"
    parser.add_argument("--version", action="version", version=version)
    subparsers = parser.add_subparsers(
        prog="preorder", metavar="COMMAND", required=True, help=argparse.SUPPRESS
    )
    for name, summary in SUMMARIES.items():
        if name in commands:
            from preorder.command_line import options  # takes a while to import

            module = importlib.import_module(f"preorder.cli.{name}")
            run = getattr(module, "run", None)
            module.add_options(options.add_command(subparsers, name, run, summary, module.EXAMPLES))
        else:
            subparsers.add_parser(name)
    return parser


def _listed() -> str:
    """Return the commands under their headings, a line each."""
    lines = []
    for heading, group in GROUPS.items():
        lines += ["", heading, *(f"  {name:<10}{summary}" for name, summary in group.items())]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit status: 0 done, 2 bad input or usage, 130 interrupted."""
    gc.set_threshold(GC_THRESHOLD)
    given = sys.argv[1:] if argv is None else argv
    wanted = COMMANDS if COMPLETION in os.environ else [word for word in given if word in COMMANDS][:1]
    return execute(build_parser(wanted), argv)
