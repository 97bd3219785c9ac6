"""Our transforms in OpenNMT-py's pipeline.

Why: OpenNMT-py cannot preorder a line; its ``inferfeats`` repeats a word's feature on each piece, but
misjudges pieces where the data holds joiners, lone spacers or ``@@``; and it drops empty lines. Its
``onmt_tokenize`` splits words at random (BPE dropout) in validation, too.

Can go when OpenNMT-py knows which word each piece comes from and keeps empty lines. Preordering stays.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import Any

from onmt.constants import CorpusName, DefaultTokens
from onmt.transforms import AVAILABLE_TRANSFORMS
from onmt.transforms.transform import Transform

from onmt_preorder.input import on_the_fly
from onmt_preorder.input.pipeline import (
    DETOKENIZE_TRANSFORM,
    NEEDS_POSITIONS,
    POSITIONS_TRANSFORM,
    PREORDER_TRANSFORM,
)
from onmt_preorder.input.positions import NO_POSITION, positions_of_pieces
from onmt_preorder.input.raw_text import make_detokenizer
from onmt_preorder.opennmt.alignments import put_on_pieces
from onmt_preorder.opennmt.options.transformer import ENCODER, READERS
from onmt_preorder.wrapping import adapts
from preorder.data.formats import unescape_token
from preorder.errors import UsageError

# Stands for an empty line at translation: OpenNMT-py would drop the line.
EMPTY_LINE = DefaultTokens.PAD

Example = dict[str, Any]


class PreorderTransform(Transform):
    """Preorders lines without positions; added to the configuration where it gives ``preorder_model``."""

    @classmethod
    def add_options(cls, parser: Any) -> None:
        """Add our options to a parser of OpenNMT-py."""
        group = parser.add_argument_group("Transform/Preorder")
        what = "Model directory of `preorder train`: it preorders source lines without positions."
        group.add("--preorder_model", "-preorder_model", default="", metavar="DIR", help=what)
        what = "Folder of Stanza's models, if the preorderer needs them (default: that of its training)."
        group.add("--preorder_stanza_dir", "-preorder_stanza_dir", default="", metavar="DIR", help=what)

    @classmethod
    def _validate_options(cls, opts: Namespace) -> None:
        """Refuse by a ``UsageError`` a model that reads no positions."""
        if getattr(opts, "encoder_type", ENCODER) not in READERS:  # onmt_translate asks the checkpoint, later
            raise UsageError(NEEDS_POSITIONS)

    def batch_apply(self, batch: Sequence[tuple], **_: Any) -> list[tuple[Example, Any, str]]:
        """Preorder the lines of a bucket together."""
        lines = [example["src_original"] for example, _, _ in batch]
        positions = [example["src_feats"][0] for example, _, _ in batch]
        model = self.opts.preorder_model, self.opts.preorder_stanza_dir
        on_the_fly.put_positions(lines, positions, *model)
        return [(example, self, corpus) for example, _, corpus in batch]


class PositionsTransform(Transform):
    """Gives pieces the positions and links of their words; the last transform of every model of ours.

    In a translation, whose pieces are words again by then, it undoes the escapes of :mod:`.corpora`.
    """

    def apply(self, example: Example, is_train: bool = False, **kwargs: Any) -> Example:
        """Turn the positions of ``src_original`` into positions of ``src``, and links likewise."""
        positions = example.get("src_feats")
        translates = example["tgt"] is None or kwargs.get("corpus_name") == CorpusName.INFER
        if not any(example["src"]) or not any(example["src_original"]):  # empty, but for a prefix
            is_kept = translates and not is_train  # else OpenNMT-py leaves the pair out
            example["src"] = [EMPTY_LINE if is_kept else ""]
            if positions is not None:
                example["src_feats"] = [[NO_POSITION if is_kept else ""]] * len(positions)
        elif positions is not None:
            pieces, words = example["src"], example["src_original"]
            example["src_feats"] = [positions_of_pieces(pieces, words, each) for each in positions]
        if "align" in example:
            put_on_pieces(example)
        return example

    def apply_reverse(self, translated: str) -> str:
        """Return a translation with the characters that its words stand for."""
        return unescape_token(translated)


class DetokenizeTransform(Transform):
    """Joins the tokens of translations to raw text; added as the very last where ``detokenize`` is given."""

    def warm_up(self, vocabs: Any = None) -> None:
        """Load the rules of the language."""
        super().warm_up(vocabs)
        self._join = make_detokenizer(self.opts.detokenize)

    def apply(self, example: Example, *_: Any, **__: Any) -> Example:
        """Leave the source as it is."""
        return example

    def apply_reverse(self, translated: str) -> str:
        """Join the tokens of a translation."""
        return self._join(translated)


@adapts("onmt.transforms.tokenize:ONMTTokenizerTransform", "tokenize_string")
def _split(original: Any, self: Any, sentence: str, side: str = "src", is_train: bool = False) -> Any:
    tokenizers = {name: partial(each, training=is_train) for name, each in self.load_models.items()}
    return original(Namespace(**{**vars(self), "load_models": tokenizers}), sentence, side, is_train)


AVAILABLE_TRANSFORMS.setdefault(PREORDER_TRANSFORM, PreorderTransform)
AVAILABLE_TRANSFORMS.setdefault(POSITIONS_TRANSFORM, PositionsTransform)
AVAILABLE_TRANSFORMS.setdefault(DETOKENIZE_TRANSFORM, DetokenizeTransform)
