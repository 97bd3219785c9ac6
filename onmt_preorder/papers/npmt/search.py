"""From elements' segments to translations: each element's best one, or by a beam over the elements.

The beam keeps the translations' beginnings with the best ``Q(y) = log p(y | x) + λ1 · words + λ2 ·
log p_lm(y)`` (Huang et al. 2018, eq. 3). Beginnings of the same words are one: the probabilities
of their segmentations are summed, and the most probable of these is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from onmt_preorder.papers.npmt.language_model import NgramFluency
from onmt_preorder.papers.npmt.segments import Segments

_IMPOSSIBLE = float("-inf")
_BASE = 0x9E3779B97F4A7C15 - 2**64  # odd: of the hash of a beginning, modulo 2^64


@dataclass(frozen=True)
class Translations:
    """Translations of a batch, the best first.

    Attributes:
        words: ``(batch, count, elements, longest)`` ids of what each element emits.
        lengths: ``(batch, count, elements)``.
        scores: ``(batch, count)`` ``Q(y)``.
    """

    words: Tensor
    lengths: Tensor
    scores: Tensor

    def flat(self, sentence: int, rank: int) -> Tensor:
        """Return the ids of a translation's words, one after another."""
        words, lengths = self.words[sentence, rank], self.lengths[sentence, rank]
        return words[torch.arange(words.size(1), device=words.device) < lengths.unsqueeze(1)]


def spread(segments: Segments, real: Tensor) -> Segments:
    """Unpack elements to ``(batch, elements, count, …)``; padding emits nothing.

    ``segments`` are those of all ``real`` elements, ``(batch, elements)``, sentence after sentence.
    """
    count, longest = segments.words.shape[1:]
    scores = segments.scores.new_full((*real.shape, count), _IMPOSSIBLE)
    scores[:, :, 0] = 0
    scores[real] = segments.scores
    words = segments.words.new_zeros(*real.shape, count, longest)
    words[real] = segments.words
    lengths = segments.lengths.new_zeros(*real.shape, count)
    lengths[real] = segments.lengths
    return Segments(scores, words, lengths)


def concatenate(segments: Segments) -> Translations:
    """Let every element emit its best segment: ``(batch, elements, count, …)`` to one translation each."""
    return Translations(
        segments.words[:, None, :, 0],
        segments.lengths[:, None, :, 0],
        segments.scores[:, :, 0].sum(1, keepdim=True),
    )


def beam_search(
    segments: Segments, width: int, reward: float = 0.0, fluency: NgramFluency | None = None
) -> Translations:
    """Search over the elements.

    Cost for each element: one sort of ``width · count`` candidates for the whole batch on the segments'
    device; a language model scores on the CPU.

    Args:
        segments: ``(batch, elements, count, …)``, as :func:`spread` gives them.
        width: how many translations to keep and to return.
        reward: λ1.
        fluency: λ2 and the language model.
    """
    batch, elements, count = segments.scores.shape
    beam = _Beam.begin(batch, width, segments.scores)
    keys, powers = _hashes(segments)
    back = []
    for t in range(elements):
        grown = _Beam(
            (beam.scores.unsqueeze(2) + segments.scores[:, t, None]).flatten(1),
            (beam.paths.unsqueeze(2) + segments.scores[:, t, None]).flatten(1),
            (beam.keys.unsqueeze(2) * powers[:, t, None] + keys[:, t, None]).flatten(1),
            (beam.words.unsqueeze(2) + segments.lengths[:, t, None]).flatten(1),
            beam.fluency.repeat_interleave(count, dim=1),
        )
        total, first = _merged(grown)
        if fluency is not None:
            grown.fluency.add_(_extend(fluency, segments, t, first, width))
        quality = torch.where(first, total + reward * grown.words + grown.fluency, _IMPOSSIBLE)
        chosen = quality.topk(width, dim=1).indices
        if fluency is not None:
            for sentence, indices in enumerate(chosen.tolist()):
                fluency.keep(sentence, indices)
        paths = torch.where(first, grown.paths, _IMPOSSIBLE)
        beam = grown._replace(scores=total, paths=paths).take(chosen)
        back.append((chosen // count, chosen % count))
    quality = beam.scores + reward * beam.words + beam.fluency
    if fluency is not None:
        quality = quality + quality.new_tensor([fluency.end(b) for b in range(batch)])
    return _trace(segments, back, *quality.sort(dim=1, descending=True))


class _Beam(NamedTuple):
    """Beginnings of translations, each ``(batch, beginnings)``."""

    scores: Tensor  # log probabilities
    paths: Tensor  # those of the most probable segmentation alone
    keys: Tensor  # hashes of the words; those of equal words are equal
    words: Tensor  # how many
    fluency: Tensor  # λ2 log p_lm

    @classmethod
    def begin(cls, batch: int, width: int, like: Tensor) -> _Beam:
        """Return beams of the one beginning that has no words."""
        scores = like.new_full((batch, width), _IMPOSSIBLE)
        scores[:, 0] = 0
        none = torch.zeros_like(scores, dtype=torch.long)
        return cls(scores, scores, none, none, torch.zeros_like(scores))

    def take(self, chosen: Tensor) -> _Beam:
        """Return the beginnings that are chosen, ``(batch, width)``."""
        return _Beam(*(part.gather(1, chosen) for part in self))


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


def _extend(model: NgramFluency, segments: Segments, t: int, first: Tensor, width: int) -> Tensor:
    """Return the language model's scores, ``(batch, width · count)``, of the candidates in ``first``."""
    count = segments.scores.size(2)
    words, lengths = segments.words[:, t].tolist(), segments.lengths[:, t].tolist()
    scores = []
    for sentence, wanted in enumerate(first.tolist()):
        emitted = [row[:length] for row, length in zip(words[sentence], lengths[sentence], strict=True)]
        indices = [index for index, is_wanted in enumerate(wanted) if is_wanted]
        found = model.extend(sentence, {i: (i // count, emitted[i % count]) for i in indices})
        scores.append([found.get(index, 0.0) for index in range(width * count)])
    return segments.scores.new_tensor(scores)


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
