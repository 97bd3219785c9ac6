"""Self-attention that knows how far apart two tokens stand, in one or several orders.

Shape legend: b batch, n length, h heads, d size of a head, r = 2k+1 clipped distances.
"""

from onmt_preorder.transformer.attention.attend import relative_attention
from onmt_preorder.transformer.attention.relations import Places, RelativePart

__all__ = ["Places", "RelativePart", "relative_attention"]
