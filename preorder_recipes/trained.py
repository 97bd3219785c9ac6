"""A trained model with what ``onmt_translate`` would let it read, to look inside."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from preorder.command_line import print_table
from preorder.command_line.options import positive
from preorder.errors import DataError
from preorder.io import files


def add_line(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option ``--line``."""
    parser.add_argument("--line", metavar="N", type=positive, help=f"{what} of this sentence, from 1")


def line_of(path: str, number: int) -> str:
    """Return a line of a file by its number, from 1."""
    lines = list(files.read_lines(path))
    if number > len(lines):
        raise DataError(f"has {len(lines)} lines", path, number)
    return lines[number - 1]


def load_for_line(model: str, source: str, target: str | None = None) -> tuple[Any, dict[str, Any]]:
    """Return a checkpoint's model and the batch of one sentence, and its translation."""
    with tempfile.TemporaryDirectory(prefix="preorder-") as folder:
        paths = [str(Path(folder, name)) for name in ("source", "target")]
        for path, line in zip(paths, (source, target or ""), strict=True):
            files.write_lines(path, [line])
        trained, batches = load_trained(model, paths[0], None if target is None else paths[1])
        return trained, next(batches)


def load_trained(
    model: str, source: str, target: str | None = None, gpu: int = -1
) -> tuple[Any, Iterator[dict[str, Any]]]:
    """Return a checkpoint's model and the batches that ``onmt_translate`` would read."""
    from onmt.constants import CorpusTask
    from onmt.inference_engine import InferenceEnginePY
    from onmt.inputters.dynamic_iterator import build_dynamic_dataset_iter

    from onmt_preorder.opennmt.checkpoints import read_options
    from onmt_preorder.opennmt.translation import translation_options

    given = ["-model", model, "-src", source, *(("-tgt", target) if target else ())]
    given += ["-gpu", str(gpu), "-batch_size", "64"]
    read_options(model)  # which says whether it is a checkpoint
    opt = translation_options([*given, "-output", os.devnull])  # OpenNMT-py opens it, else pred.txt
    engine = InferenceEnginePY(opt)
    batches = build_dynamic_dataset_iter(
        opt, engine.transforms_cls, engine.vocabs, task=CorpusTask.INFER, device_id=gpu
    )
    return engine.translator.model, (batch for batch, _ in batches)


@dataclass(frozen=True)
class Matrix:
    """Numbers from 0 to 1, a row of them for each word; ``axis`` says what the columns are."""

    words: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float]]
    axis: str

    def show(self, title: str, out: str | None) -> None:
        """Print the numbers and, if a path is given, draw them as a picture."""
        from preorder.analysis import plots

        rows = [[word, *map("{:.2f}".format, row)] for word, row in zip(self.words, self.values, strict=True)]
        print_table(f"{title}, by {self.axis}", ["", *self.columns], rows)
        if out:
            draw = partial(plots.draw_matrix, self.words, self.columns, self.values, self.axis)
            plots.write_picture(draw, title, out)


def add_picture(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--out``."""
    parser.add_argument("--out", metavar="F", help="picture: .svg, .png or .pdf (needs the extra plots)")
