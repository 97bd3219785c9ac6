"""Tokens a second that models train on, each beside the first.

OpenNMT-py's own trainer works on the same batches with each model in turn: forward, losses,
backward, the optimizer's step. On a GPU in mixed precision.

MODEL is a file of config/system, with options changed if so wished (exgre,reordering_rank=32), or the
Transformer of OpenNMT-py of that size: opennmt, or with relative attention, opennmt_relative.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from statistics import median, quantiles
from typing import Any

import torch
from onmt.bin.train import _get_parser
from onmt.model_builder import build_model
from onmt.trainer import build_trainer
from onmt.utils.optimizers import Optimizer
from onmt.utils.parse import ArgumentParser

import onmt_preorder
from benchmarks.batches import Pair, batches, random_pairs, read_pairs, vocabularies
from benchmarks.common import machine, print_results, seconds
from onmt_preorder.base_configuration import parse_yaml
from onmt_preorder.opennmt.training import keep_freed_memory
from preorder.command_line.options import add_json, add_number, positive
from preorder.errors import UsageError
from preorder.progress import progress
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.configuration import SIZES, key_and_value, read_system
from preorder_recipes.pipeline.opennmt import parsed

_OPENNMT = {"encoder_type": "transformer", "preorder_encoding": [], "n_src_feats": 0}
# Models of OpenNMT-py's own: changes of the configuration of ours with everything.
FOREIGN: dict[str, dict[str, Any]] = {
    "opennmt": _OPENNMT,
    "opennmt_relative": {**_OPENNMT, "position_encoding": False, "max_relative_positions": 4},
}
OURS = "preorder_relative"
DEFAULT = ("opennmt", OURS, "opennmt_relative")
COLUMNS = ("", "tokens/s", "to the first", "quartiles", "peak memory", "to the first")


@dataclass(frozen=True)
class Result:
    """One line of the table: medians of the rounds, and as multiples of the first model's.

    ``speed``: tokens a second of both sides, without padding. ``memory``: bytes of a GPU at the peak.
    """

    model: str
    speed: float
    memory: float
    relative_speed: float
    relative_memory: float
    quartiles: tuple[float, float]

    def row(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        low, high = self.quartiles
        speeds = f"{self.speed:,.0f}", f"{self.relative_speed:.3f}", f"{low:.3f} to {high:.3f}"
        return self.model, *speeds, f"{self.memory / 1e6:,.0f} MB", f"{self.relative_memory:.3f}"


class Training:
    """One model's training, some steps at a time; ``memory``: its peak on the GPU alone, in bytes."""

    def __init__(self, opt: Any, pairs: Sequence[Pair], device: str) -> None:
        rank = 0 if device == "cuda" else -1
        vocabs = vocabularies(opt, pairs)
        before = _allocated(device)
        torch.manual_seed(1)
        model = build_model(opt, opt, vocabs, None, rank)
        self._trainer = build_trainer(opt, rank, model, vocabs, Optimizer.from_opt(model, opt))
        self._batches = cycle(list(batches(pairs, vocabs, opt, device)))
        self._device = device
        self.memory = self._own = 0
        self.speed(1)
        self._own = _allocated(device) - before

    def speed(self, steps: int) -> float:
        """Train on the next batches; return tokens a second."""
        taken = list(islice(self._batches, steps))
        tokens = sum(int(batch["srclen"].sum() + batch["tgtlen"].sum()) for batch in taken)
        before = _allocated(self._device)
        stream = ((batch, 0) for batch in taken)
        forever = {"save_checkpoint_steps": 0, "valid_steps": sys.maxsize}
        cost = seconds(lambda: self._trainer.train(stream, 0, **forever), self._device)
        peak = torch.cuda.max_memory_allocated() if self._device == "cuda" else 0
        self.memory = self._own + peak - before
        return tokens / cost


def _allocated(device: str) -> int:
    if device == "cpu":
        return 0
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def measure(arguments: argparse.Namespace) -> list[Result]:
    """Train with each model in turn, and compare each with the first."""
    device = arguments.device
    options = {name: _options(arguments, name) for name in arguments.models}
    if arguments.source:
        pairs = read_pairs(arguments.source, arguments.target, arguments.pairs)
    else:
        pairs = random_pairs(arguments.pairs, arguments.words, arguments.vocabulary)
    models = {name: Training(opt, pairs, device) for name, opt in options.items()}
    if device == "cuda":  # kernels for all lengths are compiled
        for model in models.values():
            model.speed(arguments.steps)
    rounds = [
        [model.speed(arguments.steps) for model in models.values()]
        for _ in progress(range(arguments.rounds), "rounds", arguments.rounds)
    ]
    base = next(iter(models.values())).memory
    first, *_ = by_model = list(zip(*rounds, strict=True))
    results = []
    for (name, model), speeds in zip(models.items(), by_model, strict=True):
        ratios = [mine / other for mine, other in zip(speeds, first, strict=True)]
        low, middle, high = quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
        memory = model.memory / base if base else 0.0
        results.append(Result(name, median(speeds), model.memory, middle, memory, (low, high)))
    return results


def _options(arguments: argparse.Namespace, model: str) -> Any:
    """Return what ``onmt_train`` would read from the configuration of a model, and its changes."""
    name, *edits = model.split(",")
    options = read_system(OURS if name in FOREIGN else name, arguments.size).options
    options |= {key: parse_yaml(value) for key, value in map(key_and_value, edits)}
    opt = parsed(_get_parser(), options, model)
    changes = {**FOREIGN.get(name, {}), "data": {}, "data_task": opt.model_task}
    if arguments.device == "cuda":
        changes |= {"world_size": 1, "gpu_ranks": [0], "model_dtype": "fp16"}
    if arguments.batch:
        changes["batch_size"] = arguments.batch
    vars(opt).update(changes)
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    return opt


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_run)
    add_json(parser)
    add = parser.add_argument
    add("models", nargs="*", metavar="MODEL", default=DEFAULT, help=f"(default: {' '.join(DEFAULT)})")
    add("--size", choices=SIZES, default="small", help="paper is the base size (default: %(default)s)")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="(default: %(default)s)")
    add("--source", metavar="F", help="sentences to train on, with --target; without, random words")
    add("--target", metavar="F", help="their translations")
    add_number(parser, "--pairs", positive, 20_000, "sentence pairs at most")
    add_number(parser, "--words", positive, 25, "of a random sentence on average")
    add_number(parser, "--vocabulary", positive, 32_000, "of random words")
    add_number(parser, "--rounds", positive, 7, "in which each model has its turn; the medians are printed")
    add_number(parser, "--steps", positive, 4, "of a turn")
    add_number(parser, "--batch", positive, None, "size of a batch, in place of the configuration's")
    return execute(parser, argv)


def _run(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    onmt_preorder.register()
    if arguments.device == "cpu":
        keep_freed_memory()
    if (arguments.source is None) != (arguments.target is None):
        raise UsageError("--source and --target go together")
    what = f"size {arguments.size}, torch {torch.__version__}, {machine(arguments.device)}"
    print_results(what, COLUMNS, measure(arguments), arguments.json)


if __name__ == "__main__":
    sys.exit(main())
