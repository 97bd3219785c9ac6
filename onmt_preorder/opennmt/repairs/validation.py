"""The references of dev lines whose translations are scored (``valid_metrics``).

Why: OpenNMT-py takes those that are not blank, but translates blank lines, too, and not those that a
transform leaves out: one of them moves each later reference to another translation.

Can go when it takes references from the examples that it translates.
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
        raise DataError(f"valid_metrics: transforms leave {len(translations)} lines: take out the rest", path)
    return translations, references
