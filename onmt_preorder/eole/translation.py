"""Translations by eole's own search: what it shows of a source are words.

Why: ``replace_unk``, ``verbose`` and ``attn_debug`` read the source's ids, which hold positions, too.

Can go when eole reads source features.
"""

from __future__ import annotations

from typing import Any

from onmt_preorder.eole.packing import unpack
from onmt_preorder.wrapping import adapts


@adapts("eole.predict.prediction:PredictionBuilder", "from_batch")
def _from_batch(original: Any, self: Any, prediction_batch: dict[str, Any]) -> list[Any]:
    batch = prediction_batch["batch"]
    return original(self, {**prediction_batch, "batch": {**batch, "src": unpack(batch["src"])[0]}})
