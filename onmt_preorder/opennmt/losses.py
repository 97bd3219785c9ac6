"""Losses that parts of the model add, and their statistics in the reports.

Why: OpenNMT-py computes its loss from the decoder's output alone, one output a target word, and its
statistics have no room for others. Here any module of a model adds a loss by its method ``additional_loss``,
and a decoder with another loss than the cross entropy computes it by its method ``translation_loss``.
Perplexity and accuracy, and so early stopping, are those of the translation as before.

On CPUs the cross entropy of trainings with our models is computed a block of tokens at a time, in half of the
time.

Can go when a model can return losses and statistics of its own.
"""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from onmt_preorder.additional_loss import AdditionalLoss
from onmt_preorder.cross_entropy import Goal, linear_cross_entropy
from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.options import is_ours

if TYPE_CHECKING:
    from onmt.utils.statistics import Statistics


@adapts("onmt.utils.loss:LossCompute", "from_opts")
def _from_opts(original: Any, cls: type, opt: Namespace, model: Any, *args: Any, **kwargs: Any) -> Any:
    compute = original(cls, opt, model, *args, **kwargs)
    compute.parts = [module for module in model.modules() if hasattr(module, "additional_loss")]
    compute.translation_loss = getattr(getattr(model, "decoder", None), "translation_loss", None)
    compute.precision = None  # of the loss in blocks, where it can be computed so
    if is_ours(opt) and compute.translation_loss is None and _is_plain(compute, opt):
        compute.precision = torch.bfloat16 if opt.bfloat16 else torch.float32
    return compute


def _is_plain(compute: Any, opt: Namespace) -> bool:
    """Return whether a loss is the cross entropy behind a linear layer alone."""
    others = opt.copy_attn, opt.lambda_align, opt.lambda_coverage, opt.lm_prior_model
    kinds = type(compute.generator) is nn.Linear, type(compute.criterion) is nn.CrossEntropyLoss
    return all(kinds) and not any(others)


@adapts("onmt.utils.loss:LossCompute", "forward")
def _forward(original: Any, self: Any, batch: Any, output: Any, *args: Any, **kwargs: Any) -> Any:
    if self.translation_loss is not None:
        loss, statistics = self.translation_loss(self.generator, self.vocab, batch, output)
    elif self.precision is not None and output.device.type == "cpu":
        loss, statistics = _in_blocks(self, batch, output)
    else:
        loss, statistics = original(self, batch, output, *args, **kwargs)
    for part in self.parts:
        addition: AdditionalLoss | None = part.additional_loss()
        if addition is not None:
            loss = loss + addition.loss
            _add(statistics, addition.statistics)
    return loss, statistics


def _in_blocks(compute: Any, batch: Any, output: Tensor) -> tuple[Tensor, Statistics]:
    """Return the loss and the statistics of ``output [b, n, d]``, one state for each word of the target."""
    from onmt.utils.statistics import Statistics  # this module may be what is imported first

    targets = batch["tgt"][:, 1:, 0].flatten()
    goal = Goal(targets, compute.padding_idx, compute.criterion.label_smoothing)
    states = output.flatten(0, 1)
    loss, correct = linear_cross_entropy(states, compute.generator, goal, compute.precision)
    words = int((targets != compute.padding_idx).sum())
    return loss, Statistics(loss.item(), 1, len(batch["srclen"]), words, correct)


def _add(statistics: Any, additional: Any) -> None:
    sums = vars(statistics).setdefault("additional", {})
    for name, (total, count) in additional.items():
        before = sums.get(name, (0, 0))
        sums[name] = before[0] + total, before[1] + count


@adapts("onmt.utils.statistics:Statistics", "update")
def _update(original: Any, self: Any, stat: Any, *args: Any, **kwargs: Any) -> None:
    original(self, stat, *args, **kwargs)
    _add(self, getattr(stat, "additional", {}))


def _means(statistics: Any) -> dict[str, float]:
    additional = getattr(statistics, "additional", {})
    return {name: total / count for name, (total, count) in additional.items() if count}


@adapts("onmt.utils.statistics:Statistics", "output")
@adapts("onmt.utils.statistics:Statistics", "log_tensorboard")
def _with_additional(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    """Report our statistics as OpenNMT-py reports validation metrics."""
    metrics = self.computed_metrics
    self.computed_metrics = {**metrics, **_means(self)}
    try:
        original(self, *args, **kwargs)
    finally:
        self.computed_metrics = metrics


@adapts("onmt.utils.report_manager:ReportMgr", "_report_step")
def _report_step(
    original: Any, self: Any, *args: Any, valid_stats: Any = None, train_stats: Any = None
) -> None:
    original(self, *args, valid_stats=valid_stats, train_stats=train_stats)
    for kind, statistics in (("Train", train_stats), ("Validation", valid_stats)):
        for name, mean in _means(statistics).items():
            self.log(f"{kind} {name}: {mean:g}")
