"""What the jumps of attention cost in training: each distortion model beside RNNsearch*.

    python -m benchmarks.distortion --size small --words 8 12

One training step (forward, loss, backward, the optimizer's step) on the same random words, all models turn
by turn in one process, on one thread. Speed does not depend on the words, nor on the weights.
"""

from __future__ import annotations

import argparse
import time
from argparse import Namespace
from collections.abc import Callable
from statistics import median, quantiles

import pyonmttok
import torch
from onmt.bin.train import _get_parser
from onmt.constants import DefaultTokens
from onmt.model_builder import build_model
from onmt.utils.optimizers import Optimizer
from onmt.utils.parse import ArgumentParser

import onmt_preorder.plugin
from preorder.cli.table import print_table
from recipes.job import CONFIGS

BASELINE = "rnnsearch"
SYSTEMS = (BASELINE, "distortion_source", "distortion_target", "distortion_hidden")
SPECIALS = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]


def main(argv: list[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
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
    add("--turns", type=int, default=30, help="steps measured of each model (default: %(default)s)")
    add("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    onmt_preorder.plugin.register()
    steps = {system: training_step(system, arguments) for system in SYSTEMS}
    times: dict[str, list[float]] = {system: [] for system in SYSTEMS}
    for turn in range(arguments.turns + 3):
        for system, step in steps.items():
            cost = seconds(step, arguments.device)
            if turn >= 3:
                times[system].append(cost)
    report(times, arguments)


def training_step(system: str, arguments: Namespace) -> Callable[[], None]:
    """Return a function that trains a system by one batch, always the same."""
    opt = options(arguments.size, system)
    words = [*SPECIALS, *map(str, range(arguments.vocabulary - len(SPECIALS)))]
    vocabulary = pyonmttok.build_vocab_from_tokens(words)
    torch.manual_seed(1)
    model = build_model(opt, opt, {"src": vocabulary, "tgt": vocabulary}, None, -1).to(arguments.device)
    optimizer = Optimizer.from_opt(model, opt)
    src, tgt = (
        torch.randint(4, len(words), (opt.batch_size, length, 1), device=arguments.device)
        for length in (arguments.words[0], arguments.words[1] + 2)
    )
    lengths = torch.full((opt.batch_size,), arguments.words[0], device=arguments.device)

    def step() -> None:
        optimizer.zero_grad()
        scores = model.generator(model(src, tgt, lengths)[0])
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), tgt[:, 1:].flatten())
        optimizer.backward(loss)
        optimizer.step()

    return step


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
    """Print each model's median, and its speed beside the baseline's, step by step."""
    rows = []
    for system, costs in times.items():
        ratios = [base / cost for base, cost in zip(times[BASELINE], costs, strict=True)]
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
