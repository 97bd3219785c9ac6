"""One layer of the encoder, with two slots in which a paper's idea can stand.

Parameters carry the names of OpenNMT-py's own Transformer encoder, so that weights can
move between the two.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from onmt_preorder.transformer.dropout import Dropout
from onmt_preorder.transformer.layer_options import LayerOptions
from onmt_preorder.transformer.self_attention import SelfAttention, SourceBatch
from onmt_preorder.transformer.sinusoidal import encodings
from onmt_preorder.transformer.sublayers import FeedForward, NormPlacement


class EncoderLayer(NormPlacement, nn.Module):
    """Self-attention, then the feed-forward block, each with its norm and residual.

    Args:
        options: sizes and kinds of all parts.
        after_attention: a slot; maps (what attention read, what would be read after it, the
            encodings of the tokens' original positions) to what is read instead. The residual
            by-passes it.
        after_layer: a slot; maps (the layer's output, the batch) to encodings of learned positions,
            which are added to the output.
    """

    def __init__(
        self,
        options: LayerOptions,
        after_attention: nn.Module | None = None,
        after_layer: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.pre_norm = options.pre_norm
        self.self_attn = SelfAttention(options)
        self.feed_forward = FeedForward(options)
        self.layer_norm = options.make_norm()
        self.dropout = Dropout(options.dropout)
        self.recompute_attention = "mha" in options.recompute
        self.after_attention = after_attention
        self.after_layer = after_layer

    def forward(self, states: Tensor, source: SourceBatch) -> tuple[Tensor, Tensor | None]:
        """Run the layer.

        Args:
            states: ``(batch, length, size)``.
            source: the sentences.

        Returns:
            States for the next layer, ``(batch, length, size)``; and of this shape the encodings of
            learned positions that are in them, None without ``after_layer``.
        """
        return self.reorder(self.transform(states, source), source)

    def transform(self, states: Tensor, source: SourceBatch) -> Tensor:
        """Do all but what stands in the slot ``after_layer``."""
        read = self.before(self.layer_norm, states)
        attended = self.after(self.layer_norm, states + self.dropout(self._attend(read, source)))
        fed = self.before(self.feed_forward.layer_norm, attended)
        if self.after_attention is not None:
            fed = self.after_attention(read, fed, encodings(0, fed.size(1), fed))
        return self.after(self.feed_forward.layer_norm, attended + self.feed_forward(fed))

    def reorder(self, states: Tensor, source: SourceBatch) -> tuple[Tensor, Tensor | None]:
        """Do what stands in the slot ``after_layer``; results as of the whole layer."""
        if self.after_layer is None:
            return states, None
        learned = self.after_layer(states, source)
        return states + learned, learned

    def _attend(self, states: Tensor, source: SourceBatch) -> Tensor:
        if self.recompute_attention and self.training:
            return checkpoint(self.self_attn, states, source, use_reentrant=False)
        return self.self_attn(states, source)

    def update_dropout(self, dropout: float, attention_dropout: float) -> None:
        """Change the dropout rates, as OpenNMT-py's ``dropout_steps`` ask."""
        self.self_attn.dropout.p = attention_dropout
        self.feed_forward.update_dropout(dropout)
        self.dropout.p = dropout
