"""The search: what each source element emits, and translations made of that.

No element looks at another's words, so all elements of a batch are searched side by side, in ``longest + 1``
steps of the network: each element's best segment, greedily, or its several best, by a beam.

A beam over the elements then keeps the beginnings with the best ``Q(y) = log p(y | x) + λ1 · words``
(Huang et al. 2018, eq. 3, without a language model). Of beginnings of the same words the probabilities are
summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from onmt_preorder.papers.npmt.scorer import SegmentLayers

_IMPOSSIBLE = float("-inf")
_BASE = 0x9E3779B97F4A7C15 - 2**64  # odd: of the hash of a beginning, modulo 2^64


class Segments(NamedTuple):
    """Segments of elements, the best first."""

    scores: Tensor  # (elements, count), log p(segment, $ | x), -inf where there are no more
    words: Tensor  # (elements, count, longest) ids; those after a segment's length mean nothing
    lengths: Tensor  # (elements, count)


def greedy_segments(
    model: SegmentLayers, source: Tensor, longest: int, banned: Sequence[int] = ()
) -> Segments:
    """Let each element, ``(elements, size)``, emit the best symbol, then the best after it, until its end.

    Elements whose segments have ended drop out. No segment has more than ``longest`` words, or a word of
    the ``banned`` ids. Cost: ``O(elements · longest)`` steps at most.
    """
    state, output, _ = model.network.begin(source, model.first_gates(source.device))
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

    ``count`` beginnings are followed at a time. One is given up when it cannot become better than the last of
    ``count`` whole segments. Each word adds ``reward`` to a segment's log probability in the ranking; it is
    not part of the scores.
    """
    elements, device = source.size(0), source.device
    state, output, _ = model.network.begin(source, model.first_gates(device))
    found = Segments(
        source.new_full((elements, count), _IMPOSSIBLE),
        torch.full((elements, count, longest), model.end, device=device),
        torch.zeros(elements, count, dtype=torch.long, device=device),
    )
    first = torch.zeros(elements, dtype=torch.long, device=device)
    rows: tuple[Tensor, ...] = torch.arange(elements, device=device), first
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
    begins: Tensor, words: Tensor, rows: tuple[Tensor, ...], symbols: Tensor, length: int
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
    scores, words, lengths = (torch.cat(pair, 1) for pair in zip(one, other, strict=True))
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


@dataclass(frozen=True)
class Translations:
    """Translations of a batch, the best first."""

    words: Tensor  # (batch, count, elements, longest) ids of what each element emits
    lengths: Tensor  # (batch, count, elements)
    scores: Tensor  # (batch, count) Q(y)

    def flat(self, sentence: int, rank: int) -> Tensor:
        """Return the ids of a translation's words, one after another."""
        words, lengths = self.words[sentence, rank], self.lengths[sentence, rank]
        return words[torch.arange(words.size(1), device=words.device) < lengths.unsqueeze(1)]


def spread(segments: Segments, real: Tensor) -> Segments:
    """Unpack elements to ``(batch, elements, count, …)``; padding emits nothing.

    ``segments`` are those of all ``real`` elements, ``(batch, elements)``, sentence after sentence.
    """
    unpacked = Segments(*(part.new_zeros(*real.shape, *part.shape[1:]) for part in segments))
    unpacked.scores[:, :, 1:] = _IMPOSSIBLE
    for whole, part in zip(unpacked, segments, strict=True):
        whole[real] = part
    return unpacked


def beam_search(segments: Segments, width: int, reward: float = 0.0) -> Translations:
    """Search over the elements of ``(batch, elements, count, …)``; keep and return ``width`` translations.

    ``reward`` is λ1. Cost for each element: one sort of ``width · count`` candidates for the whole batch.
    """
    batch, elements, count = segments.scores.shape
    scores = segments.scores.new_full((batch, width), _IMPOSSIBLE)
    scores[:, 0] = 0  # the one beginning that has no words
    none = torch.zeros_like(scores, dtype=torch.long)
    beam = _Beam(scores, scores, none, none)
    keys, powers = _hashes(segments)
    back = []
    for t in range(elements):
        grown = _Beam(
            (beam.scores.unsqueeze(2) + segments.scores[:, t, None]).flatten(1),
            (beam.paths.unsqueeze(2) + segments.scores[:, t, None]).flatten(1),
            (beam.keys.unsqueeze(2) * powers[:, t, None] + keys[:, t, None]).flatten(1),
            (beam.words.unsqueeze(2) + segments.lengths[:, t, None]).flatten(1),
        )
        total, first = _merged(grown)
        quality = torch.where(first, total + reward * grown.words, _IMPOSSIBLE)
        chosen = quality.topk(width, dim=1).indices
        paths = torch.where(first, grown.paths, _IMPOSSIBLE)
        beam = _Beam(*(part.gather(1, chosen) for part in grown._replace(scores=total, paths=paths)))
        back.append((chosen // count, chosen % count))
    quality = beam.scores + reward * beam.words
    return _trace(segments, back, *quality.sort(dim=1, descending=True))


class _Beam(NamedTuple):
    """Beginnings of translations, each ``(batch, beginnings)``."""

    scores: Tensor  # log probabilities
    paths: Tensor  # those of the most probable segmentation alone
    keys: Tensor  # hashes of the words; those of equal words are equal
    words: Tensor  # how many


def _hashes(segments: Segments) -> tuple[Tensor, Tensor]:
    """Return the segments' polynomial hashes modulo 2^64, and what to multiply the hash before each by."""
    keys, powers = torch.zeros_like(segments.lengths), torch.ones_like(segments.lengths)
    for index in range(segments.words.size(3)):
        inside = segments.lengths > index
        keys = torch.where(inside, keys * _BASE + segments.words[..., index] + 1, keys)
        powers = torch.where(inside, powers * _BASE, powers)
    return keys, powers


def _merged(beam: _Beam) -> tuple[Tensor, Tensor]:
    """Sum the probabilities of equal beginnings.

    Return ``(batch, beginnings)`` log sums, and which are the most probable of each kind: these have one.
    """
    order = beam.paths.argsort(dim=1, descending=True, stable=True)
    order = order.gather(1, beam.keys.gather(1, order).argsort(dim=1, stable=True))
    scores, keys = beam.scores.gather(1, order), beam.keys.gather(1, order)
    first = torch.ones_like(keys, dtype=torch.bool)
    first[:, 1:] = keys[:, 1:] != keys[:, :-1]
    kind = first.cumsum(1) - 1
    best = torch.full_like(scores, _IMPOSSIBLE).scatter_reduce(1, kind, scores, "amax").gather(1, kind)
    possible = scores.isfinite()
    shares = torch.where(possible, scores - best, _IMPOSSIBLE).exp()
    sums = torch.zeros_like(scores).scatter_add(1, kind, shares).gather(1, kind)
    first = first & possible
    total = torch.where(first, best + sums.log(), _IMPOSSIBLE)
    back = order.argsort(dim=1)
    return total.gather(1, back), first.gather(1, back)


def _trace(
    segments: Segments, back: list[tuple[Tensor, Tensor]], scores: Tensor, order: Tensor
) -> Translations:
    """Follow the chosen ends back to what each element emitted."""
    words, lengths = [], []
    for t in range(len(back) - 1, -1, -1):
        parents, chosen = (part.gather(1, order) for part in back[t])
        lengths.append(segments.lengths[:, t].gather(1, chosen))
        index = chosen.unsqueeze(2).expand(-1, -1, segments.words.size(3))
        words.append(segments.words[:, t].gather(1, index))
        order = parents
    return Translations(torch.stack(words[::-1], 2), torch.stack(lengths[::-1], 2), scores)
