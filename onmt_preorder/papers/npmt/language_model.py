"""An n-gram language model of the target, by KenLM (Heafield 2011), as a term of the beam's score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from preorder.errors import DataError, require

_NATURAL = math.log(10)


def load(path: str) -> Any:
    """Load an ARPA or binary file."""
    kenlm = require("kenlm", "lm")
    if not Path(path).is_file():
        raise DataError("no such file", path)
    config = kenlm.Config()
    config.show_progress = False
    try:
        return kenlm.Model(path, config)
    except OSError as error:
        reason = str(error).splitlines()[0].rpartition(" threw ")[2]
        raise DataError(f"not a language model: {reason}", path) from None


class NgramFluency:
    """Scores the beginnings that the beams of ``batch`` sentences keep: one state each, one look-up a word.

    ``weight`` is λ2; ``tokens`` has the word of each id.
    """

    def __init__(self, model: Any, weight: float, tokens: Sequence[str], batch: int) -> None:
        import kenlm

        self._new_state = kenlm.State
        self.model, self.weight, self.tokens = model, weight * _NATURAL, tokens
        self.nothing = kenlm.State()
        model.BeginSentenceWrite(self.nothing)
        self.kept = [[self.nothing] for _ in range(batch)]
        self.grown: list[dict[int, Any]] = [{} for _ in range(batch)]

    def extend(self, sentence: int, grown: Mapping[int, tuple[int, Sequence[int]]]) -> dict[int, float]:
        """Return ``λ2 log p_lm`` of segments after beginnings of a sentence, an index in the batch.

        ``grown`` maps a candidate's index to (index of the kept beginning, the segment's words).
        """
        scores = {}
        for index, (parent, words) in grown.items():
            state, scores[index] = self.kept[sentence][parent], 0.0
            for word in words:
                after = self._new_state()
                scores[index] += self.weight * self.model.BaseScore(state, self.tokens[word], after)
                state = after
            self.grown[sentence][index] = state
        return scores

    def keep(self, sentence: int, chosen: Sequence[int]) -> None:
        """Keep the candidates of these indices, as given to :meth:`extend`, and forget the others."""
        self.kept[sentence] = [self.grown[sentence].get(index, self.nothing) for index in chosen]
        self.grown[sentence] = {}

    def end(self, sentence: int) -> list[float]:
        """Return ``λ2 log p_lm`` of the sentence's end after each kept beginning."""
        after = self._new_state()
        return [self.weight * self.model.BaseScore(state, "</s>", after) for state in self.kept[sentence]]
