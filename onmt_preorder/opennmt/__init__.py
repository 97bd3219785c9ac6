"""Whatever is bound to OpenNMT-py 3.5.1, in six jobs; a second host would have a folder like this one.

========== =============================================================================================
register   `registration` (with `stand_ins`, `wrapping`): our names in OpenNMT-py's tables
options    `options`, `configuration`: added to its parsers, read from files, checked, made configurations
position   `encoders`: the source feature becomes positions; `models`, `decoders`: models are built
loss       `training`, `segments`: losses of our own, optimisers, memory
batches    `corpora`, `transforms`, `alignments`: lines with positions become batches
search     `translation`, `loading`, `segments`, `server`: checkpoints translate
========== =============================================================================================

`checkpoints` reads and resumes what trainings have saved; `repairs` is what fails with any model.

All adaptations are wrappers around OpenNMT-py's own functions, each marked by ``adapts``, each file with why
and when it can go; nothing is copied or rewritten. They act only where ``encoder_type`` or ``decoder_type``
is ours, or where OpenNMT-py fails: other models train and translate as before.

**The way of an option.** A module of `options` adds it, `configuration` reads files and command line, and
checks the values, for a training also against ``train_from`` (`checkpoints`). `encoders` and `decoders` make
frozen configurations of them, from which layers are built, and the checkpoint keeps them. `loading` takes
them, and those of the transforms, from the checkpoint for a translation.
"""
