"""Our transform in OpenNMT-py's pipeline."""

from __future__ import annotations

from typing import Any

from onmt.constants import CorpusName, DefaultTokens
from onmt.transforms import AVAILABLE_TRANSFORMS
from onmt.transforms.transform import Transform

from onmt_preorder.pieces import words_of_pieces
from onmt_preorder.positions import NO_POSITION

POSITIONS_TRANSFORM = "preorder_positions"
# Stands for an empty line at translation: OpenNMT-py would drop the line.
EMPTY_LINE = DefaultTokens.PAD


class PositionsTransform(Transform):
    """Gives each piece of a word the word's position. Always the last of the pipeline.

    With our encoder the host adds it by itself: no configuration need name it.
    """

    def apply(self, example: dict[str, Any], is_train: bool = False, **kwargs: Any) -> dict[str, Any]:
        """Turn the positions of ``src_original`` into positions of ``src``."""
        positions = example.get("src_feats")
        if not any(example["src"]) and self._is_translation(example, is_train, kwargs):
            example["src"] = [EMPTY_LINE]
            if positions is not None:
                example["src_feats"] = [[NO_POSITION]]
        elif positions is not None:
            example["src_feats"] = [self._of_pieces(example["src"], example["src_original"], positions[0])]
        return example

    @staticmethod
    def _of_pieces(pieces: list[str], words: list[str], positions: list[str]) -> list[str]:
        known = [str(i) if number == NO_POSITION else number for i, number in enumerate(positions)]
        return [known[word] for word in words_of_pieces(pieces, words)]

    @staticmethod
    def _is_translation(example: dict[str, Any], is_train: bool, kwargs: dict[str, Any]) -> bool:
        return not is_train and (example["tgt"] is None or kwargs.get("corpus_name") == CorpusName.INFER)

    def _repr_args(self) -> str:
        return ""


AVAILABLE_TRANSFORMS.setdefault(POSITIONS_TRANSFORM, PositionsTransform)
