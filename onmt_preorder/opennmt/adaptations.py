"""All adaptations of OpenNMT-py, applied together."""

from __future__ import annotations

from onmt_preorder.opennmt import (  # noqa: F401
    alignments,
    checkpoints,
    configuration,
    corpora,
    loading,
    models,
    server,
    training,
    translation,
)
from onmt_preorder.opennmt.repairs import attention, messages, numbers, outputs, vocabularies  # noqa: F401
from onmt_preorder.wrapping import wrap_all


def adapt() -> None:
    """Apply all adaptations; calling it again does nothing."""
    checkpoints.allow_options()
    wrap_all("onmt")
