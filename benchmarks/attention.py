"""Self-attention alone, forward and backward: ours with two relative parts beside that without any.

All ways are given the same projected states ``(b, n, h d)`` and dropout, turn by turn: torch's scaled
dot-product attention without a relative term, OpenNMT-py's attention without and with one relative part,
ours in plain torch, and ours as it runs on the device, with both parts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import torch
from onmt.modules import MultiHeadedAttention
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.common import machine, print_results, seconds
from onmt_preorder.transformer.attention import Positions, RelativePart, plain, relative_attention
from preorder.command_line.options import add_json, add_number, positive
from preorder.errors import UsageError
from preorder.progress import progress
from preorder_recipes.commands import execute, make_parser

OURS, WITHOUT = "ours", "torch, no relative term"
LENGTHS = {"cpu": (10, 25, 50, 100), "cuda": (16, 32, 64, 128, 256, 512, 1024)}
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
COLUMNS = ("tokens", "", "time", "times that without", "memory", "times that without")
DROPOUT = 0.1

Way = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Result:
    """One line of the table, of sentences of ``n`` tokens, padding included.

    Attributes:
        seconds: of one forward and backward pass, the median of the rounds.
        memory: bytes: on a GPU the most that is allocated, on a CPU what is kept for the backward pass.
        slower, larger: as multiples of attention without relative terms; of the time, the rounds' median.
    """

    n: int
    way: str
    seconds: float
    memory: int
    slower: float
    larger: float

    def row(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        time, memory = f"{1e3 * self.seconds:.3g} ms", f"{self.memory / 1e6:.1f} MB"
        return str(self.n), self.way, time, f"{self.slower:.2f}", memory, f"{self.larger:.2f}"


class Case:
    """One size of a batch: its states, and the ways to attend."""

    def __init__(self, arguments: argparse.Namespace, n: int) -> None:
        device, dtype = arguments.device, DTYPES[arguments.dtype]
        b, h, d = max(1, arguments.tokens // n), arguments.heads, arguments.size // arguments.heads
        self._heads, self._device = h, device
        generator = torch.Generator().manual_seed(n)
        shapes = (3, b, n, arguments.size)
        self._states = torch.randn(shapes, generator=generator).to(device, dtype).requires_grad_()
        self._lengths = torch.randint(max(1, 3 * n // 4), n + 1, (b,), generator=generator).to(device)
        self._padding = torch.arange(n, device=device) >= self._lengths.unsqueeze(1)
        preordered = torch.rand(b, n, generator=generator).to(device).masked_fill(self._padding, 2).argsort(1)
        original = torch.arange(n, device=device).unsqueeze(0)
        positions = Positions(original), Positions(preordered.argsort(1))
        tables = torch.randn(4, 2 * arguments.clip + 1, d, generator=generator).to(device, dtype)
        keys, values = tables.requires_grad_().view(2, 2, -1, d).unbind()
        self._parts = [RelativePart(*part) for part in zip(positions, keys, values, strict=True)]
        self.ways = {
            WITHOUT: self._torch,
            "OpenNMT-py, no relative term": self._opennmt(0, dtype),
            "OpenNMT-py, one part": self._opennmt(arguments.clip, dtype),
            "ours in plain torch": self._ours(plain.attend),
            OURS: self._ours(relative_attention),
        }
        if device == "cpu":
            del self.ways["ours in plain torch"]  # the same

    def _split(self, states: Tensor) -> Tensor:
        return states.unflatten(2, (self._heads, -1)).transpose(1, 2)

    def _torch(self, *states: Tensor) -> Tensor:
        mask = ~self._padding[:, None, None, :]
        context = scaled_dot_product_attention(*map(self._split, states), mask, DROPOUT)
        return context.transpose(1, 2).flatten(2)

    def _ours(self, path: Callable[..., Tensor]) -> Way:
        def attend(*states: Tensor) -> Tensor:
            context = path(*map(self._split, states), self._lengths, self._parts, DROPOUT)
            return context.transpose(1, 2).flatten(2)

        return attend

    def _opennmt(self, clip: int, dtype: torch.dtype) -> Way:
        """Return OpenNMT-py's attention without its projections."""
        module = MultiHeadedAttention(
            self._heads, self._states.size(3), DROPOUT, is_decoder=False, max_relative_positions=clip
        ).to(self._device, dtype)
        for name in ("linear_query", "linear_keys", "linear_values", "final_linear"):
            setattr(module, name, nn.Identity())
        mask = self._padding[:, None, None, :]
        # It divides the query in place.
        return lambda query, key, value: module(key, value, query.clone(), mask=mask)[0]

    def run(self, way: Way) -> None:
        """Attend, and go back."""
        result = way(*self._states)
        result.backward(torch.ones_like(result))

    def memory(self, way: Way) -> int:
        """Return how much one pass takes, beside what is there."""
        if self._device == "cpu":
            return kept_bytes(lambda: way(*self._states))
        self.run(way)
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        self.run(way)
        return torch.cuda.max_memory_allocated() - before


def kept_bytes(work: Callable[[], Tensor]) -> int:
    """Return the size of all tensors that autograd keeps, each counted once."""
    kept: dict[int, tuple[int, Tensor]] = {}

    def look(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes(), tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(look, lambda tensor: tensor):
        result = work()
    return sum(size for size, _ in kept.values()) if result is not None else 0


def measure(arguments: argparse.Namespace, n: int) -> list[Result]:
    """Let each way have its turn, and compare all with the first."""
    case = Case(arguments, n)
    for way in case.ways.values():
        case.run(way)  # compiles

    def turn(way: Way) -> float:
        times = range(arguments.repeat)
        return seconds(lambda: [case.run(way) for _ in times], arguments.device) / len(times)

    rounds = [list(map(turn, case.ways.values())) for _ in range(arguments.rounds)]
    memory = [case.memory(way) for way in case.ways.values()]
    results = []
    for name, costs, used in zip(case.ways, zip(*rounds, strict=True), memory, strict=True):
        slower = median(cost / each[0] for each, cost in zip(rounds, costs, strict=True))
        results.append(Result(n, name, median(costs), used, slower, used / memory[0]))
    return results


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_run)
    add_json(parser)
    add = parser.add_argument
    add("--device", choices=LENGTHS, default="cpu", help="(default: %(default)s)")
    add("--dtype", choices=DTYPES, default="fp32", help="(default: %(default)s)")
    add("--lengths", metavar="N", type=positive, nargs="+", help="tokens a sentence")
    add_number(parser, "--tokens", positive, 4096, "of a batch, padding included")
    add_number(parser, "--size", positive, 512, "of a state")
    add_number(parser, "--heads", positive, 8, "of attention")
    add_number(parser, "--clip", positive, 4, "the clipping distances of all parts")
    add_number(parser, "--rounds", positive, 9, "in which each way has its turn; the medians are printed")
    add_number(parser, "--repeat", positive, 3, "passes of a turn")
    return execute(parser, argv)


def _run(arguments: argparse.Namespace) -> None:
    if arguments.size % arguments.heads:
        raise UsageError(f"--size {arguments.size} is no multiple of --heads {arguments.heads}")
    torch.set_num_threads(1)
    size = f"{arguments.tokens} tokens of {arguments.size} in {arguments.heads} heads, k {arguments.clip}"
    what = f"{size}, {arguments.dtype}, torch {torch.__version__}, {machine(arguments.device)}"
    lengths = arguments.lengths or LENGTHS[arguments.device]
    results = [result for n in progress(lengths, "lengths", len(lengths)) for result in measure(arguments, n)]
    print_results(what, COLUMNS, results, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
