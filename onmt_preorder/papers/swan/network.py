"""The network that scores segments: a recurrent one, started from a source element.

It reads the begin-of-sentence symbol and then the segment's own words; after each it gives the
distribution of the next symbol, of which one, ``$``, ends the segment. For ``$`` stands the
end-of-sentence symbol: a translation has no other use for it here.

What is read first is always the same, so the state after it belongs to the element alone. And
what the input gates see of a word does not depend on the element. Both are computed once, and a
segment's step costs one product with the recurrent matrix and one with the vocabulary's.

Dropout is locked (Gal & Ghahramani 2016): one mask an element for all its segments. So the
same numbers come out when a segment is scored again.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

CELLS = {"GRU": (nn.GRUCell, 1), "LSTM": (nn.LSTMCell, 2)}


class Elements(NamedTuple):
    """Source elements, ready to emit.

    Attributes:
        state: ``(elements, layers, states · size)``, after the symbol that comes first.
        output: ``(elements, size)``, what the vocabulary's layer reads then.
        masks: ``(elements, layers, size)`` of dropout, None for none.
    """

    state: Tensor
    output: Tensor
    masks: Tensor | None


class SegmentNetwork(nn.Module):
    """Scores the symbols of segments, step by step, for many segments at a time.

    Args:
        cell: ``GRU`` or ``LSTM``.
        source: size of a source element.
        word: size of a word's embedding.
        size: of the states.
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
        """Return what the first layer's gates see of words: ``(…, word)`` to ``(…, gates)``."""
        return functional.linear(embedded, self.cells[0].weight_ih, self.cells[0].bias_ih)

    def begin(self, source: Tensor, first: Tensor) -> Elements:
        """Start from source elements.

        Args:
            source: ``(elements, source)``.
            first: ``(gates,)`` of the symbol that comes first.
        """
        count = source.size(0)
        state = self.start(source).tanh().view(count, self.layers, -1)
        masks = None
        if self.training and self.dropout > 0:
            ones = state.new_ones(count, self.layers, self.size)
            masks = functional.dropout(ones, self.dropout)
        output, state = self.step(first.expand(count, -1), state, masks)
        return Elements(state, output, masks)

    def step(self, gates: Tensor, state: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """Read one word in each row.

        Args:
            gates: ``(rows, gates)`` of the words.
            state: ``(rows, layers, states · size)``.
            masks: ``(rows, layers, size)`` of dropout, or None.

        Returns:
            ``(rows, size)`` outputs, and the state after the words.
        """
        after, output = [], None
        for number, cell in enumerate(self.cells):
            if output is not None:
                gates = functional.linear(output, cell.weight_ih, cell.bias_ih)
            after.append(_advance(cell, gates, state[:, number]))
            output = after[-1][:, : self.size]
            if masks is not None:
                output = output * masks[:, number]
        return output, torch.stack(after, dim=1)


def _advance(cell: nn.RNNCellBase, gates: Tensor, state: Tensor) -> Tensor:
    """Return a cell's state after an input whose part of the gates is known."""
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
