"""Measure how well a model with explicit reordering predicts positions (Chen et al. 2020, equation 12).

Prints two mean cosines with the encodings of the gold positions: of the encodings of the original
positions (PE), and of the encodings that the model's last layer predicts (PR).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from preorder.cli import Parser, execute
from preorder.data.errors import UsageError
from recipes.checks import check_device, check_readable


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0 done, 2 bad input or usage."""
    parser = Parser(prog="python -m recipes.similarity", description=__doc__)
    parser.add_argument("--model", metavar="F", required=True, help="checkpoint")
    parser.add_argument(
        "--src", metavar="F", required=True, help="token￨position, of preorder gold --unaligned keep"
    )
    parser.add_argument("--gpu", metavar="N", type=int, default=-1, help="number of the GPU, from 0")
    parser.set_defaults(run=_print)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    check_readable([Path(arguments.model), Path(arguments.src)])
    check_device("cpu" if arguments.gpu < 0 else "gpu")
    original, learned = similarities(arguments.model, arguments.src, arguments.gpu)
    print(f"PE {original:.4f}\nPR {learned:.4f}")


def similarities(model: str, source: str, gpu: int = -1) -> tuple[float, float]:
    """Return the mean cosines, over all tokens, of original and of predicted positions with the given ones.

    Raises:
        UsageError: the model has no explicit reordering.
        DataError: the source cannot be read.
    """
    import torch

    from onmt_preorder.papers.explicit_reordering.layers import SIMILARITY, reordering_loss
    from onmt_preorder.transformer.sinusoidal import encodings

    encoder, batches = _load(model, source, gpu)
    sums = [0.0, 0.0]
    tokens = 0.0
    for batch in batches:
        src, lengths = batch["src"], batch["srclen"]
        with torch.no_grad():
            states = encoder(src, lengths)[0]
        padding = torch.arange(src.size(1), device=src.device) >= lengths.unsqueeze(1)
        own = encodings(0, src.size(1), states).expand_as(states)
        original = reordering_loss(own, encoder.positions(src, padding), padding, encoder.explicit)
        for i, found in enumerate((original, encoder.additional_loss())):
            total, count = found.statistics[SIMILARITY]
            sums[i] += total
        tokens += count
    return sums[0] / tokens, sums[1] / tokens


def _load(model: str, source: str, gpu: int) -> tuple[Any, Iterator[dict[str, Any]]]:
    """Return a model's encoder and the batches that ``onmt_translate`` would read."""
    from onmt.constants import CorpusTask
    from onmt.inference_engine import InferenceEnginePY
    from onmt.inputters.dynamic_iterator import build_dynamic_dataset_iter

    from onmt_preorder.opennmt.checkpoints import read_options
    from onmt_preorder.opennmt.line_translator import translation_options

    given = ["-model", model, "-src", source, "-gpu", str(gpu), "-batch_size", "64"]
    read_options(model)  # which says whether it is a checkpoint
    opt = translation_options([*given, "-output", os.devnull])  # OpenNMT-py opens it, else pred.txt
    engine = InferenceEnginePY(opt)
    encoder = engine.translator.model.encoder
    if not getattr(encoder, "explicit", None):
        raise UsageError(f"{model}: the model has no explicit reordering")
    batches = build_dynamic_dataset_iter(
        opt, engine.transforms_cls, engine.vocabs, task=CorpusTask.INFER, device_id=gpu
    )
    return encoder, (batch for batch, _ in batches)


if __name__ == "__main__":
    sys.exit(main())
