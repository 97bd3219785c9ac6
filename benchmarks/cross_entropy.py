"""The loss behind the layer of the vocabulary, with its gradients: ours, compiled, beside torch's on a CPU.

Both are given the same states and words, turn by turn. Ours takes blocks of tokens; torch's computes all
logits, then `cross_entropy`; in bfloat16 by autocast, as torch's own training does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from benchmarks.process import seconds
from benchmarks.report import add_numbers, machine, make_parser, print_results
from onmt_preorder.cross_entropy import Goal, linear_cross_entropy
from preorder.cli import execute

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
NUMBERS = {
    "tokens": (920, "tokens a batch"),
    "size": (128, "numbers a state"),
    "words": (8000, "words of the vocabulary"),
    "rounds": (31, "turns of each way"),
}
COLUMNS = ("precision", "torch", "ours", "ours / torch")
SMOOTHING, IGNORED = 0.1, 1


@dataclass(frozen=True)
class Result:
    """One line of the table.

    Attributes:
        precision: of the products.
        torch, ours: seconds of processor time, medians of the rounds.
        ratio: the median of the rounds' ratios.
    """

    precision: str
    torch: float
    ours: float
    ratio: float

    def row(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        times = (f"{1e3 * time:.1f} ms" for time in (self.torch, self.ours))
        return self.precision, *times, f"{self.ratio:.2f}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser("cross_entropy", __doc__, "  python -m benchmarks.cross_entropy --words 32000")
    add_numbers(parser, NUMBERS)
    parser.set_defaults(run=_print)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    results = [measure(arguments, precision) for precision in tqdm(PRECISIONS, disable=None)]
    shape = f"{arguments.tokens} tokens of {arguments.size}, {arguments.words} words, one thread"
    print_results(f"loss and gradients, {shape}, {machine()}", COLUMNS, results, arguments.json)


def measure(arguments: argparse.Namespace, precision: str) -> Result:
    """Return the times of both ways, after a turn that is not counted."""
    torch.manual_seed(1)
    states = torch.randn(arguments.tokens, arguments.size, requires_grad=True)
    layer = nn.Linear(arguments.size, arguments.words)
    targets = torch.randint(IGNORED + 1, arguments.words, (arguments.tokens,))
    inputs = states, *layer.parameters()
    kind, goal = PRECISIONS[precision], Goal(targets, IGNORED, SMOOTHING)

    def of_torch() -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=kind == torch.bfloat16):
            logits = layer(states)
        options = {"ignore_index": IGNORED, "label_smoothing": SMOOTHING, "reduction": "sum"}
        return functional.cross_entropy(logits.float(), targets, **options)

    def ours() -> Tensor:
        return linear_cross_entropy(states, layer, goal, kind)[0]

    def step(loss: Callable[[], Tensor]) -> float:
        return seconds(lambda: torch.autograd.grad(loss(), inputs))

    rounds = [(step(of_torch), step(ours)) for _ in range(arguments.rounds + 1)][1:]
    theirs, mine = map(median, zip(*rounds, strict=True))
    return Result(precision, theirs, mine, median(own / other for other, own in rounds))


if __name__ == "__main__":
    sys.exit(main())
