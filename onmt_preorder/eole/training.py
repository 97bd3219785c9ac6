"""The losses that parts of a model add, in eole's trainings.

Why: eole has no place for other losses than its own. Perplexity and early stopping stay those of the
translation.

Can go when a module of a model can add a loss.
"""

from __future__ import annotations

from typing import Any

from onmt_preorder.wrapping import adapts


@adapts("eole.utils.loss:LossCompute", "from_config")
def _from_config(original: Any, cls: type, config: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    compute = original(cls, config, model, *args, **kwargs)
    compute.parts = [module for module in model.modules() if hasattr(module, "additional_loss")]
    return compute


@adapts("eole.utils.loss:LossCompute", "forward")
def _forward(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    loss, *others = original(self, *args, **kwargs)
    for part in self.parts:
        addition = part.additional_loss()
        loss = loss if addition is None else loss + addition
    return loss, *others
