"""The two preorderers that are compared: as programs that train and apply, and their parsers alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchmarks.common import PREORDER, Cost, run
from preorder.alignment.gold import target_groups
from preorder.btg.nbest import EXACT
from preorder.data import Sentence
from preorder.data.formats import format_annotated, parse_order, read_alignments
from preorder.errors import UsageError
from preorder.io import files
from preorder.learning.encode import LAYERS, Encoder
from preorder.methods.model_directory import load_model
from preorder.methods.perceptron_btg.parse import parse
from preorder.methods.perceptron_btg.scorer import shape_scores
from preorder.methods.perceptron_btg.weights import unpack
from preorder.metrics.orders import OrderEvaluation, evaluate

SHORT = range(8, 13)  # tokens of short sentences, which are lines as they are
LONG = {40: 120, 80: 40, 120: 20}  # tokens of long sentences, made of successive lines → how many at most
MAX_SHORT = 2000  # sentences
MIN_SECONDS = 0.2  # to measure


@dataclass(frozen=True)
class Ours:
    """The command ``preorder``, with a number of threads."""

    threads: int = 1
    weights: ClassVar[str] = "weights.safetensors"  # the path in a model

    def train(self, data: Path, pair: str, model: Path) -> Cost:
        """Train on ``PAIR.train.annot`` and ``.align`` of a folder, without held-out lines."""
        paths = ("--annot", f"{data}/{pair}.train.annot", "--align", f"{data}/{pair}.train.align")
        return self._run("train", "--method", "btg", "--held-out", "0", *paths, "--model", str(model))

    def apply(self, model: Path, annotated: Path, orders: Path) -> Cost:
        """Write the order of each line."""
        paths = ("--annot", str(annotated), "--out", str(orders))
        return self._run("apply", "--model", str(model), "--format", "order", *paths)

    def _run(self, *arguments: str) -> Cost:
        return run((*PREORDER, *arguments, "--threads", str(self.threads)))


@dataclass(frozen=True)
class TopdownBTG:
    """Google's topdown-btg-preordering: paths of its trainer and of its parser."""

    trainer: str
    parser: str
    weights: ClassVar[str] = ""

    def train(self, data: Path, pair: str, model: Path) -> Cost:
        """Train for 20 iterations, its default."""
        paths = ("-input_annot", f"{data}/{pair}.train.annot", "-input_align", f"{data}/{pair}.train.align")
        return run((self.trainer, *paths, "-output_model", str(model)))

    def apply(self, model: Path, annotated: Path, orders: Path) -> Cost:
        """Write the order of each line."""
        paths = ("-input_annot", str(annotated), "-output_result", str(orders))
        return run((self.parser, "-input_model", str(model), *paths))


Program = Ours | TopdownBTG


def accuracy(alignments: Path, orders: Path) -> OrderEvaluation:
    """Return how well the orders of a file fit the alignments of another."""
    pairs = files.in_parallel(
        (str(alignments), read_alignments(str(alignments))),
        (str(orders), files.read_parsed(str(orders), parse_order)),
    )
    links, permutations = zip(*pairs, strict=True)
    groups = [target_groups(one, len(order)) for one, order in zip(links, permutations, strict=True)]
    return evaluate(groups, permutations)


def sample(sentences: Sequence[Sentence], tokens: int | range) -> list[Sentence]:
    """Return sentences of a length, as many as the other program parses in about two seconds."""
    if isinstance(tokens, range):
        found = [sentence for sentence in sentences if len(sentence) in tokens][:MAX_SHORT]
    else:
        joined = [tuple(chain.from_iterable(getattr(s, name) for s in sentences)) for name in LAYERS]
        starts = range(0, len(joined[0]) - tokens + 1, tokens)[: LONG[tokens]]
        found = [Sentence(*(layer[start : start + tokens] for layer in joined)) for start in starts]
    if not found:
        raise UsageError(f"the lines are too few to make sentences of {tokens} tokens")
    return found


class Parser:
    """A BTG model and encoded sentences, to measure the parser alone."""

    def __init__(self, model: Path, sentences: Sequence[Sentence]) -> None:
        """Read the model, encode the sentences, and compile the parser or load its machine code."""
        weights = unpack(load_model(str(model)).preorderer.state()[1])
        self._tables, self._shape = weights.tables(), shape_scores(weights.shape, EXACT)
        self._batch = Encoder(LAYERS)(sentences)
        self.seconds()

    def seconds(self, threads: int = 1, clock: Callable[[], float] = time.process_time) -> float:
        """Return the time to parse all sentences once, measured over several times if it is short."""
        begin, times = clock(), 0
        while times == 0 or clock() - begin < MIN_SECONDS:
            parse(self._tables, self._shape, self._batch, threads)
            times += 1
        return (clock() - begin) / times


def peer_seconds(program: Program, model: Path, sentences: Sequence[Sentence], folder: Path) -> float:
    """Return the processor seconds that another program takes, less those that it takes for a single word."""
    times = []
    for part in ([Sentence(("a",), ("a",), ("a",))], sentences):
        files.write_lines(str(folder / "lines.annot"), map(format_annotated, part))
        times.append(program.apply(model, folder / "lines.annot", folder / "lines.order").cpu)
    return max(times[1] - times[0], np.finfo(float).tiny)
