"""Print a system's whole configuration: its own options, and those of its family and size."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import yaml

from preorder.data.errors import PreorderError
from recipes.systems import SIZES, SUBWORDS, read_system


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m recipes.configuration", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("system", metavar="SYSTEM", help="a file of config/system, without .yaml")
    parser.add_argument("--size", choices=SIZES, default="small", help="(default: %(default)s)")
    parser.add_argument("--subwords", choices=SUBWORDS, help="with the options that split words")
    arguments = parser.parse_args(argv)
    try:
        system = read_system(arguments.system, arguments.size, arguments.subwords)
    except PreorderError as error:
        print(error, file=sys.stderr)
        return 2
    yaml.safe_dump(system.options, sys.stdout, sort_keys=False, default_flow_style=None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
