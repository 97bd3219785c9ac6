"""Our encoder in eole's models, and the source's embeddings.

Why: a source has words alone; there is no feature of a word, and an encoder sees vectors and padding. So
an id of the source holds a word and its position (:mod:`.transforms`). ``build_src_emb`` is wrapped, so that
the embeddings take both apart and hand them on.

Can go when eole reads source features and gives them to the encoder.
"""

from __future__ import annotations

from typing import Any

from eole.encoders.encoder import EncoderBase
from eole.modules.embeddings import Embeddings
from torch import Tensor, nn

from onmt_preorder.encoder import EncoderLayers
from onmt_preorder.eole.options import ENCODER
from onmt_preorder.eole.packing import unpack
from onmt_preorder.input.positions import rank_positions
from onmt_preorder.wrapping import adapts
from preorder.errors import UsageError


class PositionedEmbeddings(Embeddings):
    """Embeds words, without dropout, and hands their positions on to :class:`PreorderTransformerEncoder`."""

    def forward(self, source: Tensor, step: int | None = None) -> tuple[Tensor, Tensor]:
        """Return vectors of ids ``(batch, length)``, and their positions, -1 where there are none."""
        words, positions = unpack(source)
        return super().forward(words, step), positions

    def update_dropout(self, dropout: float) -> None:
        """Leave dropout to the encoder, which adds encodings of positions before."""


@adapts("eole.models.model", "build_src_emb")
def _build_source_embeddings(original: Any, model_config: Any, *args: Any, **kwargs: Any) -> nn.Module:
    embeddings = original(model_config, *args, **kwargs)
    if model_config.encoder.encoder_type == ENCODER:
        embeddings.update_dropout(0.0)
        embeddings.__class__ = PositionedEmbeddings
    return embeddings


class PreorderTransformerEncoder(EncoderLayers, EncoderBase):
    """Our Transformer encoder, made from eole's configuration."""

    def __init__(self, encoder_config: Any, running_config: Any = None) -> None:
        config = encoder_config.layers_with(running_config)
        super().__init__(config, None, encoder_config.explicit())
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, emb: tuple[Tensor, Tensor], pad_mask: Tensor, **_: Any) -> tuple[Tensor, None]:
        """Encode vectors and their positions; ``pad_mask (batch, 1, length)`` is True for padding."""
        embedded, given = emb
        padding = pad_mask.squeeze(1)
        has_positions = bool((given >= 0).any())
        if not has_positions and self.config.needs_positions:
            raise UsageError("the source has no positions: transforms: [preorder, …, preorder_positions]")
        has_use = has_positions and (self.config.needs_positions or self.explicit is not None)
        positions = rank_positions(given, padding) if has_use else None
        return self.transform(embedded, (~padding).sum(1), padding, positions, self.dropout), None
