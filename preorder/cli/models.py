"""``preorder models``: list the models that come with the package."""

from __future__ import annotations

import argparse

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
        files.write_json(files.STANDARD, cards)
        return
    tau = SCORE_FORMATS["tau"].format
    what, right, learned = [], [], []
    for card in cards:
        name = card["name"]
        what.append((name, card["source"], card["target"], f"{card['size'] / 1e6:.1f} MB", card["date"]))
        right += [(name, one["text"], tau(one["unreordered"]), tau(one["tau"])) for one in card["measured"]]
        learned += [(name, one["name"], f"{one['pairs']:,}", one["licence"]) for one in card["trained_on"]]
    licences = "\n".join(f"{card['name']} is licensed under {card['licence']}." for card in cards)
    print_tables(
        [
            Table("Models", ("model", "source", "order of", "size", "date"), tuple(what)),
            Table("tau of their orders", ("model", "text", "unreordered", "ordered"), tuple(right)),
            Table("Trained on", ("model", "text", "pairs", "licence"), tuple(learned), licences),
        ]
    )
