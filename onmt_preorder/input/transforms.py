"""Our transforms in OpenNMT-py's pipeline."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from onmt.constants import CorpusName, DefaultTokens
from onmt.transforms import AVAILABLE_TRANSFORMS
from onmt.transforms.transform import Transform

from onmt_preorder.input import on_the_fly
from onmt_preorder.input.pieces import positions_of_pieces
from onmt_preorder.input.pipeline import NEEDS_POSITIONS, POSITIONS, PREORDER
from onmt_preorder.input.positions import NO_POSITION
from onmt_preorder.transformer.options import ENCODER
from preorder.data.errors import UsageError

# Stands for an empty line at translation: OpenNMT-py would drop the line.
EMPTY_LINE = DefaultTokens.PAD

Example = dict[str, Any]


class PreorderTransform(Transform):
    """Gives the words of a line their positions by a preorderer, if the line has none.

    The configuration need not name it: ``preorder_model`` does.
    """

    @classmethod
    def add_options(cls, parser: Any) -> None:
        """Add our options to a parser of OpenNMT-py."""
        group = parser.add_argument_group("Transform/Preorder")
        group.add(
            "--preorder_model",
            "-preorder_model",
            default="",
            metavar="DIR",
            help="Model directory of `preorder train`: source lines without positions are preordered by it.",
        )
        group.add(
            "--preorder_stanza_dir",
            "-preorder_stanza_dir",
            default="",
            metavar="DIR",
            help="Where Stanza's models lie, if that model needs them.",
        )

    @classmethod
    def _validate_options(cls, opts: Namespace) -> None:
        """Check a training's options.

        Raises:
            UsageError: its model reads no positions.
        """
        if getattr(opts, "encoder_type", ENCODER) != ENCODER:  # onmt_translate asks the checkpoint, later
            raise UsageError(NEEDS_POSITIONS)

    def apply(self, example: Example, *_: Any, **__: Any) -> Example:
        """Preorder one line."""
        self._preorder([example])
        return example

    def batch_apply(
        self, batch: Sequence[tuple[Example, Any, str]], *_: Any, **__: Any
    ) -> list[tuple[Example, Any, str]]:
        """Preorder the lines of a bucket together."""
        self._preorder([example for example, _, _ in batch])
        return [(example, self, corpus) for example, _, corpus in batch]

    def _preorder(self, examples: Sequence[Example]) -> None:
        plain = [example for example in examples if _is_plain(example)]
        if not plain:
            return
        preorderer = on_the_fly.load(self.opts.preorder_model, self.opts.preorder_stanza_dir or None)
        lines = [" ".join(example["src_original"]) for example in plain]
        for example, positions in zip(plain, preorderer.positions(lines), strict=True):
            example["src_feats"] = [list(map(str, positions))]

    def _repr_args(self) -> str:
        return f"preorder_model={self.opts.preorder_model}"


def _is_plain(example: Example) -> bool:
    """Say whether a line has words, and no position of any."""
    return any(example["src_original"]) and set(example["src_feats"][0]) == {NO_POSITION}


class PositionsTransform(Transform):
    """Gives each piece of a word the word's position. Always the last of the pipeline.

    With our encoder the host adds it by itself: no configuration need name it.
    """

    def apply(self, example: Example, is_train: bool = False, **kwargs: Any) -> Example:
        """Turn the positions of ``src_original`` into positions of ``src``."""
        positions = example.get("src_feats")
        if not any(example["src"]) and self._is_translation(example, is_train, kwargs):
            example["src"] = [EMPTY_LINE]
            if positions is not None:
                example["src_feats"] = [[NO_POSITION]]
        elif positions is not None:
            example["src_feats"] = [
                positions_of_pieces(example["src"], example["src_original"], positions[0])
            ]
        return example

    @staticmethod
    def _is_translation(example: Example, is_train: bool, kwargs: dict[str, Any]) -> bool:
        return not is_train and (example["tgt"] is None or kwargs.get("corpus_name") == CorpusName.INFER)

    def _repr_args(self) -> str:
        return ""


AVAILABLE_TRANSFORMS.setdefault(PREORDER, PreorderTransform)
AVAILABLE_TRANSFORMS.setdefault(POSITIONS, PositionsTransform)
