"""Our transforms in eole's pipeline: ``transforms: [preorder, …, preorder_positions]``.

The first reads ``token￨position``, or preorders plain lines by a model; those between may split words; the
last gives pieces the positions of their words, and packs both into ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eole.transforms import register_transform
from eole.transforms.transform import Transform, TransformConfig
from pydantic import Field

from onmt_preorder.eole.packing import pack
from onmt_preorder.input import on_the_fly
from onmt_preorder.input.pipeline import POSITIONS_TRANSFORM, PREORDER_TRANSFORM, SOURCE_NAME
from onmt_preorder.input.positions import (
    PositionCheck,
    parse_source,
    positions_of_pieces,
    without_unknown,
)
from preorder.errors import errors_in

Example = dict[str, Any]
_WORDS, _POSITIONS = "preorder_words", "preorder_positions"  # in an example


class PreorderConfig(TransformConfig):
    """What the transform ``preorder`` needs."""

    preorder_model: str = Field("", description="Model directory of preorder train, for plain lines.")
    preorder_stanza_dir: str = Field("", description="Folder of Stanza's models, if the preorderer needs it.")


@register_transform(name=PREORDER_TRANSFORM)
class PreorderTransform(Transform):
    """Takes positions from the tokens of a source, or preorders it."""

    config_model = PreorderConfig

    def _parse_config(self) -> None:
        self._checks: dict[str, PositionCheck] = {}

    def batch_apply(self, batch: Sequence[tuple], **_: Any) -> list[tuple[Example, Any, str]]:
        """Read the lines of a bucket, and preorder those without positions together."""
        for example, _, corpus in batch:
            self._read(example, corpus)
        if model := self.config.preorder_model:
            lines, positions = ([each[key] for each, _, _ in batch] for key in (_WORDS, _POSITIONS))
            on_the_fly.put_positions(lines, positions, model, self.config.preorder_stanza_dir)
        return [(example, self, corpus) for example, _, corpus in batch]

    def _read(self, example: Example, corpus: str) -> None:
        data = getattr(self.full_config, "data", None) or {}
        file = data[corpus].path_src if corpus in data else getattr(self.full_config, "src", SOURCE_NAME)
        line = example["cid_line_number"] + 1
        with errors_in(file, line):
            words, positions = parse_source(example["src"], True)
        if words:
            check = self._checks.setdefault(corpus, PositionCheck(not self.config.preorder_model))
            check.see(positions, file, line)
            check.finish()  # at the first odd line: nothing here says which line is the last
        example |= {"src": " ".join(words), _WORDS: words, _POSITIONS: without_unknown(positions)}


@register_transform(name=POSITIONS_TRANSFORM)
class PositionsTransform(Transform):
    """Gives pieces the positions of their words; the last transform, or before filters."""

    config_model = TransformConfig

    def warm_up(self, vocabs: Any = None) -> None:
        """Take the vocabularies, which ``eole build_vocab`` has not made yet."""
        super().warm_up(vocabs)
        self.vocabs = vocabs

    def apply(self, example: Example, **_: Any) -> Example:
        """Pack the pieces of the source and their positions into ids, if there are vocabularies."""
        for side in ("src", "tgt"):
            if isinstance(example[side], str):
                example[side] = example[side].split(" ")
        if self.vocabs is None:
            return example
        pieces, words = example["src"] or [""], example[_WORDS]
        positions = positions_of_pieces(pieces, words, example[_POSITIONS]) if words else ["0"] * len(pieces)
        ids = self.vocabs["src"](pieces)
        example["src_ids"] = [
            pack(word, int(position)) for word, position in zip(ids, positions, strict=True)
        ]
        if example["tgt"] is not None:
            example["tgt_ids"] = self.vocabs["tgt"](example["tgt"])
        return example
