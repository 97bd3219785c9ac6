"""A learning rate of their own for some of a model's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.nn import Parameter
from torch.optim import Optimizer

FACTOR = "rate_factor"


def multiply_rate(optimizer: Optimizer, parameters: Sequence[Parameter], factor: float) -> None:
    """Put some of an optimiser's parameters into a group that learns at a multiple of the rate of the others.

    OpenNMT-py gives all groups the same rate before each step; so the rate is multiplied at the step itself.
    It also clips the gradient of each group by itself. Parameters that the optimiser does not have, which are
    frozen, stay out.
    """
    if not any(FACTOR in group for group in optimizer.param_groups):
        optimizer.register_step_pre_hook(_multiply)
    chosen, own = set(map(id, parameters)), []
    for group in optimizer.param_groups:
        own += [parameter for parameter in group["params"] if id(parameter) in chosen]
        group["params"] = [parameter for parameter in group["params"] if id(parameter) not in chosen]
    optimizer.add_param_group({"params": own, FACTOR: factor})


def _multiply(optimizer: Optimizer, *_: Any) -> None:
    for group in optimizer.param_groups:
        group["lr"] *= group.get(FACTOR, 1.0)
