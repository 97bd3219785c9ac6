"""Scores of translations in validation (``valid_metrics``): each is compared with its own reference.

Why: OpenNMT-py leaves empty references out, but not their translations, so that after the first of them each
translation is compared with the next reference; and so after one that a transform has left out.

Can go when it reads its references from the batches.
"""

from __future__ import annotations

from typing import Any

from onmt_preorder.opennmt.wrapping import adapts
from preorder.errors import DataError
from preorder.io.files import read_lines


@adapts("onmt.utils.scoring_utils:ScoringPreparator", "translate")
def _translate(original: Any, self: Any, *args: Any, **kwargs: Any) -> tuple[list[str], list[str]]:
    translations, _ = original(self, *args, **kwargs)
    path = self.opt.data["valid"]["path_tgt"]
    references = list(read_lines(path))
    if len(translations) != len(references):
        reason = f"valid_metrics: of {len(references)} lines {len(translations)} are translated"
        raise DataError(f"{reason}: others have an empty source, or a transform leaves them out", path)
    return translations, references
