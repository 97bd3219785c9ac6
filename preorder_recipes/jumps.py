"""Measure the jumps of a model with distortion attention (Zhang et al. 2017), given the right words.

Prints the mean entropy of P(k), in nats, beside that of jumps of which nothing is known; the mean P(k) of
each distance k; and how much of the attention is lost, as jumps have led past the ends of the source.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from preorder.command_line import Parser, execute
from preorder.errors import UsageError
from preorder_recipes.pipeline.checks import check_device, check_readable
from preorder_recipes.similarity import load_trained


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0 done, 2 bad input or usage."""
    parser = Parser(prog="python -m preorder_recipes.jumps", description=__doc__)
    parser.add_argument("--model", metavar="F", required=True, help="checkpoint")
    parser.add_argument("--src", metavar="F", required=True, help="source, one sentence a line")
    parser.add_argument("--tgt", metavar="F", required=True, help="its translation")
    parser.add_argument("--gpu", metavar="N", type=int, default=-1, help="number of the GPU, from 0")
    parser.set_defaults(run=_print)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    check_readable(map(Path, (arguments.model, arguments.src, arguments.tgt)))
    check_device("cpu" if arguments.gpu < 0 else "gpu")
    entropy, probabilities, lost = measure(arguments.model, arguments.src, arguments.tgt, arguments.gpu)
    print(f"entropy of P(k) {entropy:.3f}, of {math.log(len(probabilities)):.3f} at most")
    print(", ".join(f"P({k}) {share:.3f}" for k, share in probabilities.items()))
    print(f"attention past the ends {lost:.3f}")


def measure(model: str, source: str, target: str, gpu: int = -1) -> tuple[float, dict[int, float], float]:
    """Return means over all words of the target, the end symbol included.

    They are the entropy of P(k) in nats; P(k) of each distance k, longest jump ahead first; and what is lost:
    1 less the sum of the attention.
    """
    import torch

    trained, batches = load_trained(model, source, target, gpu)
    decoder = trained.decoder
    if getattr(decoder, "jumps", None) is None:
        raise UsageError(f"{model}: the model has no jumps")
    window = decoder.options.window
    sums, words = torch.zeros(2 * window + 3, dtype=torch.float64), 0
    for batch in batches:
        given, goals = batch["tgt"][:, :-1], batch["tgt"][:, 1:, 0]
        with torch.no_grad():
            states, final, lengths = trained.encoder(batch["src"], batch["srclen"])
            decoder.init_state(batch["src"], states, final)
            jumps, attention = decoder.jump_probabilities(given, states, lengths)
        entropy = -torch.xlogy(jumps, jumps).sum(-1, keepdim=True)
        lost = 1 - attention.sum(-1, keepdim=True)
        is_word = goals != decoder.embeddings.word_padding_idx
        sums += torch.cat((entropy, jumps, lost), -1)[is_word].double().sum(0).cpu()
        words += int(is_word.sum())
    entropy, *shares, lost = (sums / words).tolist()
    return entropy, dict(zip(range(window, -window - 1, -1), shares, strict=True)), lost


if __name__ == "__main__":
    sys.exit(main())
