"""How to train a BTG preorderer: the only home of its options. Imports nothing that is slow to import."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from typing import Literal, get_args

from preorder.errors import UsageError

Unaligned = Literal["free", "gold"]
UNALIGNED: tuple[str, ...] = get_args(Unaligned)


@dataclass(frozen=True)
class Options:
    """How to train.

    Attributes:
        unaligned: what is asked of a token without a link: ``free``, nothing; ``gold``, its
            place in the gold order.
        iterations: passes over the sentences.
        cost: what the prediction gains by each node that violates the alignment.
        aggressiveness: the greatest step of an update.
        minibatch: sentences solved under the same weights.
        seed: of the order in which sentences are seen.
        threads: sentences solved at a time; the model does not depend on it.
    """

    unaligned: Unaligned = "free"
    iterations: int = 20
    cost: float = 1.0
    aggressiveness: float = 0.003
    minibatch: int = 32
    seed: int = 1
    threads: int = 1


DEFAULT = Options()


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Add the method's own options to ``preorder train``."""
    parser.add_argument(
        "--unaligned",
        choices=UNALIGNED,
        default=DEFAULT.unaligned,
        help="a token without a link may go anywhere (free, the default), or belongs with its nearest "
        "aligned neighbour (gold)",
    )
    for name, kind, text in (
        ("iterations", int, "passes over the sentences"),
        ("cost", float, "what a node that violates the alignment costs, in training"),
        ("aggressiveness", float, "greatest step of an update"),
        ("minibatch", int, "sentences solved under the same weights"),
    ):
        parser.add_argument(
            f"--{name}",
            metavar="N",
            type=kind,
            default=getattr(DEFAULT, name),
            help=f"{text} (default: %(default)s)",
        )


def options_of(arguments: argparse.Namespace) -> Options:
    """Return the options that the command line gave; ``--seed`` and ``--threads`` are every method's.

    Raises:
        UsageError: a number is not positive.
    """
    values = {field.name: getattr(arguments, field.name) for field in fields(Options)}
    for name in ("iterations", "cost", "aggressiveness", "minibatch"):
        if not values[name] > 0:
            raise UsageError(f"--{name} {values[name]}: not positive")
    return Options(**values)
