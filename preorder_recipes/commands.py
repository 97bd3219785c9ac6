"""What the commands of the recipes share: their parser, the option ``--run``, and the error of a step."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from preorder.command_line import Parser
from preorder.command_line import execute as execute
from preorder.errors import PreorderError


class StepError(PreorderError):
    """A step failed; the message holds the end of its log."""

    status = 1


def make_parser(run: Callable[[argparse.Namespace], None], **settings: Any) -> Parser:
    """Return the parser of the module of ``run``, which does its work; its docstring is the help."""
    module, form = sys.modules[run.__module__], argparse.RawDescriptionHelpFormatter
    name = f"python -m {module.__spec__.name if module.__spec__ else module.__name__}"
    parser = Parser(prog=name, description=module.__doc__, formatter_class=form, **settings)
    parser.set_defaults(run=run)
    return parser


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--run``."""
    what = "folder to work in"
    parser.add_argument("--run", metavar="DIR", dest="folder", type=Path, required=True, help=what)
