"""A Transformer encoder that reads, or learns, each token's position in the target's order."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from onmt_preorder.input.positions import rank_positions
from onmt_preorder.papers.explicit_reordering import (
    ExplicitConfig,
    ExplicitReordering,
    ReorderingFusion,
)
from onmt_preorder.transformer.attention import Positions
from onmt_preorder.transformer.config import EncoderConfig
from onmt_preorder.transformer.encodings import PREORDERED
from onmt_preorder.transformer.layers import EncoderLayer
from onmt_preorder.transformer.self_attention import SourceBatch


class EncoderLayers(nn.Module):
    """The layers, with the papers' ideas in their slots; ``embeddings`` make vectors of words.

    ``make_block`` makes what a layer has after its attention. The weights are to be initialised by whoever
    builds the model.
    """

    def __init__(
        self,
        config: EncoderConfig,
        embeddings: nn.Module | None,
        explicit: ExplicitConfig | None = None,
        make_block: Callable[[], nn.Module | None] = lambda: None,
    ) -> None:
        super().__init__()
        self.config, self.explicit, self.embeddings = config, explicit, embeddings
        self.transformer = nn.ModuleList(
            EncoderLayer(
                config,
                after_attention=make_block(),
                after_layer=explicit and ExplicitReordering(config.hidden_size, explicit),
            )
            for _ in range(config.layers)
        )
        self.fusion = ReorderingFusion(config.hidden_size) if explicit and explicit.has_fusion else None
        self.layer_norm = config.make_last_norm()

    def source(self, lengths: Tensor, padding: Tensor, preordered: Tensor | None) -> SourceBatch:
        """Return what the layers know of a batch: its padding and positions, ``(batch, length)``."""
        original = torch.arange(padding.size(1), device=padding.device).unsqueeze(0)
        positions = None if preordered is None else Positions(preordered)
        return SourceBatch(padding, lengths, Positions(original), positions)

    def embed(self, embedded: Tensor, source: SourceBatch) -> Tensor:
        """Encode positions in the embeddings of a batch, before their dropout."""
        for encoding in self.config.encodings:
            embedded = encoding.embed(embedded, source.positions(encoding))
        return embedded

    def encode(self, states: Tensor, source: SourceBatch) -> tuple[Tensor, Tensor | None]:
        """Map embedded tokens ``(batch, length, size)`` to states, and the encodings of learned positions."""
        learned = None
        if self.fusion is not None:
            states, learned = self.fusion(self.transformer, states, source)
        else:
            for layer in self.transformer:
                states, learned = layer(states, source)
        return self.layer_norm(states), learned


class PreorderedEncoder(EncoderLayers):
    """A Transformer encoder for any program in torch.

    ``vocabulary`` is the number of words, of which the id ``padding`` stands for none; without it, the
    encoder reads vectors. Weights are initialised as in Vaswani et al. 2017: Glorot, and embeddings of
    N(0, 1/size), which are multiplied by √size.
    """

    def __init__(self, config: EncoderConfig, vocabulary: int | None = None, padding: int = 0) -> None:
        embeddings = None
        if vocabulary is not None:
            embeddings = nn.Embedding(vocabulary, config.hidden_size, padding_idx=padding)
        super().__init__(config, embeddings)
        self.dropout = nn.Dropout(config.dropout)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
            elif not name.endswith("norm.weight"):
                nn.init.zeros_(parameter)
        if embeddings is not None:
            nn.init.normal_(embeddings.weight, std=config.hidden_size**-0.5)
            with torch.no_grad():
                embeddings.weight[padding] = 0

    def forward(self, tokens: Tensor, positions: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Encode ids ``(batch, length)``, or vectors ``(batch, length, size)``; return states of that shape.

        ``positions``, ``(batch, length)``: where each token stands in the target's order; what counts is
        their order in each sentence. ``mask``, ``(batch, length)``: True for tokens, False for the padding
        behind them; None: there is no padding.

        Raises:
            ValueError: an encoding needs positions, and there are none; or padding comes before a token.
        """
        if mask is None:
            mask = torch.ones(tokens.shape[:2], dtype=torch.bool, device=tokens.device)
        mask = mask.bool()
        if positions is None and self.config.needs_positions:
            raise ValueError(f"the encodings need {PREORDERED} positions")
        is_checked = mask.device.type == "cpu" and not torch.compiler.is_compiling()
        if is_checked and (mask[:, 1:] > mask[:, :-1]).any():
            raise ValueError("mask: padding comes before a token")
        lengths = mask.sum(1)
        source = self.source(lengths, ~mask, None if positions is None else rank_positions(positions, ~mask))
        embedded = tokens
        if self.embeddings is not None:
            embedded = self.embeddings(tokens) * self.config.hidden_size**0.5
        return self.encode(self.dropout(self.embed(embedded, source)), source)[0]
