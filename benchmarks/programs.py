"""The two preorderers that are compared, as programs: each can train a model, and apply it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.process import Cost, run
from preorder.alignment.target_groups import target_groups
from preorder.data import files
from preorder.data.formats import parse_order, read_alignments
from preorder.metrics.preordering import OrderEvaluation, evaluate


class Program(Protocol):
    """A preorderer that is run as a program."""

    def train(self, data: Path, pair: str, model: Path) -> Cost:
        """Train on ``PAIR.train.annot`` and ``PAIR.train.align`` of a folder."""

    def apply(self, model: Path, annotated: Path, orders: Path) -> Cost:
        """Write the order of each line."""

    def size(self, model: Path) -> int:
        """Return the bytes of the weights of a model."""


@dataclass(frozen=True)
class Ours:
    """The command ``preorder``, with a number of threads."""

    threads: int = 1

    def train(self, data: Path, pair: str, model: Path) -> Cost:
        """Train for all iterations, without held-out lines."""
        paths = ("--annot", f"{data}/{pair}.train.annot", "--align", f"{data}/{pair}.train.align")
        return self._run("train", "--method", "btg", "--held-out", "0", *paths, "--model", str(model))

    def apply(self, model: Path, annotated: Path, orders: Path) -> Cost:
        """Write the order of each line."""
        paths = ("--annot", str(annotated), "--out", str(orders))
        return self._run("apply", "--model", str(model), "--format", "order", *paths)

    def _run(self, *arguments: str) -> Cost:
        main = "import sys; from preorder.cli import main; sys.exit(main())"
        return run((sys.executable, "-c", main, *arguments, "--threads", str(self.threads)))

    def size(self, model: Path) -> int:
        """Return the bytes of the weights of a model."""
        return (model / "weights.safetensors").stat().st_size


@dataclass(frozen=True)
class TopdownBTG:
    """Google's topdown-btg-preordering: paths of its trainer and of its parser."""

    trainer: str
    parser: str

    def train(self, data: Path, pair: str, model: Path) -> Cost:
        """Train for 20 iterations, its default."""
        paths = ("-input_annot", f"{data}/{pair}.train.annot", "-input_align", f"{data}/{pair}.train.align")
        return run((self.trainer, *paths, "-output_model", str(model)))

    def apply(self, model: Path, annotated: Path, orders: Path) -> Cost:
        """Write the order of each line."""
        paths = ("-input_annot", str(annotated), "-output_result", str(orders))
        return run((self.parser, "-input_model", str(model), *paths))

    def size(self, model: Path) -> int:
        """Return the bytes of a model."""
        return model.stat().st_size


def accuracy(alignments: Path, orders: Path) -> OrderEvaluation:
    """Return how well the orders of a file fit the alignments of another."""
    pairs = files.in_parallel(
        (str(alignments), read_alignments(str(alignments))),
        (str(orders), files.read_parsed(str(orders), parse_order)),
    )
    links, permutations = zip(*pairs, strict=True)
    groups = [target_groups(one, len(order)) for one, order in zip(links, permutations, strict=True)]
    return evaluate(groups, permutations)
