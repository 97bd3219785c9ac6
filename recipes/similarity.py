"""Measure how well a model with explicit reordering predicts positions (Chen et al. 2020, equation 12).

Prints the mean cosine with the encodings of the gold positions, and the mean distance from these in tokens:
of the original positions (PE), and of those that the model's last layer predicts (PR). Then the share of
the way from the original positions to the gold ones that the predicted ones have gone: 0 is where the
source's words stand, 1 is gold, and less than 0 is worse than doing nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from preorder.command_line import Parser, execute
from preorder.errors import UsageError
from recipes.checks import check_device, check_readable
from recipes.trained import load_trained


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0 done, 2 bad input or usage."""
    parser = Parser(prog="python -m recipes.similarity", description=__doc__)
    parser.add_argument("--model", metavar="F", required=True, help="checkpoint")
    parser.add_argument(
        "--src", metavar="F", required=True, help="token￨position, of preorder gold --unaligned keep"
    )
    parser.add_argument("--gpu", metavar="N", type=int, default=-1, help="number of the GPU, from 0")
    parser.set_defaults(run=_print)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    check_readable([Path(arguments.model), Path(arguments.src)])
    check_device("cpu" if arguments.gpu < 0 else "gpu")
    original, learned = similarities(arguments.model, arguments.src, arguments.gpu)
    for name, closeness in (("PE", original), ("PR", learned)):
        print(f"{name} {closeness.cosine:.4f}, {closeness.tokens:.3f} tokens away")
    if original.tokens == 0:
        print("share of the way: the original positions are the gold ones")
    else:
        shares = (share_of_the_way(original, learned, measure) for measure in ("cosine", "tokens"))
        print("share of the way {:.3f} by the cosine, {:.3f} by tokens".format(*shares))


@dataclass(frozen=True)
class Closeness:
    """How close positions are to the gold ones, as means over all tokens.

    Attributes:
        cosine: of their encodings with those of the gold positions.
        tokens: the absolute difference.
    """

    cosine: float
    tokens: float


def share_of_the_way(original: Closeness, learned: Closeness, measure: str) -> float:
    """Return how far the learned positions have come from the original ones, 0, to the gold ones, 1."""
    gold = {"cosine": 1.0, "tokens": 0.0}[measure]
    begin, now = (getattr(one, measure) for one in (original, learned))
    return (now - begin) / (gold - begin)


def similarities(model: str, source: str, gpu: int = -1) -> tuple[Closeness, Closeness]:
    """Return how close original and predicted positions are to the given ones.

    Raises:
        UsageError: the model has no explicit reordering.
        DataError: the source cannot be read.
    """
    import torch
    from torch import Tensor

    from onmt_preorder.papers.explicit_reordering import SIMILARITY, reordering_loss
    from onmt_preorder.transformer.sinusoidal import encodings

    trained, batches = load_trained(model, source, gpu=gpu)
    encoder = trained.encoder
    if not getattr(encoder, "explicit", None):
        raise UsageError(f"{model}: the model has no explicit reordering")
    predicted: list[Tensor] = []
    block = encoder.transformer[-1].after_layer
    block.register_forward_hook(
        lambda _, given, __: predicted.append(block.positions(given[0], given[1].lengths))
    )
    sums, tokens = torch.zeros(2, 2, dtype=torch.float64), 0.0
    for batch in batches:
        src, lengths = batch["src"], batch["srclen"]
        with torch.no_grad():
            states = encoder(src, lengths)[0]
        own = torch.arange(src.size(1), device=src.device)
        padding = own >= lengths.unsqueeze(1)
        gold = encoder.positions(src, padding)
        table = encodings(0, src.size(1), states).expand_as(states)
        losses = reordering_loss(table, gold, padding, encoder.explicit), encoder.additional_loss()
        for i, (loss, positions) in enumerate(zip(losses, (own, predicted.pop()), strict=True)):
            total, count = loss.statistics[SIMILARITY]
            away = (positions - gold).abs().masked_fill(padding, 0).sum().item()
            sums[i] += torch.tensor([total, away])
        tokens += count
    original, learned = (sums / tokens).tolist()
    return Closeness(*original), Closeness(*learned)


if __name__ == "__main__":
    sys.exit(main())
