"""The recurrent network that scores segments, started from a source element.

It reads the begin-of-sentence symbol and then the segment's own words; after each it gives the
distribution of the next symbol. One symbol, ``$``, ends the segment; the end-of-sentence symbol serves as
``$``, since it has no other use here.

The first symbol read is always the same, so the state after it depends on the element alone. And
the input gates' product with a word does not depend on the element. Both are computed once, and a
segment's step costs one product with the recurrent matrix and one with the vocabulary's.

Dropout is locked (Gal & Ghahramani 2016): all segments of an element share one mask. So a segment gets
the same score when it is scored again.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

CELLS = {"GRU": (nn.GRUCell, 1), "LSTM": (nn.LSTMCell, 2)}


class Elements(NamedTuple):
    """The network after each source element and the symbol that comes first."""

    state: Tensor  # (elements, layers, states · size)
    output: Tensor  # (elements, size), what the vocabulary's layer reads
    masks: Tensor | None  # (elements, layers, size) of dropout, None for none


class SegmentNetwork(nn.Module):
    """Reads many segments at a time, word by word.

    Args:
        cell: ``GRU`` or ``LSTM``.
        source, word, size: of a source element, of a word's embedding and of the states.
        layers: how many.
        dropout: on each layer's output.
    """

    def __init__(self, cell: str, source: int, word: int, size: int, layers: int, dropout: float) -> None:
        super().__init__()
        kind, states = CELLS[cell]
        self.size, self.layers, self.dropout = size, layers, dropout
        self.start = nn.Linear(source, layers * states * size)
        self.cells = nn.ModuleList(kind(size if layer else word, size) for layer in range(layers))

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
        """Read one word of each segment.

        Args:
            gates: ``(segments, gates)`` of the words.
            state: ``(segments, layers, states · size)``.
            masks: ``(segments, layers, size)`` of dropout, or None.

        Returns:
            ``(segments, size)`` outputs, and the state after the words.
        """
        after, output = [], None
        for index, cell in enumerate(self.cells):
            if output is not None:
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
