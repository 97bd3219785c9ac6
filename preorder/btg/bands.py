"""The children of all nodes of one width, as views of charts over spans; PyTorch's tensors."""

from __future__ import annotations

from preorder.data.errors import require

torch = require("torch", "neural")


def first_children(chart: torch.Tensor, width: int) -> torch.Tensor:
    """View ``chart[:, :, b, b + 1 … b + width - 1]`` for each b: ``[batch, label, b, m - b - 1]``."""
    return _bands(chart, width, first=1)


def second_children(chart: torch.Tensor, width: int) -> torch.Tensor:
    """View ``chart[:, :, e, e - width + 1 … e - 1]`` for each e = b + width, in the same shape."""
    return _bands(chart, width, first=width * chart.shape[-1] + 1)


def _bands(chart: torch.Tensor, width: int, first: int) -> torch.Tensor:
    size = chart.shape[-1]
    shape = (*chart.shape[:2], size - width, width - 1)
    strides = (*chart.stride()[:2], size + 1, 1)
    return chart.as_strided(shape, strides, chart.storage_offset() + first)
