"""Self-attention that knows how far apart two tokens stand, in one or several orders.

Shape legend: b batch, n length, h heads, d size of a head, r = 2k+1 clipped distances.

| Module | Holds |
|---|---|
| relative_positions | positions of a batch's tokens, and the tables that go with them |
| attend | the choice between the two ways to compute it |
| plain | plain torch |
| fused, kernels | Triton kernels for GPUs, and how they are started |
| comparison | one comparison of the kernels with plain torch, before they are trusted |
"""

from onmt_preorder.transformer.attention.attend import relative_attention
from onmt_preorder.transformer.attention.relative_positions import Positions, RelativePart

__all__ = ["Positions", "RelativePart", "relative_attention"]
