"""Training: the optimiser, losses that parts of a model add, memory on CPUs.

Why: OpenNMT-py has no options for AdaDelta, no rates of their own for some parameters, and no place for
other losses than the cross entropy of the decoder's output. It clips the gradients of each group of
parameters by their own norm. Here any module of a model adds a loss by its method ``additional_loss()``,
called after each forward pass, which returns a sum over the batch, or None; and ``decoder_type: swan``
computes its own. Perplexity and early stopping stay those of the translation. On CPUs the cross entropy is
computed a block of tokens at a time, in half of the time.

The GNU C library returns each large block to the system when it is freed, and the system fills each new one
with zeros: a quarter of the time of training small models on a CPU. Trainings of our models keep what they
free, others where the environment variable :data:`KEEP_MEMORY` is 1, as the recipes set it for baselines.

Can go when OpenNMT-py has these options, losses and rates, and torch an allocator for CPUs that keeps memory.
"""

from __future__ import annotations

import ctypes
import os
from argparse import Namespace
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import Parameter
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from onmt_preorder.cpu.cross_entropy import linear_cross_entropy
from onmt_preorder.opennmt.options import is_ours, npmt
from onmt_preorder.wrapping import adapts
from preorder.io.files import read_lines

if TYPE_CHECKING:
    from onmt.utils.statistics import Statistics

KEEP_MEMORY = "ONMT_PREORDER_KEEP_MEMORY"

_FACTOR = "rate_factor"
# Part of the names of parameters, and the option that is a multiple of the others' learning rate.
_OWN_RATES = {
    "decoder.jumps.": "distortion_rate_factor",
    "local_reordering.weight": "local_reordering_rate_factor",
}
# From <malloc.h>: parameters of mallopt(3).
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
_MAX_THRESHOLD, _STEP = 2**31 - 1, 2**26  # bytes

# --- optimiser ---


@adapts("onmt.utils.optimizers", "build_torch_optimizer")
def _build_optimizer(original: Any, model: Any, opt: Namespace) -> Any:
    optimizer = original(model, opt)
    for part, option in _OWN_RATES.items():
        own = [each for name, each in model.named_parameters() if part in name and each.requires_grad]
        if own and getattr(opt, option) != 1:
            _multiply_rate(optimizer, own, getattr(opt, option))
    if opt.optim == "adam" and is_ours(opt):
        for group in optimizer.param_groups:
            group["fused"] = True  # one pass over all numbers of a parameter, where there were ten
    if opt.optim == "adadelta" and hasattr(opt, "adadelta_rho"):  # not in other programs' checkpoints
        for group in optimizer.param_groups:
            group |= {"rho": opt.adadelta_rho, "eps": opt.adadelta_eps}
    return optimizer


def _multiply_rate(optimizer: Optimizer, parameters: list[Parameter], factor: float) -> None:
    """Put some of an optimiser's parameters into a group that learns at a multiple of the rate of the others.

    OpenNMT-py gives all groups the same rate before each step, so it is multiplied at the step itself.
    """
    if not any(_FACTOR in group for group in optimizer.param_groups):
        optimizer.register_step_pre_hook(_multiply)
    chosen = set(map(id, parameters))
    for group in optimizer.param_groups:
        group["params"] = [parameter for parameter in group["params"] if id(parameter) not in chosen]
    optimizer.add_param_group({"params": parameters, _FACTOR: factor})


def _multiply(optimizer: Optimizer, *_: Any) -> None:
    for group in optimizer.param_groups:
        group["lr"] *= group.get(_FACTOR, 1.0)


@adapts("onmt.utils.optimizers:Optimizer", "step")
def _step(original: Any, self: Any) -> None:
    """Clip the gradients by their common norm where some have a rate of their own."""
    groups = self._optimizer.param_groups
    if any(_FACTOR in group for group in groups) and self._max_grad_norm > 0:
        scale = self._scaler.get_scale() if self.amp else 1.0  # of the gradients, until the step itself
        clip_grad_norm_([each for group in groups for each in group["params"]], self._max_grad_norm * scale)
    original(self)


# --- loss ---


@adapts("onmt.utils.loss:LossCompute", "from_opts")
def _from_opts(original: Any, cls: type, opt: Namespace, model: Any, *args: Any, **kwargs: Any) -> Any:
    compute = original(cls, opt, model, *args, **kwargs)
    compute.parts = [module for module in model.modules() if hasattr(module, "additional_loss")]
    decoder = getattr(model, "decoder", None)  # whose own loss takes the place of the cross entropy
    compute.segment_decoder = decoder if opt.decoder_type == npmt.DECODER else None
    compute.precision = None  # of the loss in blocks: of a cross entropy behind a linear layer alone
    others = opt.copy_attn, opt.lambda_align, opt.lambda_coverage, opt.lm_prior_model
    kinds = type(compute.generator) is nn.Linear, type(compute.criterion) is nn.CrossEntropyLoss
    if is_ours(opt) and compute.segment_decoder is None and all(kinds) and not any(others):
        compute.precision = torch.bfloat16 if opt.bfloat16 else torch.float32
    return compute


@adapts("onmt.utils.loss:LossCompute", "forward")
def _forward(original: Any, self: Any, batch: Any, output: Any, attns: Any, *args: Any, **named: Any) -> Any:
    if attns.get("align") is not None:  # of the source's words alone: an encoder may add its end
        attns["align"] = attns["align"][..., : batch["src"].size(1)]
    if self.segment_decoder is not None:
        from onmt_preorder.opennmt.segments import translation_loss

        loss, statistics = translation_loss(self.segment_decoder, self.generator, self.vocab, batch, output)
    elif self.precision is not None and output.device.type == "cpu":
        loss, statistics = _in_blocks(self, batch, output)
    else:
        loss, statistics = original(self, batch, output, attns, *args, **named)
    for part in self.parts:
        addition = part.additional_loss()
        loss = loss if addition is None else loss + addition
    return loss, statistics


@adapts("onmt.utils.scoring_utils", "codecs.open")
def _open(original: Any, path: str, mode: str, *args: Any, **kwargs: Any) -> Any:
    """Read the dev files as those of a training are read: they may be compressed."""
    return nullcontext(read_lines(path)) if mode == "r" else original(path, mode, *args, **kwargs)


@adapts("onmt.utils.scoring_utils:ScoringPreparator", "translate")
def _translate(original: Any, self: Any, *args: Any, **kwargs: Any) -> tuple[list[str], list[str]]:
    """Return the translations of dev lines and their references, of which OpenNMT-py skips blank ones."""
    translations, references = original(self, *args, **kwargs)
    if is_ours(self.opt):  # which translates blank lines, too
        references = list(read_lines(self.opt.data["valid"]["path_tgt"]))
    return translations, references


def _in_blocks(compute: Any, batch: Any, output: Tensor) -> tuple[Tensor, Statistics]:
    """Return the loss and the statistics of ``output [b, n, d]``, one state for each word of the target."""
    from onmt.utils.statistics import Statistics

    targets = batch["tgt"][:, 1:, 0].flatten()
    goal = targets, compute.padding_idx, compute.criterion.label_smoothing
    states = output.flatten(0, 1)
    loss, correct = linear_cross_entropy(states, compute.generator, *goal, compute.precision)
    words = int((targets != compute.padding_idx).sum())
    return loss, Statistics(loss.item(), 1, len(batch["srclen"]), words, correct)


# --- memory ---


def keep_freed_memory() -> bool:
    """Make this process keep the memory that it frees; return False where the C library is not GNU's."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    settings = (_MMAP_MAX, 0), (_TRIM_THRESHOLD, _MAX_THRESHOLD), (_TOP_PAD, _STEP)
    return all(mallopt(parameter, value) == 1 for parameter, value in settings)


@adapts("onmt.train_single", "configure_process")
def _configure_process(original: Any, opt: Namespace, device_id: int) -> Any:
    if device_id < 0 and (is_ours(opt) or os.environ.get(KEEP_MEMORY) == "1"):
        keep_freed_memory()
    return original(opt, device_id)
