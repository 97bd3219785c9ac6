"""The paper's initialisation, and the start from a trained RNNsearch* (Zhang et al. 2017, §4.3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from onmt_preorder.papers.distortion.options import HIDDEN, SOURCE, TARGET, DistortionOptions


def initialise(model: nn.Module, deviation: float) -> None:
    """Make square matrices orthogonal, draw others from N(0, deviation²), set biases to zero.

    A GRU's three gates count as three matrices. The paper's deviation of .01 suits its sizes: with states
    a tenth as large the signal is lost, and little is learnt.
    """
    with torch.no_grad():
        for module in model.modules():
            gates = 3 if isinstance(module, nn.GRU | nn.GRUCell) else 1
            for parameter in module.parameters(recurse=False):
                if parameter.dim() == 1:
                    parameter.zero_()
                    continue
                for matrix in parameter.chunk(gates):
                    if matrix.size(0) == matrix.size(1):
                        nn.init.orthogonal_(matrix)
                    else:
                        nn.init.normal_(matrix, std=deviation)


def add_jumps(parameters: dict[str, Tensor], options: DistortionOptions, deviation: float) -> None:
    """Add the parameters of jumps to a whole RNNsearch*'s, by name, with the values of :func:`initialise`."""
    # A weight that reads what the jumps will depend on.
    reader = {SOURCE: "after.weight_ih", TARGET: "before.weight_ih", HIDDEN: "before.weight_hh"}
    size = parameters[f"decoder.{reader[options.context]}"].size(1)
    jumps = nn.Linear(size, 2 * options.window + 1)
    initialise(jumps, deviation)
    parameters |= {f"decoder.jumps.{name}": tensor for name, tensor in jumps.state_dict().items()}
