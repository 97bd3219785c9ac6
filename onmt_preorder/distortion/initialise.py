"""How the models begin: the paper's initialisation, and a trained RNNsearch* (Zhang et al. 2017, §4.3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from onmt_preorder.options.distortion import HIDDEN, SOURCE, TARGET, DistortionOptions

DEVIATION = 0.01


def initialise(model: nn.Module) -> None:
    """Fill square matrices with random orthogonal ones, others from N(0, .01²), biases with zeros.

    A GRU's three gates are three matrices.
    """
    with torch.no_grad():
        for module in model.modules():
            gates = 3 if isinstance(module, nn.GRU | nn.GRUCell) else 1
            for parameter in module.parameters(recurse=False):
                for matrix in parameter.chunk(gates) if parameter.dim() > 1 else ():
                    _fill(matrix)
                if parameter.dim() == 1:
                    parameter.zero_()


def _fill(matrix: Tensor) -> None:
    if matrix.size(0) == matrix.size(1):
        nn.init.orthogonal_(matrix)
    else:
        nn.init.normal_(matrix, std=DEVIATION)


def add_jumps(parameters: dict[str, Tensor], options: DistortionOptions) -> None:
    """Add to the parameters of an RNNsearch* those of its jumps, as :func:`initialise` begins them.

    Args:
        parameters: of the whole model, by name.
        options: of the jumps.
    """
    # A weight that reads what the jumps will depend on.
    reader = {SOURCE: "after.weight_ih", TARGET: "before.weight_ih", HIDDEN: "before.weight_hh"}
    size = parameters[f"decoder.{reader[options.context]}"].size(1)
    jumps = nn.Linear(size, 2 * options.window + 1)
    initialise(jumps)
    parameters |= {f"decoder.jumps.{name}": tensor for name, tensor in jumps.state_dict().items()}
