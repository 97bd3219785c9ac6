"""Every adaptation of OpenNMT-py 3.5.1, each with why and when it can go.

All are wrappers around OpenNMT-py's own functions, each marked by ``adapts``; nothing is copied or
rewritten. They act only where ``encoder_type`` or ``decoder_type`` is ours, or where OpenNMT-py fails:
other models train and translate as before.

| Module | Adapts |
|---|---|
| alignments | a file of alignments beside the translations |
| checkpoints | loading under torch >= 2.6; safetensors; `train_from`: options compared, data options kept |
| configuration | our options, strict YAML keys, the checks of options |
| corpora | reading of the source, its position feature, batches, the feature vocabulary |
| guided_alignment | links that guide attention: none in a line, confidences, past the end, of pieces |
| loading | models that translate: their features and transforms, each member of an ensemble its own |
| losses | losses that parts of the model add, and their statistics in the reports; the loss in blocks |
| memory | training on CPUs keeps the memory of freed tensors: a quarter less time |
| messages | errors that a user can mend: one line and exit status 2 |
| models | building our encoder and local reordering |
| numbers | numbers that no training or translation can work with |
| outputs | translations and checkpoints: whole or not at all |
| precision | `bfloat16`: products of matrices in bfloat16, in training |
| requests | what the translation server accepts and from where; its errors as JSON |
| server | the translation server: transforms, positions, preordering of requests |
| training | initial values, dropout, optimiser; `use_ckpting` under torch newer than 2.4 |
| transforms | preordering of lines, positions of pieces, detokenising; registered when imported |
| translation | empty and long lines keep their output line; scores; raw text in and out |
| validation | the best checkpoint: noted in each, said at the end |
| validation_scores | `valid_metrics`: each translation beside its own reference |
| vocabularies | vocabularies and samples: whole or not at all; checked when they are read |

The server and the command ``onmt_preorder`` translate by :mod:`onmt_preorder.opennmt.line_translator`.
"""

from onmt_preorder.opennmt import (  # noqa: F401
    alignments,
    checkpoints,
    configuration,
    corpora,
    guided_alignment,
    loading,
    losses,
    memory,
    messages,
    models,
    numbers,
    outputs,
    precision,
    requests,
    server,
    training,
    translation,
    validation,
    validation_scores,
    vocabularies,
)
from onmt_preorder.opennmt.wrapping import wrap_all


def adapt() -> None:
    """Apply all adaptations; calling it again does nothing."""
    checkpoints.allow_options()
    messages.show_errors_in_one_line()
    wrap_all()
