"""What a part of a model adds to the training loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class AdditionalLoss:
    """A loss to be added to the translation's for a batch, and statistics for the reports.

    Any module of a model may have a method ``additional_loss()``. It is called after each forward pass in
    training and validation, and returns this, or None where the batch gives no such loss.

    Attributes:
        loss: scalar, summed over the batch and divided by ``normalization`` as OpenNMT-py's own loss is.
        statistics: name to (total, count). Each report shows Σ total / Σ count over all batches and
            processes since the last report.
    """

    loss: Tensor
    statistics: Mapping[str, tuple[float, float]]
