"""What a source element emits: its best segment, or its several best.

No element looks at another's words, so all elements of a batch are searched side by side, in
``longest + 1`` steps of the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from onmt_preorder.papers.npmt.scorer import SegmentLayers

_IMPOSSIBLE = float("-inf")


@dataclass(frozen=True)
class Segments:
    """Segments of elements, the best first.

    Attributes:
        scores: ``(elements, count)``, ``log p(segment, $ | x)``, ``-inf`` where there are no more.
        words: ``(elements, count, longest)`` ids; those after a segment's length mean nothing.
        lengths: ``(elements, count)``.
    """

    scores: Tensor
    words: Tensor
    lengths: Tensor


def greedy_segments(
    model: SegmentLayers, source: Tensor, longest: int, banned: Sequence[int] = ()
) -> Segments:
    """Let each element, ``(elements, size)``, emit the best symbol, then the best after it, until its end.

    Elements whose segments have ended drop out. No segment has more than ``longest`` words, or a word of
    the ``banned`` ids. Cost: ``O(elements · longest)`` steps at most.
    """
    begun = model.network.begin(source, model.first_gates(source.device))
    output, state = begun.output, begun.state
    count, device = source.size(0), source.device
    words = torch.full((count, longest), model.end, device=device)
    lengths = torch.zeros(count, dtype=torch.long, device=device)
    active = torch.arange(count, device=device)
    scores = source.new_zeros(count)
    for length in range(longest + 1):
        symbols = _symbols(model, output, banned)
        if length == longest:
            scores[active] += symbols[:, model.end]
            break
        best, symbol = symbols.max(1)
        scores[active] += best
        going = symbol.ne(model.end).nonzero().squeeze(1)
        active, symbol = active[going], symbol[going]
        words[active, length] = symbol
        lengths[active] += 1
        if not active.numel():
            break
        output, state = model.network.step(_gates(model, symbol), state[going], None)
    return Segments(scores.unsqueeze(1), words.unsqueeze(1), lengths.unsqueeze(1))


def best_segments(
    model: SegmentLayers,
    source: Tensor,
    longest: int,
    count: int,
    banned: Sequence[int] = (),
    reward: float = 0.0,
) -> Segments:
    """Find each element's best segments by a beam search over their words.

    A beginning is given up when it cannot become better than the last of ``count`` whole segments.

    Args:
        model, source, longest, banned: as of :func:`greedy_segments`.
        count: how many to find, and how many beginnings to follow at a time.
        reward: what each word adds to a segment's log probability in the ranking; not part of the scores.
    """
    elements, device = source.size(0), source.device
    begun = model.network.begin(source, model.first_gates(device))
    output, state = begun.output, begun.state
    found = Segments(
        source.new_full((elements, count), _IMPOSSIBLE),
        torch.full((elements, count, longest), model.end, device=device),
        torch.zeros(elements, count, dtype=torch.long, device=device),
    )
    rows = torch.arange(elements, device=device), torch.zeros(elements, dtype=torch.long, device=device)
    begins = source.new_full((elements, count), _IMPOSSIBLE)
    begins[:, 0] = 0
    words = found.words
    for length in range(longest + 1):
        symbols = _symbols(model, output, banned)
        ended = torch.full_like(begins, _IMPOSSIBLE)
        ended[rows] = begins[rows] + symbols[:, model.end]
        found = _merge(found, Segments(ended, words, torch.full_like(found.lengths, length)), reward)
        if length == longest:
            break
        symbols[:, model.end] = _IMPOSSIBLE
        begins, words, parents, chosen = _grow(begins, words, rows, symbols, length)
        hope = begins + reward * (longest if reward > 0 else length + 1)
        last = (found.scores + reward * found.lengths)[:, -1:]
        begins = begins.masked_fill(hope <= last, _IMPOSSIBLE)
        row_of = torch.zeros_like(parents).index_put_(rows, torch.arange(rows[0].numel(), device=device))
        rows = begins.isfinite().nonzero(as_tuple=True)
        if not rows[0].numel():
            break
        parent = row_of[rows[0], parents[rows]]
        output, state = model.network.step(_gates(model, chosen[rows]), state[parent], None)
    return found


def _grow(
    begins: Tensor, words: Tensor, rows: tuple[Tensor, Tensor], symbols: Tensor, length: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the best beginnings with one word more: scores, words, which each continues, the new word."""
    elements, count = begins.shape
    near = min(count, symbols.size(1))
    best, symbol = symbols.topk(near, dim=1)
    grown = begins.new_full((elements, count, near), _IMPOSSIBLE)
    grown[rows] = begins[rows].unsqueeze(1) + best
    new = torch.zeros_like(grown, dtype=torch.long)
    new[rows] = symbol
    begins, where = grown.flatten(1).topk(count, dim=1)
    parents, chosen = where // near, new.flatten(1).gather(1, where)
    words = words.gather(1, parents.unsqueeze(2).expand_as(words)).clone()
    words[:, :, length] = chosen
    return begins, words, parents, chosen


def _merge(one: Segments, other: Segments, reward: float) -> Segments:
    count = one.scores.size(1)
    scores = torch.cat((one.scores, other.scores), 1)
    lengths = torch.cat((one.lengths, other.lengths), 1)
    words = torch.cat((one.words, other.words), 1)
    where = (scores + reward * lengths).topk(count, dim=1).indices
    words = words.gather(1, where.unsqueeze(2).expand(-1, -1, words.size(2)))
    return Segments(scores.gather(1, where), words, lengths.gather(1, where))


def _symbols(model: SegmentLayers, output: Tensor, banned: Sequence[int]) -> Tensor:
    symbols = model.vocabulary(output).log_softmax(1)
    for symbol in banned:
        symbols[:, symbol] = _IMPOSSIBLE
    return symbols


def _gates(model: SegmentLayers, words: Tensor) -> Tensor:
    return model.network.gates(model.embeddings(words.view(-1, 1, 1))).squeeze(1)
