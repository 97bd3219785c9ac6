"""``preorder models``: list the models that come with the package."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from preorder.command_line import options, print_tables
from preorder.io import files

EXAMPLES = """\
  preorder models
  preorder models --json

--model of apply and show, --init of train, --preorderer of the recipes and preorder.load() take such a name
in place of a folder.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder models``."""
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print what each model orders and how well, then what it has learned from."""
    from preorder.analysis.results import SCORE_FORMATS, Table
    from preorder.methods.shipped import read_card, shipped_models

    cards = list(map(read_card, shipped_models()))
    if arguments.json:
        files.write_json(files.STANDARD, [asdict(card) for card in cards])
        return
    tau = SCORE_FORMATS["tau"].format
    what = [(one.name, one.source, one.target, f"{one.size / 1e6:.1f} MB", one.date) for one in cards]
    right = [
        (one.name, text.text, tau(text.unreordered), tau(text.tau)) for one in cards for text in one.measured
    ]
    learned = [
        (one.name, text.name, f"{text.pairs:,}", text.licence) for one in cards for text in one.trained_on
    ]
    licences = "\n".join(f"{one.name} is licensed under {one.licence}." for one in cards)
    print_tables(
        [
            Table("Models", ("model", "source", "order of", "size", "date"), tuple(what)),
            Table("tau of their orders", ("model", "text", "unreordered", "ordered"), tuple(right)),
            Table("Trained on", ("model", "text", "pairs", "licence"), tuple(learned), licences),
        ]
    )
