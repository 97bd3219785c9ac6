"""Print a system's whole configuration: its own options, and those of its family and size."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import yaml

from preorder.command_line import Parser, execute
from recipes.systems import DEFAULT_SIZE, SIZES, SUBWORDS, read_system


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(prog="python -m recipes.configuration", description=__doc__, allow_abbrev=False)
    parser.add_argument("system", metavar="SYSTEM", help="a file of config/system, without .yaml")
    parser.add_argument("--size", choices=SIZES, default=DEFAULT_SIZE, help="(default: %(default)s)")
    parser.add_argument("--subwords", choices=SUBWORDS, help="with the options that split words")
    parser.set_defaults(run=_print)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    system = read_system(arguments.system, arguments.size, arguments.subwords)
    yaml.safe_dump(system.options, sys.stdout, sort_keys=False, default_flow_style=None)


if __name__ == "__main__":
    sys.exit(main())
