"""Which checkpoint the validation liked best: noted in each of them, and said at the end of a training.

A training that is interrupted, by Ctrl-C, SIGTERM or SIGHUP, says which checkpoint it leaves.

Why: OpenNMT-py saves checkpoints without a word on how good they are. Which is to be translated with, one
must gather from the log: the last is it only by chance.

Can go when its checkpoints hold their validation scores.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from onmt_preorder.checkpoint_choice import by_perplexity, paths
from onmt_preorder.opennmt.checkpoints import read_options
from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.options import is_ours
from preorder.errors import DataError
from preorder.processes import interruptible

_NOTE = "validation_perplexity"  # in the options that a checkpoint holds
_FOUND = "validation_perplexities"  # in a model saver: of each step, since the training began


def best(model: str) -> tuple[Path, int, float]:
    """Return the path, the step and the validation perplexity of the best checkpoint that is there.

    Args:
        model: what ``save_model`` said.

    Raises:
        DataError: there is none that was saved right after a validation, or one cannot be read.
    """
    checkpoints = paths(Path(model))
    if not checkpoints:
        raise DataError("there is no checkpoint MODEL_step_N.pt of this training", model)
    noted = {step: getattr(read_options(str(path)), _NOTE, None) for step, path in checkpoints.items()}
    found = {step: perplexity for step, perplexity in noted.items() if perplexity is not None}
    for step, perplexity in by_perplexity(found):
        return checkpoints[step], step, perplexity
    reason = "no checkpoint of ours was saved right after a validation that gave a number: "
    raise DataError(f"{reason}save_checkpoint_steps has to be a multiple of valid_steps", model)


@adapts("onmt.trainer:Trainer", "_report_step")
def _report_step(original: Any, self: Any, learning_rate: float, step: int, **statistics: Any) -> None:
    validation = statistics.get("valid_stats")
    if validation is not None and not validation.n_words:
        raise DataError("validation: no sentence pair is left by the transforms, or can be made by the model")
    original(self, learning_rate, step, **statistics)
    if validation is not None and self.model_saver is not None:
        vars(self.model_saver).setdefault(_FOUND, {})[step] = validation.ppl()


@adapts("onmt.models.model_saver:ModelSaverBase", "save")
def _save(original: Any, self: Any, step: int, *args: Any, **kwargs: Any) -> None:
    if is_ours(self.model_opt):
        perplexity = getattr(self, _FOUND, {}).get(step, math.nan)
        # None instead of the value of the checkpoint that the training has begun from.
        setattr(self.model_opt, _NOTE, perplexity if math.isfinite(perplexity) else None)
    original(self, step, *args, **kwargs)


@adapts("onmt.trainer:Trainer", "train")
def _train(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    from onmt.utils.logging import logger

    saver = self.model_saver
    if saver is None or not is_ours(saver.model_opt):
        return original(self, *args, **kwargs)
    try:
        with interruptible():
            result = original(self, *args, **kwargs)
    except KeyboardInterrupt:
        saved = f"the last checkpoint is of step {saver.last_saved_step}"
        found = saved if saver.last_saved_step else "no checkpoint has been saved"
        logger.warning(f"interrupted in step {self.optim.training_step}: {found}")
        raise
    if getattr(saver, _FOUND, None):
        try:
            path, step, perplexity = best(saver.base_path)
        except DataError as error:
            logger.info(f"Best checkpoint: {error.reason}")
        else:
            logger.info(f"Best checkpoint: step {step}, validation perplexity {perplexity:.6g}: {path}")
    return result
