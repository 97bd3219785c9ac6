"""What a part of a model adds to the training loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class AdditionalLoss:
    """A batch's loss beside that of the translation, and the statistics of it that reports show.

    Any module of a model with a method ``additional_loss()`` takes part. The method is called
    after each forward pass in training and validation, and returns this class, or None where the
    batch has no such loss.

    Attributes:
        loss: scalar, summed over the batch as OpenNMT-py's own loss is: both are divided by
            the same ``normalization`` and accumulated alike.
        statistics: name to (total, count). Reports show Σ total / Σ count over all batches,
            accumulated batches and processes since the last.
    """

    loss: Tensor
    statistics: Mapping[str, tuple[float, float]] = field(default_factory=dict)
