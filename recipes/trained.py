"""A trained model, and the batches of a text that it would translate."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any


def load_trained(
    model: str, source: str, target: str | None = None, gpu: int = -1
) -> tuple[Any, Iterator[dict[str, Any]]]:
    """Return a checkpoint's model and the batches that ``onmt_translate`` would read, with a target's words.

    Raises:
        DataError: it is no checkpoint, or a text cannot be read.
    """
    from onmt.constants import CorpusTask
    from onmt.inference_engine import InferenceEnginePY
    from onmt.inputters.dynamic_iterator import build_dynamic_dataset_iter

    from onmt_preorder.opennmt.checkpoints import read_options
    from onmt_preorder.opennmt.translation import translation_options

    given = ["-model", model, "-src", source, *(("-tgt", target) if target else ())]
    given += ["-gpu", str(gpu), "-batch_size", "64"]
    read_options(model)  # which says whether it is a checkpoint
    opt = translation_options([*given, "-output", os.devnull])  # OpenNMT-py opens it, else pred.txt
    engine = InferenceEnginePY(opt)
    batches = build_dynamic_dataset_iter(
        opt, engine.transforms_cls, engine.vocabs, task=CorpusTask.INFER, device_id=gpu
    )
    return engine.translator.model, (batch for batch, _ in batches)
