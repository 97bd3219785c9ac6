"""The time to parse sentences of given lengths, without the start of a program and its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from benchmarks.programs import Program
from preorder.btg.pieces import EXACT
from preorder.data import files
from preorder.data.errors import UsageError
from preorder.data.formats import format_annotated
from preorder.data.types import Sentence
from preorder.learning.encode import Encoder
from preorder.learning.vocabulary import LAYERS
from preorder.methods.model_directory import load_model
from preorder.methods.perceptron.fast.shapes import shape_scores
from preorder.methods.perceptron.parse import parse
from preorder.methods.perceptron.weights import unpack

SHORT = range(8, 13)
"""Numbers of tokens of the short sentences, which are lines as they are."""

LONG = {40: 120, 80: 40, 120: 20}
"""Number of tokens of long sentences, which are made of successive lines → how many there are at most."""

MAX_SHORT = 2000  # sentences
MIN_SECONDS = 0.2  # to measure


def sample(sentences: Sequence[Sentence], tokens: int | range) -> list[Sentence]:
    """Return sentences of a length, as many as the other program parses in about two seconds.

    Raises:
        UsageError: there are too few lines to make a sentence of them.
    """
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
