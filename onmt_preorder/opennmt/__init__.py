"""Every adaptation of OpenNMT-py 3.5.1, each with why and when it can go.

All are wrappers around OpenNMT-py's own functions; nothing is copied or rewritten. They act
only where ``encoder_type`` or ``decoder_type`` is ours, or where OpenNMT-py fails: other
models train and translate as before.

| Module | Adapts |
|---|---|
| checkpoints | loading under torch >= 2.6; safetensors |
| configuration | our options, strict YAML keys, the checks of options |
| corpora | reading of the source, its position feature, batches, the feature vocabulary |
| memory | training on CPUs keeps the memory of freed tensors: a quarter less time |
| models | building our encoder; options that translation takes from the checkpoint |
| losses | losses that parts of the model add, and their statistics in the reports |
| training | initialisation and optimiser of the distortion models |
| resuming | `train_from`: options compared, data options of the latest run kept |
| translation | empty and long lines keep their output line; scores |
| alignments | a file of alignments beside the translations |
| recomputing | `use_ckpting` under torch newer than 2.4 |
| transforms | preordering of lines, positions of pieces; registered when imported |
| server | the translation server: transforms, positions, preordering of requests |
| messages | errors that a user can mend: one line and exit status 2 |

The server and the command ``onmt_preorder`` translate by :mod:`onmt_preorder.opennmt.line_translator`.
"""

from onmt_preorder.opennmt import (
    alignments,
    checkpoints,
    configuration,
    corpora,
    losses,
    memory,
    messages,
    models,
    recomputing,
    resuming,
    server,
    training,
    translation,
)

_MODULES = (
    messages,
    memory,
    recomputing,
    checkpoints,
    configuration,
    corpora,
    models,
    losses,
    training,
    resuming,
    translation,
    alignments,
    server,
)


def adapt() -> None:
    """Apply all adaptations; calling it again does nothing."""
    for module in _MODULES:
        module.adapt()
