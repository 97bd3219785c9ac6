"""What systems of config/ cost in training: each beside the first.

    python -m benchmarks.systems --size small --words 8 12 rnnsearch distortion_source distortion_hidden
    python -m benchmarks.systems --size small --words 10 12 plain reordering_encoder exgre refsr

One training step (forward, losses, backward, the optimizer's step) on the same random words, all models turn
by turn in one process, on one thread. Speed does not depend on the words, nor on the weights.
"""

from __future__ import annotations

import argparse
import time
from argparse import Namespace
from collections.abc import Callable, Iterable
from statistics import median, quantiles
from typing import Any

import pyonmttok
import torch
from onmt.bin.train import _get_parser
from onmt.constants import DefaultTokens
from onmt.model_builder import build_model
from onmt.utils.loss import LossCompute
from onmt.utils.optimizers import Optimizer
from onmt.utils.parse import ArgumentParser
from torch import Tensor

import onmt_preorder.plugin
from onmt_preorder.positions import vocabulary as positions
from preorder.cli.table import print_table
from recipes.job import CONFIGS

SPECIALS = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]


def main(argv: list[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("systems", nargs="+", metavar="SYSTEM", help="files of the folder")
    add("--size", default="small", help="folder of config/ (default: %(default)s)")
    add(
        "--words",
        type=int,
        nargs=2,
        default=(8, 12),
        metavar="N",
        help="words a source and a target sentence",
    )
    add("--vocabulary", type=int, default=3000, help="words of either language (default: %(default)s)")
    add("--batch", type=int, metavar="N", help="size of a batch in place of the configuration's")
    add("--turns", type=int, default=30, help="steps measured of each model (default: %(default)s)")
    add("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    onmt_preorder.plugin.register()
    steps = {system: training_step(system, arguments) for system in arguments.systems}
    times: dict[str, list[float]] = {system: [] for system in steps}
    for turn in range(arguments.turns + 3):
        for system, step in steps.items():
            cost = seconds(step, arguments.device)
            if turn >= 3:
                times[system].append(cost)
    report(times, arguments)


def training_step(system: str, arguments: Namespace) -> Callable[[], None]:
    """Return a function that trains a system by one batch, always the same."""
    opt = options(arguments.size, system)
    opt.batch_size = arguments.batch or opt.batch_size
    words = make_vocabulary(map(str, range(arguments.vocabulary - len(SPECIALS))))
    vocabs = {"src": words, "tgt": words, "src_feats": [make_vocabulary(positions())]}
    torch.manual_seed(1)
    model = build_model(opt, opt, vocabs, None, -1).to(arguments.device)
    optimizer, loss = Optimizer.from_opt(model, opt), LossCompute.from_opts(opt, model, words)
    batch = make_batch(opt, arguments, vocabs)

    def step() -> None:
        optimizer.zero_grad()
        output, attention = model(batch["src"], batch["tgt"], batch["srclen"])
        optimizer.backward(loss(batch, output, attention)[0] / batch["tgt"].numel())
        optimizer.step()

    return step


def make_vocabulary(tokens: Iterable[str]) -> pyonmttok.Vocab:
    """Return a vocabulary as OpenNMT-py makes it."""
    made = pyonmttok.build_vocab_from_tokens([*SPECIALS, *tokens])
    made.default_id = made[DefaultTokens.UNK]
    return made


def make_batch(opt: Namespace, arguments: Namespace, vocabs: dict[str, Any]) -> dict[str, Tensor]:
    """Return a batch of random words, of the size that the configuration asks for, in random orders."""
    source, target = arguments.words
    count = opt.batch_size // max(source, target + 2) if opt.batch_type == "tokens" else opt.batch_size
    src, tgt = (
        torch.randint(len(SPECIALS), len(vocabs["src"]), (count, length, 1))
        for length in (source, target + 2)
    )
    if opt.n_src_feats:
        first = vocabs["src_feats"][0]["0"]
        orders = torch.rand(count, source).argsort(1) + first
        src = torch.cat((src, orders.unsqueeze(2)), dim=2)
    batch = {"src": src, "srclen": torch.full((count,), source), "tgt": tgt}
    return {name: tensor.to(arguments.device) for name, tensor in batch.items()}


def options(size: str, system: str) -> Namespace:
    """Return what ``onmt_train`` would read from a system's configuration."""
    path = CONFIGS / size / f"{system}.yaml"
    arguments = ["-config", str(path), "-data", "{}", "-src_vocab", "-", "-tgt_vocab", "-"]
    opt = _get_parser().parse_known_args(arguments)[0]
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    return opt


def seconds(step: Callable[[], None], device: str) -> float:
    """Return processor seconds of a step, or on a GPU those of the clock."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    begin = clock()
    step()
    if device != "cpu":
        torch.cuda.synchronize()
    return clock() - begin


def report(times: dict[str, list[float]], arguments: Namespace) -> None:
    """Print each model's median, and its speed beside the first one's, step by step."""
    rows, first = [], next(iter(times.values()))
    for system, costs in times.items():
        ratios = [base / cost for base, cost in zip(first, costs, strict=True)]
        low, middle, high = quantiles(ratios, n=4)
        rows.append((system, f"{1e3 * median(costs):.1f} ms", f"{middle:.3f}", f"{low:.3f} to {high:.3f}"))
    source, target = arguments.words
    print_table(
        f"{arguments.size}: a step of training on {source} and {target} words a sentence, {arguments.device}",
        ("", "median", "speed", "quartiles"),
        rows,
    )


if __name__ == "__main__":
    main()
