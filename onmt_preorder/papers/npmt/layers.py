"""The layers of NPMT: local reordering before the encoder, and the network that scores segments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

CELLS = {"GRU": (nn.GRUCell, 1), "LSTM": (nn.LSTMCell, 2)}


class LocalReordering(nn.Module):
    """Replaces each token's embedding by a gated sum over its neighbours.

    ``h_t = tanh(Σ_i sigmoid(w_i · [e_{t-τ}; …; e_{t+τ}]) e_{t-τ+i})`` for ``i = 0 … 2τ``, with zeros
    beyond the sentence. ``window`` is ``2τ + 1`` tokens. Where ``bias`` is not 0, gates have biases, as in
    the authors' code: at first this for the token itself, its negative for the others, so that the layer
    begins by passing on each token's own embedding. Cost: ``window² · size`` multiplications for each token.
    """

    def __init__(self, window: int, size: int, bias: float = 0.0) -> None:
        super().__init__()
        self.first_bias = bias
        self.weight = nn.Parameter(torch.empty(window, size * window))  # over (size, window)
        self.bias = nn.Parameter(torch.empty(window)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights as torch's linear layers do; set the biases."""
        window, inputs = self.weight.shape
        nn.init.uniform_(self.weight, -(bound := 1 / math.sqrt(inputs)), bound)
        if self.bias is not None:
            with torch.no_grad():
                self.bias.fill_(-self.first_bias)[window // 2] = self.first_bias

    def forward(self, embedded: Tensor, padding: Tensor) -> Tensor:
        """Map ``(batch, length, size)`` to the same shape.

        ``padding`` is ``(batch, length)``, True after a sentence's end; what stands there has no effect.
        """
        near, gates = self.gates(embedded, padding)
        return torch.matmul(near, gates.unsqueeze(-1)).squeeze(-1).tanh()

    def gates(self, embedded: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        """Return what each token sees, ``(batch, length, size, window)``, and its gates, without ``size``."""
        window = self.weight.size(0)
        side = window // 2
        real = embedded.masked_fill(padding.unsqueeze(-1), 0)
        near = functional.pad(real, (0, 0, side, side)).unfold(1, window, 1).contiguous()
        return near, functional.linear(near.flatten(2), self.weight, self.bias).sigmoid()


class Elements(NamedTuple):
    """The network after each source element and the symbol that comes first."""

    state: Tensor  # (elements, layers, states · size)
    output: Tensor  # (elements, size), what the vocabulary's layer reads
    masks: Tensor | None  # (elements, layers, size) of dropout, None for none


class SegmentNetwork(nn.Module):
    """The recurrent network that scores segments, started from a source element; reads many at a time.

    It reads the begin-of-sentence symbol and then the segment's own words; after each it gives the
    distribution of the next symbol. The end-of-sentence symbol ends the segment. The state after the first
    symbol depends on the element alone, and the input gates' product with a word on the word: both are
    computed once.

    Dropout, on each layer's output, is locked (Gal & Ghahramani 2016): all segments of an element share one
    mask. So a segment gets the same score when it is scored again.
    """

    def __init__(self, cell: str, source: int, word: int, size: int, layers: int, dropout: float) -> None:
        super().__init__()
        kind, states = CELLS[cell]
        self.size, self.layers, self.dropout = size, layers, dropout
        self.start = nn.Linear(source, layers * states * size)
        cells = nn.ModuleList(kind(size if layer else word, size) for layer in range(layers))
        self.cells = cast(Sequence[nn.RNNCellBase], cells)

    def gates(self, embedded: Tensor) -> Tensor:
        """Return the first layer's input gates for embedded words: ``(…, word)`` to ``(…, gates)``."""
        return functional.linear(embedded, self.cells[0].weight_ih, self.cells[0].bias_ih)

    def begin(self, source: Tensor, first: Tensor) -> Elements:
        """Start from source elements, ``(elements, source)``; ``first``: ``(gates,)`` of the first symbol."""
        count = source.size(0)
        state = self.start(source).tanh().view(count, self.layers, -1)
        masks = None
        if self.training and self.dropout > 0:
            ones = state.new_ones(count, self.layers, self.size)
            masks = functional.dropout(ones, self.dropout)
        output, state = self.step(first.expand(count, -1), state, masks)
        return Elements(state, output, masks)

    def step(self, gates: Tensor, state: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """Read one word of each segment: its ``(segments, gates)``, in the state of :class:`Elements`.

        Return outputs, ``(segments, size)``, and the state after the words.
        """
        after: list[Tensor] = []
        output = gates  # of the layer below
        for index, cell in enumerate(self.cells):
            if index:
                gates = functional.linear(output, cell.weight_ih, cell.bias_ih)
            after.append(_advance(cell, gates, state[:, index]))
            output = after[-1][:, : self.size]
            if masks is not None:
                output = output * masks[:, index]
        return output, torch.stack(after, dim=1)


def _advance(cell: nn.RNNCellBase, gates: Tensor, state: Tensor) -> Tensor:
    """Return a cell's state after an input, given the input's product with the gates' weights."""
    if isinstance(cell, nn.LSTMCell):
        hidden, memory = state.chunk(2, dim=1)
        gates = gates + functional.linear(hidden, cell.weight_hh, cell.bias_hh)
        enter, keep, new, leave = gates.chunk(4, dim=1)
        memory = keep.sigmoid() * memory + enter.sigmoid() * new.tanh()
        return torch.cat((leave.sigmoid() * memory.tanh(), memory), dim=1)
    size = cell.hidden_size
    recurrent = functional.linear(state, cell.weight_hh, cell.bias_hh)
    reset, update = (gates[:, : 2 * size] + recurrent[:, : 2 * size]).sigmoid().chunk(2, dim=1)
    new = torch.addcmul(gates[:, 2 * size :], reset, recurrent[:, 2 * size :]).tanh()
    return torch.lerp(new, state, update)
