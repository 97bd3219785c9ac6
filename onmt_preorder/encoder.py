"""A Transformer encoder that reads, or learns, each token's position in the target's order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from onmt_preorder.input.positions import rank_positions
from onmt_preorder.papers.explicit_reordering import (
    ExplicitConfig,
    ExplicitReordering,
    ReorderingFusion,
    reordering_loss,
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
        layers = []
        for _ in range(config.layers):
            block = make_block()
            reordering = None if explicit is None else ExplicitReordering(config.hidden_size, explicit)
            layers.append(EncoderLayer(config, block, reordering))
        self.transformer = cast(Sequence[EncoderLayer], nn.ModuleList(layers))
        self.fusion = ReorderingFusion(config.hidden_size) if explicit and explicit.has_fusion else None
        self.layer_norm = config.make_last_norm()
        # Of the last batch: encodings of learned positions, those given, padding.
        self._seen: tuple[Tensor, Tensor, Tensor] | None = None

    def transform(
        self,
        embedded: Tensor,
        lengths: Tensor,
        padding: Tensor,
        positions: Tensor | None,
        dropout: Callable[[Tensor], Tensor],
    ) -> Tensor:
        """Map the embeddings of a batch, ``(batch, length, size)``, to states of this shape.

        ``positions``, ``(batch, length)``: permutations, None where no encoding needs them; ``padding``, of
        this shape, is True after a sentence's end. ``dropout`` is that of embeddings with their positions.
        """
        preordered = None
        if self.config.needs_positions and positions is not None:
            preordered = Positions(positions)
        original = torch.arange(padding.size(1), device=padding.device).unsqueeze(0)
        source = SourceBatch(padding, lengths, Positions(original), preordered)
        for encoding in self.config.encodings:
            embedded = encoding.embed(embedded, source.positions(encoding))
        states, learned = self.encode(dropout(embedded), source)
        self._seen = None if learned is None or positions is None else (learned, positions, padding)
        return states

    def encode(self, states: Tensor, source: SourceBatch) -> tuple[Tensor, Tensor | None]:
        """Map embedded tokens ``(batch, length, size)`` to states, and the encodings of learned positions."""
        learned = None
        if self.fusion is not None:
            states, learned = self.fusion(self.transformer, states, source)
        else:
            for layer in self.transformer:
                states, learned = layer(states, source)
        return self.layer_norm(states), learned

    def additional_loss(self) -> Tensor | None:
        """Return the reordering loss of the batch that was encoded last, None where there is none."""
        seen, self._seen = self._seen, None
        return None if seen is None or self.explicit is None else reordering_loss(*seen, self.explicit)

    def update_dropout(self, dropout: float, attention_dropout: float) -> None:
        """Change the dropout rates, as the hosts' ``dropout_steps`` ask."""
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = dropout
        for layer in self.transformer:
            layer.self_attn.dropout.p = attention_dropout


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
        ranks = None if positions is None else rank_positions(positions, ~mask)
        embedded = tokens
        if self.embeddings is not None:
            embedded = self.embeddings(tokens) * self.config.hidden_size**0.5
        return self.transform(embedded, lengths, ~mask, ranks, self.dropout)
