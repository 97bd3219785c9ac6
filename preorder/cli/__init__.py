"""The ``preorder`` command: each subcommand's module parses options, calls the library and prints."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import gc
import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from preorder import __version__
from preorder.cli.commands import SUMMARIES
from preorder.cli.messages import say_what_is_saved, shown
from preorder.cli.paths import check_paths
from preorder.cli.table import visible
from preorder.errors import PreorderError, require
from preorder.methods import FORMAT_VERSION
from preorder.processes import INTERRUPTED, interruptible

COMMANDS = tuple(SUMMARIES)

COMPLETION = "_ARGCOMPLETE"
"""Is in the environment where a shell asks how the command line may go on."""

GC_THRESHOLD = 100_000
"""New objects between two runs of the cyclic garbage collector: sentences are many, and form no cycles."""

_NO_MEMORY = re.compile("(allocate|not enough|out of) memory|start new thread|map segment|load shared object")
"""What PyTorch, Python's threads and compiled modules say, which have no error of their own for it."""

_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")

EPILOG = """\
from a bitext to the features that onmt_train reads:
  preorder align --src train.en --tgt train.ja --out train.align
  preorder train --method btg --src train.en --align train.align --model model
  preorder apply --model model --src train.en --out train.features
  preorder gold  --src test.en --align test.align --out test.gold
  preorder apply --model model --src test.en --format positions --out test.positions
  preorder evaluate --align test.align --positions test.positions
A file whose name ends in .gz, .bz2, .xz or .zst is compressed; one like s3://… is a URL (docs/scale.md).
"""


class Parser(argparse.ArgumentParser):
    """Reports a mistake in the command line in one line."""

    def error(self, message: str) -> NoReturn:
        """End with status 2."""
        if choice := _CHOICE.search(message):
            close = difflib.get_close_matches(choice[1], choice[2].replace("'", "").split(", "), 1)
            message += "".join(f"; did you mean {name}?" for name in close)
        _, unknown, words = message.partition("unrecognized arguments: ")
        if unknown and all(os.path.exists(word) for word in words.split(" ")):
            message += "; a pattern that stands for several files is to be in quotes: 'in/*.gz'"
        self.exit(2, f"{self.prog}: {visible(message)} (see {self.prog} --help)\n")


def build_parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """Build the parser of the command line, which knows the options of some commands; these are imported."""
    parser = Parser(
        prog="preorder",
        description="Preorder: put source words in the order of the target language.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"preorder {__version__} (models of format version {FORMAT_VERSION})"
    parser.add_argument("--version", action="version", version=version)
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, summary in SUMMARIES.items():
        if name in commands:
            importlib.import_module(f"preorder.cli.{name}").add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=summary)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit status: 0 done, 2 bad input or usage, 130 interrupted."""
    thresholds = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD, *thresholds[1:])
    try:
        given = sys.argv[1:] if argv is None else argv
        wanted = COMMANDS if COMPLETION in os.environ else [word for word in given if word in COMMANDS][:1]
        return execute(build_parser(wanted), argv)
    finally:
        gc.set_threshold(*thresholds)


def execute(parser: argparse.ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Parse a command line and run its subcommand; return the exit status, as :func:`main` does."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the locale
        sys.stdout.reconfigure(encoding="utf-8")
    if COMPLETION in os.environ:
        require("argcomplete", "completion").autocomplete(parser)
    arguments = parser.parse_args(argv)
    try:
        check_paths(getattr(arguments, "parser", parser), arguments)
        with interruptible(), shown(arguments):
            arguments.run(arguments)
            sys.stdout.flush()
            say_what_is_saved(getattr(arguments, "parser", parser), arguments)
    except BrokenPipeError:  # the reader of our output has had enough
        _discard_output()
    except Exception as error:
        reason = reason_of(error)
        if reason is None:
            raise
        _discard_output()
        print(visible(reason), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        _discard_output()
        with contextlib.suppress(OSError):  # the terminal is closed
            print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def reason_of(error: Exception) -> str | None:
    """Return the one line that says what the user can mend; None: the program is at fault.

    A full disk, say, a folder that may not be read, or sizes that need more memory than there is.
    """
    if isinstance(error, PreorderError):
        return str(error)
    may_be_memory = isinstance(error, RuntimeError | ImportError | OSError)
    if isinstance(error, MemoryError) or (may_be_memory and _NO_MEMORY.search(str(error))):
        return "not enough memory: ask for smaller sizes, fewer or shorter lines, or fewer threads"
    if isinstance(error, OSError):
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    return None


def _discard_output() -> None:
    """Let what is still to be written to standard output go nowhere, if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
