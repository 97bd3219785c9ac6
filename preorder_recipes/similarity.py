"""Measure how well a model with explicit reordering predicts positions (Chen et al. 2020, equation 12).

Prints the mean cosine with the encodings of the gold positions, and the mean distance from these in tokens:
of the original positions (PE), and of those that the model's last layer predicts (PR). Then the share of
the way from the original positions to the gold ones that the predicted ones have gone: 0 is where the
source's words stand, 1 is gold, and less than 0 is worse than doing nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from preorder.command_line import Parser, execute
from preorder.errors import UsageError
from preorder_recipes.pipeline.checks import check_device, check_readable


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0 done, 2 bad input or usage."""
    parser = Parser(prog="python -m preorder_recipes.similarity", description=__doc__)
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
    for name, (cosine, tokens) in (("PE", original), ("PR", learned)):
        print(f"{name} {cosine:.4f}, {tokens:.3f} tokens away")
    if original[1] == 0:
        print("share of the way: the original positions are the gold ones")
    else:
        ends = zip(original, learned, (1.0, 0.0), strict=True)
        shares = ((now - begin) / (gold - begin) for begin, now, gold in ends)
        print("share of the way {:.3f} by the cosine, {:.3f} by tokens".format(*shares))


def similarities(model: str, source: str, gpu: int = -1) -> tuple[list[float], list[float]]:
    """Return how close original and predicted positions are to the given ones, as means over all tokens.

    Each is the cosine of the encodings, and the absolute difference in tokens.
    """
    import torch
    from torch import Tensor

    from onmt_preorder.papers.explicit_reordering import SIMILARITY, reordering_loss
    from onmt_preorder.transformer.sinusoidal import encodings

    trained, batches = load_trained(model, source, gpu=gpu)
    encoder = trained.encoder
    if not getattr(encoder, "explicit", None):
        raise UsageError(f"{model}: the model has no explicit reordering")
    predicted: list[Tensor] = []
    block = encoder.transformer[-1].after_layer
    block.register_forward_hook(
        lambda _, given, __: predicted.append(block.positions(given[0], given[1].lengths))
    )
    sums, tokens = torch.zeros(2, 2, dtype=torch.float64), 0.0
    for batch in batches:
        src, lengths = batch["src"], batch["srclen"]
        with torch.no_grad():
            states = encoder(src, lengths)[0]
        own = torch.arange(src.size(1), device=src.device)
        padding = own >= lengths.unsqueeze(1)
        gold = encoder.positions(src, padding)
        table = encodings(0, src.size(1), states).expand_as(states)
        losses = reordering_loss(table, gold, padding, encoder.explicit), encoder.additional_loss()
        for i, (loss, positions) in enumerate(zip(losses, (own, predicted.pop()), strict=True)):
            total, count = loss.statistics[SIMILARITY]
            away = (positions - gold).abs().masked_fill(padding, 0).sum().item()
            sums[i] += torch.tensor([total, away])
        tokens += count
    return tuple((sums / tokens).tolist())


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


if __name__ == "__main__":
    sys.exit(main())
