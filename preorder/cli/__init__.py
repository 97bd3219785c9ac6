"""The ``preorder`` command: each subcommand's module parses options, calls the library and prints."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from preorder import __version__
from preorder.data.errors import PreorderError

COMMANDS = "align gold annotate train apply evaluate score analyse swap show report".split()

GC_THRESHOLD = 100_000
"""New objects between two runs of the cyclic garbage collector: sentences are many, and form no cycles."""

EPILOG = """\
from a bitext to the features that onmt_train reads:
  preorder align --src train.en --tgt train.ja --out train.align
  preorder train --method btg --src train.en --align train.align --model model
  preorder apply --model model --src train.en --out train.features
  preorder gold  --src test.en --align test.align --out test.gold
  preorder evaluate --align test.align --positions test.positions
"""


class Parser(argparse.ArgumentParser):
    """Reports a mistake in the command line in one line."""

    def error(self, message: str) -> NoReturn:
        """End with status 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the whole command line."""
    parser = Parser(
        prog="preorder",
        description="Preorder: put source words in the order of the target language.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"preorder {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"preorder.cli.{name}").add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit status: 0 done, 2 bad input or usage, 130 interrupted."""
    thresholds = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD, *thresholds[1:])
    try:
        return execute(build_parser(), argv)
    finally:
        gc.set_threshold(*thresholds)


def execute(parser: argparse.ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Parse a command line and run its subcommand; return the exit status, as :func:`main` does."""
    arguments = parser.parse_args(argv)
    try:
        arguments.run(arguments)
    except PreorderError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
