"""Every adaptation of OpenNMT-py 3.5.1, each with why and when it can go.

All are wrappers around OpenNMT-py's own functions, each marked by ``adapts``; nothing is copied or
rewritten. They act only where ``encoder_type`` or ``decoder_type`` is ours, or where OpenNMT-py fails:
other models train and translate as before.

**The way of an option.** A module ``options`` of ``transformer`` or ``papers`` adds it,
`onmt_preorder.options` collects them, `configuration` adds them to OpenNMT-py's parsers, reads files and
command line, and checks the values, for a training also against ``train_from`` (`checkpoints`). `models`
builds the model from them, and the checkpoint keeps them. `loading` takes them, and those of the transforms,
from the checkpoint for a translation.
"""

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
from onmt_preorder.opennmt.wrapping import wrap_all


def adapt() -> None:
    """Apply all adaptations; calling it again does nothing."""
    checkpoints.allow_options()
    wrap_all()
