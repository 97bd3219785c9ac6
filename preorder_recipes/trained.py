"""A trained model with what ``onmt_translate`` would let it read, to look inside."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from onmt_preorder.opennmt import registration
from preorder.analysis import plots
from preorder.command_line import print_table
from preorder.errors import DataError
from preorder.io import files
from preorder_recipes.pipeline.checks import check_readable

END = "(end)"  # the title of an end symbol


def add_inputs(parser: argparse.ArgumentParser, **texts: str) -> None:
    """Add ``--model`` and options of texts, each with its help."""
    for name, text in ({"model": "checkpoint"} | texts).items():
        parser.add_argument(f"--{name}", metavar="F", required=True, help=text)


def add_picture(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--out``."""
    parser.add_argument("--out", metavar="F", help="picture: .svg, .png or .pdf (needs the extra plots)")


def load_line(model: str, number: int, *paths: str) -> tuple[list[str], Any, dict[str, Any]]:
    """Return a line, from 1, of a text and its translation, a checkpoint's model, and their batch.

    The batch has the tokens that the model reads, too, as ``src_tokens`` and ``tgt_tokens``.
    """
    texts = []
    for path in paths:
        lines = list(files.read_lines(path))
        if number > len(lines):
            raise DataError(f"has {len(lines)} lines", path, number)
        texts.append(lines[number - 1].replace("\t", " "))
    given = {side: [text] for side, text in zip(("src", "tgt"), texts, strict=False)}
    trained, batches, vocabularies = load_trained(model, *paths, lines=given)
    if (batch := next(batches, None)) is None:
        raise DataError("an empty line, which OpenNMT-py leaves out", paths[0], number)
    for side in given:
        ids, names = batch[side][0, :, 0].tolist(), vocabularies[side].ids_to_tokens
        batch[f"{side}_tokens"] = [names[one] for one in (ids[1:-1] if side == "tgt" else ids)]
    return texts, trained, batch


def labels(words: Sequence[str], tokens: Sequence[str]) -> Sequence[str]:
    """Return the words of a sentence or, where transforms split them, the tokens that a model reads."""
    return words if len(words) == len(tokens) else tokens


def load_trained(
    model: str, source: str, target: str | None = None, *, lines: Mapping[str, list[str]] | None = None
) -> tuple[Any, Iterator[dict[str, Any]], Any]:
    """Return a checkpoint's model, the batches that ``onmt_translate`` would read, and the vocabularies.

    ``lines``: those to read in place of the files', as ``src`` and ``tgt``.
    """
    registration.require()
    from onmt.constants import CorpusTask
    from onmt.inference_engine import InferenceEnginePY
    from onmt.inputters.dynamic_iterator import build_dynamic_dataset_iter

    from onmt_preorder.opennmt.checkpoints import read_options
    from onmt_preorder.opennmt.translation import translation_options

    check_readable(filter(None, (model, source, target)))
    read_options(model)  # which says whether it is a checkpoint
    given = ["-model", model, "-src", source, *(("-tgt", target) if target else ()), "-batch_size", "64"]
    opt = translation_options([*given, "-output", os.devnull])  # OpenNMT-py opens it, else pred.txt
    engine = InferenceEnginePY(opt)
    batches = build_dynamic_dataset_iter(
        opt, engine.transforms_cls, engine.vocabs, task=CorpusTask.INFER, **(lines or {})
    )
    return engine.translator.model, (batch for batch, _ in batches), engine.vocabs


def show_matrix(
    title: str,
    axis: str,
    words: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    out: str | None,
) -> None:
    """Print numbers from 0 to 1, a row for each word; if a path is given, draw them as a picture.

    ``axis`` says what the columns are.
    """
    rows = [[word, *map("{:.2f}".format, row)] for word, row in zip(words, values, strict=True)]
    print_table(f"{title}, by {axis}", ["", *columns], rows)
    if out:
        plots.write_picture(partial(_draw_matrix, words, columns, values, axis), title, out)


def _draw_matrix(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], axis: str
) -> Any:
    figure, (axes,) = plots.new_figure(1)
    figure.set_size_inches(plots.WIDTH, 0.25 * len(rows) + 0.8)
    axes.imshow(values, cmap="Greys", vmin=0, vmax=1, aspect="auto")  # the darker the larger
    axes.grid(visible=False)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_xlabel(axis)
    axes.set_yticks(range(len(rows)), rows, parse_math=False)
    return figure
