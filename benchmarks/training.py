"""Tokens a second of training with our encoder, beside OpenNMT-py's Transformer and its relative attention.

OpenNMT-py's own trainer works on the same batches with each model in turn: forward, loss,
backward, the optimizer's step. On a GPU in mixed precision, unless --dtype says otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from statistics import median
from typing import Any

import torch
from onmt.model_builder import build_model
from onmt.trainer import build_trainer
from onmt.utils.optimizers import Optimizer
from tqdm import tqdm

import onmt_preorder.plugin
from benchmarks.batches import Pair, batches, random_pairs, read_pairs, vocabularies
from benchmarks.process import run
from benchmarks.report import add_numbers, machine, print_results
from benchmarks.systems import options, seconds
from preorder.errors import PreorderError, UsageError

_FOREIGN = {"encoder_type": "transformer", "preorder_encoding": [], "n_src_feats": 0}
# Beside the first, which is absolute + relative + preordered relative.
MODELS: dict[str, dict[str, Any]] = {
    "ours": {},
    "plain": _FOREIGN,
    "relative": {**_FOREIGN, "position_encoding": False, "max_relative_positions": 4},
}
# Of ours: its speed at least, its memory at most.
GOALS = {
    ("cpu", "plain"): (0.95, 1.2),
    ("cuda", "plain"): (0.95, 1.2),
    ("cuda", "relative"): (1.5, None),
}
COLUMNS = ("", "tokens/s", "ours is", "goal", "peak memory", "ours is", "goal")

EXAMPLES = """\
  python -m benchmarks.training --size small --source train.en --target train.ja
  python -m benchmarks.training --size paper --device cuda --steps 50

"ours" has absolute and relative encodings of the original places and relative ones of the
preordered; "plain" is OpenNMT-py's Transformer, "relative" OpenNMT-py's relative attention.
"""


@dataclass(frozen=True)
class Result:
    """One line of the table.

    Attributes:
        model: what was trained.
        speed: tokens a second of both sides, padding not counted: the median of the rounds.
        memory: bytes at the peak: on a GPU what torch has allocated, else of a process with this model alone.
        speed_of_ours, memory_of_ours: as multiples of these; of the speed, the median of the rounds.
        goals: of the two, at least and at most.
    """

    model: str
    speed: float
    memory: float
    speed_of_ours: float
    memory_of_ours: float
    goals: tuple[float | None, float | None]

    def row(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        least, most = (
            "–" if goal is None else f"{sign} {goal:g}" for sign, goal in zip("≥≤", self.goals, strict=True)
        )
        speeds = f"{self.speed:,.0f}", f"{self.speed_of_ours:.3f}", least
        return self.model, *speeds, f"{self.memory / 1e6:,.0f} MB", f"{self.memory_of_ours:.3f}", most


class Training:
    """One model's training, some steps at a time.

    Attributes:
        memory: what this model alone has used on the GPU at most, in bytes.
    """

    def __init__(self, opt: Any, pairs: Sequence[Pair], device: str) -> None:
        rank = 0 if device == "cuda" else -1
        vocabs = vocabularies(opt, pairs)
        before = _allocated(device)
        torch.manual_seed(1)
        model = build_model(opt, opt, vocabs, None, rank)
        self._trainer = build_trainer(opt, rank, model, vocabs, Optimizer.from_opt(model, opt))
        self._batches = cycle(list(batches(pairs, vocabs, opt.batch_size, device)))
        self._device = device
        self.speed(1)
        self._own = _allocated(device) - before
        self.memory = 0

    def speed(self, steps: int) -> float:
        """Train on the next batches; return tokens a second."""
        taken = list(islice(self._batches, steps))
        tokens = sum(int(batch["srclen"].sum() + batch["tgtlen"].sum()) for batch in taken)
        before = _allocated(self._device)
        stream = ((batch, 0) for batch in taken)
        forever = {"save_checkpoint_steps": 0, "valid_steps": sys.maxsize}
        cost = seconds(lambda: self._trainer.train(stream, 0, **forever), self._device)
        if self._device == "cuda":
            self.memory = self._own + torch.cuda.max_memory_allocated() - before
        return tokens / cost


def _allocated(device: str) -> int:
    if device == "cpu":
        return 0
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def measure(arguments: argparse.Namespace, again: Sequence[str]) -> list[Result]:
    """Train with each model in turn, and compare the first with each of them.

    Args:
        arguments: what is to be measured.
        again: the command line that says the same.
    """
    device, names = arguments.device, [arguments.alone] if arguments.alone else list(MODELS)
    # Before this process grows: a process begins its count at what the one that started it uses.
    memory = [0 if device == "cuda" or arguments.alone else _memory_of_process(again, name) for name in names]
    if arguments.source:
        pairs = read_pairs(arguments.source, arguments.target, arguments.pairs)
    else:
        pairs = random_pairs(arguments.pairs, arguments.words, arguments.vocabulary)
    models = {name: Training(_options(arguments, name), pairs, device) for name in names}
    if device == "cuda":  # kernels for all lengths are compiled
        for model in models.values():
            model.speed(arguments.steps)
    rounds = [
        [model.speed(arguments.steps) for model in models.values()]
        for _ in tqdm(range(arguments.rounds), unit=" rounds", disable=None)
    ]
    if device == "cuda":
        memory = [model.memory for model in models.values()]
    return [
        Result(
            name,
            median(speeds),
            used,
            median(each[0] / speed for each, speed in zip(rounds, speeds, strict=True)),
            memory[0] / used if used else 0.0,
            GOALS.get((device, name), (None, None)),
        )
        for name, speeds, used in zip(models, zip(*rounds, strict=True), memory, strict=True)
    ]


def _options(arguments: argparse.Namespace, name: str) -> Any:
    """Return what ``onmt_train`` would read from the configuration of our model, changed for the others."""
    opt = options(arguments.size, "preorder_relative")
    changes = {**MODELS[name], "data": {}}
    if arguments.device == "cuda":
        changes |= {"world_size": 1, "gpu_ranks": [0], "model_dtype": arguments.dtype}
    if arguments.batch:
        changes["batch_size"] = arguments.batch
    vars(opt).update(changes)
    return opt


def _memory_of_process(again: Sequence[str], name: str) -> float:
    """Return the peak of a process that trains one model alone."""
    alone = ("--alone", name, "--rounds", "1", "--json")
    return run((sys.executable, "-m", "benchmarks.training", *again, *alone)).memory


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or 2 for bad input or usage."""
    given = sys.argv[1:] if argv is None else argv
    arguments = _parser().parse_args(given)
    torch.set_num_threads(1)
    onmt_preorder.plugin.register()
    try:
        if (arguments.source is None) != (arguments.target is None):
            raise UsageError("--source and --target go together")
        what = f"size {arguments.size}, torch {torch.__version__}, {machine(arguments.device)}"
        results = measure(arguments, given)
    except PreorderError as error:
        print(error, file=sys.stderr)
        return 2
    print_results(what, COLUMNS, results, arguments.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.training",
        description=__doc__,
        epilog="examples:\n" + EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--size", default="small", help="folder of config/; paper is the base size (default: %(default)s)")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="(default: %(default)s)")
    add("--dtype", choices=("fp16", "fp32"), default="fp16", help="on a GPU (default: %(default)s)")
    add("--source", metavar="F", help="sentences to train on, with --target; without, random words")
    add("--target", metavar="F", help="their translations")
    numbers = {
        "pairs": (20_000, "sentence pairs at most"),
        "words": (25, "of a random sentence on average"),
        "vocabulary": (32_000, "of random words"),
        "rounds": (7, "in which each model has its turn; the medians are printed"),
        "steps": (4, "of a turn"),
        "batch": (None, "tokens of a batch, in place of the configuration's"),
    }
    add_numbers(parser, numbers)
    add("--alone", choices=MODELS, help="train only this one")
    add("--json", action="store_true", help="print one JSON object instead of a table")
    return parser


if __name__ == "__main__":
    sys.exit(main())
