"""Losses that parts of the model bring, and their figures in the reports.

Why: OpenNMT-py computes its loss from the decoder's output alone, one output a target word, and
its statistics keep no averages but their own. Parts add a loss by ``additional_loss``; a decoder
whose translation has another loss than the cross entropy brings it by ``translation_loss``.

Perplexity and accuracy, and so early stopping, stay those of the translation.

Can go when a model can return losses and statistics of its own.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.additional_loss import AdditionalLoss
from onmt_preorder.opennmt.wrapping import wrap


def adapt() -> None:
    """Add the losses and report their figures."""
    from onmt.utils.loss import LossCompute
    from onmt.utils.report_manager import ReportMgr
    from onmt.utils.statistics import Statistics

    wrap(LossCompute, "from_opts", _from_opts)
    wrap(LossCompute, "forward", _forward)
    wrap(Statistics, "update", _update)
    for name in ("output", "log_tensorboard"):
        wrap(Statistics, name, _with_figures)
    wrap(ReportMgr, "_report_step", _report_step)


def _from_opts(original: Any, cls: type, opt: Namespace, model: Any, *args: Any, **kwargs: Any) -> Any:
    compute = original(cls, opt, model, *args, **kwargs)
    compute.parts = [module for module in model.modules() if hasattr(module, "additional_loss")]
    decoder = getattr(model, "decoder", None)
    compute.translation_loss = getattr(decoder, "translation_loss", None)
    return compute


def _forward(
    original: Any, self: Any, batch: Any, output: Any, attns: Any, trunc_start: int = 0, **kwargs: Any
) -> Any:
    own = getattr(self, "translation_loss", None)
    if own is None:
        loss, statistics = original(self, batch, output, attns, trunc_start=trunc_start, **kwargs)
    else:
        loss, statistics = own(self.generator, self.vocab, batch, output)
    # With truncated_decoder the encoder runs again for each piece of the target.
    for part in getattr(self, "parts", []) if trunc_start == 0 else []:
        addition: AdditionalLoss | None = part.additional_loss()
        if addition is not None:
            loss = loss + addition.loss
            _add(statistics, addition.statistics)
    return loss, statistics


def _add(statistics: Any, figures: Any) -> None:
    sums = vars(statistics).setdefault("figures", {})
    for name, (total, count) in figures.items():
        before = sums.get(name, (0, 0))
        sums[name] = before[0] + total, before[1] + count


def _update(original: Any, self: Any, stat: Any, *args: Any, **kwargs: Any) -> None:
    original(self, stat, *args, **kwargs)
    _add(self, getattr(stat, "figures", {}))


def _means(statistics: Any) -> dict[str, float]:
    figures = getattr(statistics, "figures", {})
    return {name: total / count for name, (total, count) in figures.items() if count}


def _with_figures(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    """Report the figures as OpenNMT-py reports validation metrics."""
    metrics = self.computed_metrics
    self.computed_metrics = {**metrics, **_means(self)}
    try:
        original(self, *args, **kwargs)
    finally:
        self.computed_metrics = metrics


def _report_step(
    original: Any,
    self: Any,
    *args: Any,
    valid_stats: Any = None,
    train_stats: Any = None,
) -> None:
    original(self, *args, valid_stats=valid_stats, train_stats=train_stats)
    for kind, statistics in (("Train", train_stats), ("Validation", valid_stats)):
        for name, mean in _means(statistics).items():
            self.log(f"{kind} {name}: {mean:g}")
