"""Map the tokens of a sentence to its words, and links to other tokens.

Both texts are one sentence, as words and subwords, or as the tokens of two tokenisers. They may spell
characters differently (:mod:`preorder.data.spellings`). Tokens may be inserted, left out, or masked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, pairwise, product
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from preorder.data import spellings
from preorder.data.sentence import Alignment, Link
from preorder.errors import DataError, shown

BLOCK = 256  # pieces that are compared with a different text at a time
REACH = 1 << 12  # characters of the text that a block is compared with

_ALL: frozenset[str] = frozenset(spellings.MARKS)
_LOW = -(1 << 30)

NewTokens = Sequence[Sequence[int]]  # for each old token the new tokens, from 0, with common characters
Differences = list[tuple[str, str]]  # characters of the words, and of the pieces in their place

T = TypeVar("T")


def words_of_pieces(pieces: Sequence[str], words: Sequence[str]) -> list[range]:
    """Return for each piece the indices of the words that it shares characters with.

    Pieces are aligned with the words in order: most equal characters, then fewest gaps, which should not
    begin or end inside a word. Linear if the pieces spell the words, also with other pieces before or after;
    else in blocks. A subword mark by itself belongs to the word that it marks. A piece that spells no word
    belongs to the word in its place, if no other piece does; else its range is empty and begins at the next
    word.

    >>> words_of_pieces(["▁un", "seen", "▁", "cat", "s"], ["unseen", "cats"])
    [range(0, 1), range(0, 1), range(1, 2), range(1, 2), range(1, 2)]
    """
    return _compare(pieces, words)[0]


def overlapping(old: Sequence[str], new: Sequence[str], strict: bool = True) -> NewTokens:
    """Return the new tokens that share characters with each old one; ``strict``: all must be equal."""
    stems, differences = _compare(new, old)
    if strict and differences:
        raise DataError("these are not the same characters: {} and {}".format(*map(shown, differences[0])))
    found: list[list[int]] = [[] for _ in old]
    for index, stem in enumerate(stems):
        for word in stem:
            found[word].append(index)
    return _with_marks([each or None for each in found], old, [])


def map_links(alignment: Alignment, sources: NewTokens | None, targets: NewTokens | None) -> Alignment:
    """Map the links of a sentence pair by the results of :func:`overlapping`; None: a side stays.

    A link becomes links between all tokens that share characters with its own. A new link has the highest
    confidence of its sources; it is possible if no sure link is among them.
    """
    sides = sources, targets
    alignment.check_within(*(None if new is None else len(new) for new in sides))

    def mapped(link: Link) -> Iterator[Link]:
        first, second = ([i] if new is None else new[i] for new, i in zip(sides, link, strict=True))
        return product(first, second)

    sure: dict[Link, float] = {}
    for link, confidence in alignment.confidences().items():
        for new in mapped(link):
            sure[new] = max(confidence, sure.get(new, 0))
    possible = {new for link in alignment.possible for new in mapped(link)} - sure.keys()
    return replace(Alignment.weighted(sure), possible=frozenset(possible))


def _compare(pieces: Sequence[str], words: Sequence[str]) -> tuple[list[range], Differences]:
    """Return :func:`words_of_pieces`, and the differences of the texts."""
    if list(pieces) == list(words):
        return _single(words), []
    added = spellings.added_marks(pieces, words)
    bare = spellings.without_marks(pieces, added)
    if "".join(bare) == "".join(words):
        owners = [index for index, word in enumerate(words) for _ in word]
        bounds = pairwise(accumulate(map(len, bare), initial=0))
        stems = [range(owners[a], owners[b - 1] + 1) if a < b else None for a, b in bounds]
        return _with_marks(stems, pieces, range(0)), []
    found: list[tuple[list[range | None], Differences]] = []
    for reading in _readings(pieces, words, added):
        found.append(_stems(*reading))
        if not found[-1][1]:
            break
    stems, differences = min(found, key=lambda each: sum(max(map(len, pair)) for pair in each[1]))
    return _with_marks(stems, pieces, range(0)), differences


def _with_marks(values: list[T | None], tokens: Sequence[str], default: T) -> list[T]:
    """Give marks, which have no value, the value of the token that they mark."""
    for index in reversed(range(len(values) - 1)):
        if values[index] is None and not tokens[index].startswith("｟mrk_end"):
            values[index] = values[index + 1]
    filled: list[T] = []
    for value in values:
        filled.append(value if value is not None else filled[-1] if filled else default)
    return filled


class _Unit(NamedTuple):
    """Characters of a text, and the tokens that spell them: one, or the parts of a spelling (``&quot;``)."""

    spelled: str
    tokens: range
    is_mark: bool = False  # the other text may lack it
    is_unknown: bool = False  # stands for any characters
    begins_inside: bool | None = None  # a word, by its marks; None: unknown
    ends_inside: bool | None = None


def _readings(
    pieces: Sequence[str], words: Sequence[str], added: frozenset[str]
) -> Iterator[tuple[list[_Unit], list[_Unit]]]:
    """Yield readings of pieces and words, the most likely first."""
    removed = spellings.added_marks(words, pieces)
    either = added | removed
    seen = []
    nothing: frozenset[str] = frozenset()
    marks = (added, nothing), (added, removed), (either, either), (_ALL, _ALL)
    ways: Sequence[tuple[Callable[[str], str], bool]] = (
        (spellings.folded, False),
        (spellings.spelled_out, False),
        (spellings.spelled_out, True),
        (spellings.without_underscores, True),
    )
    for given, removed_marks, (spell, joins) in product(_as_bytes(pieces, words, either), marks, ways):
        sides = list(map(spellings.without_marks, given, removed_marks))
        runs = list(map(spellings.joined_spellings if joins else _single, sides))
        pairs = zip(sides, runs, strict=True)
        texts = [["".join(side[run.start : run.stop]) for run in each] for side, each in pairs]
        texts = [[spell(text) or text for text in each] for each in texts]
        if (reading := (sides, texts, runs)) in seen:
            continue
        seen.append(reading)
        ends = spellings.inner_ends(given[0], sides[0])
        first = [
            _Unit(
                text or spellings.folded(given[0][run[0]]),
                run,
                not text,
                sides[0][run[0]] in spellings.UNKNOWN_TOKENS,
                ends[run[0]][0],
                ends[run[-1]][1],
            )
            for text, run in zip(texts[0], runs[0], strict=True)
        ]
        second = list(map(_Unit, texts[1], runs[1]))
        yield first, second
        if not all(map(str.isascii, chain(*texts))):
            yield _without_slight(first), _without_slight(second)


def _as_bytes(
    pieces: Sequence[str], words: Sequence[str], marks: frozenset[str]
) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Return both sides as they are, and with one read as byte-level BPE: first if it has the mark."""
    whole = [[spellings.from_byte_level(token) for token in side] for side in (pieces, words)]
    readings = [(whole[0], words), (pieces, whole[1])]
    marked = [one for one, side in zip(readings, (pieces, words), strict=True) if "Ġ" in "".join(side)]
    return [*marked, (pieces, words)] if "Ġ" in marks and len(marked) == 1 else [(pieces, words), *readings]


def _single(tokens: Sequence[str]) -> list[range]:
    return [range(i, i + 1) for i in range(len(tokens))]


def _without_slight(units: Sequence[_Unit]) -> list[_Unit]:
    bare = ("".join(c for c in unit.spelled if not _is_slight(c)) for unit in units)
    return [unit._replace(spelled=text or unit.spelled) for unit, text in zip(units, bare, strict=True)]


def _stems(pieces: list[_Unit], words: list[_Unit]) -> tuple[list[range | None], Differences]:
    """Return the words of each piece's tokens, None for marks, and the differences of the texts."""
    text = "".join(word.spelled for word in words)
    owners = [word.tokens for word in words for _ in word.spelled]
    owners.append(range(words[-1].tokens.stop if words else 0, 0))  # behind the last word
    borders = set(accumulate((len(word.spelled) for word in words), initial=0))
    stems: list[range | None] = []
    differences = []
    low = cursor = 0
    places = [*_places(pieces, text, borders), range(len(text), len(text))]
    for high, found in enumerate(places):
        if found is None:
            continue
        place = found.start
        if low < high or cursor < place:  # there is a gap
            missed = [piece for piece in pieces[low:high] if not piece.is_mark]
            lost = [index for index in range(cursor, place) if not _is_slight(text[index])]
            texts = (text[index] for index in lost), (c for piece in missed for c in piece.spelled)
            difference = "".join(texts[0]), "".join(c for c in texts[1] if not _is_slight(c))
            is_unknown = lost and missed and all(piece.is_unknown for piece in missed)
            if any(difference) and not is_unknown:
                differences.append(difference)
            free = list(dict.fromkeys(owners[index] for index in lost or range(cursor, place)))
            served = []  # words with pieces whose marks ask for no more
            if low and not pieces[low - 1].ends_inside:
                served.append(owners[cursor - 1])
            if high < len(pieces) and not pieces[high].begins_inside:
                served.append(owners[place])
            if len(missed) < len(free):
                free = [run for run in free if run not in served] or free
            free = free or [range(owners[place].start, owners[place].start)]
            shares = (free[number * len(free) // len(missed)] for number in range(len(missed)))
            for piece in pieces[low:high]:
                stems += [None if piece.is_mark else next(shares)] * len(piece.tokens)
        if high < len(pieces):
            cursor = found.stop
            stems += [range(owners[place].start, owners[cursor - 1].stop)] * len(pieces[high].tokens)
        low = high + 1
    return stems, differences


def _is_slight(character: str) -> bool:
    """Return whether tools may leave a character out: an accent, a space, or an invisible one."""
    return unicodedata.category(character) in {"Mn", "Me", "Cf", "Cc", "Zs"}


def _places(pieces: Sequence[_Unit], text: str, borders: set[int]) -> list[range | None]:
    """Return the range of text that each piece spells; None: it spells nothing there."""
    places: list[range | None] = [None] * len(pieces)
    lengths = [0 if piece.is_mark else len(piece.spelled) for piece in pieces]
    begins = list(accumulate(lengths, initial=0))
    spelled = "".join(piece.spelled for piece in pieces if not piece.is_mark)
    before = spelled.find(text)
    if before >= 0 and before == spelled.rfind(text):
        inner = range(before, before + len(text))
        found = [index for index, length in enumerate(lengths) if length and begins[index] in inner]
        if spelled == text or (
            {before + border for border in borders} <= set(begins)
            and not pieces[found[0]].begins_inside
            and not pieces[found[-1]].ends_inside
        ):
            for index in found:
                places[index] = range(begins[index] - before, begins[index + 1] - before)
            return places
    low = start = 0
    while low < len(pieces) and start < len(text):
        block, base = pieces[low : low + BLOCK], start
        kept = BLOCK // 2 if low + BLOCK < len(pieces) else BLOCK
        part = text[base : base + REACH]
        inside = np.array([base + offset not in borders for offset in range(len(part) + 1)], np.int32)
        for index, place in enumerate(_best_places(block, part, inside)[:kept], low):
            if place:
                start = base + place.stop
                places[index] = range(base + place.start, start)
        low += kept
    return places


def _best_places(pieces: Sequence[_Unit], text: str, inside: NDArray[np.int32]) -> list[range | None]:
    """Return the best :func:`_places` by dynamic programming.

    An equal character scores 2. An unknown piece takes one or more characters, which score 0. These score -1:
    a gap in the pieces, in the text, or in both at one place; its begin and its end inside a word; the begin
    and the end of a piece against its marks; a border of words inside a piece. ``inside`` is 1 for each place
    inside a word, else 0.
    """
    outside = np.cumsum(1 - inside)
    tight = np.full(len(inside), _LOW, np.int32)  # best score at each place, behind an equal piece
    tight[0] = 0
    loose = np.maximum.accumulate(tight - 1 - inside)  # the same in a gap
    rows = [(tight, loose)]
    origins = []  # where each piece begins, by where it may end
    for piece in pieces:
        if piece.is_unknown:
            begins, ends = np.arange(len(text)), np.arange(1, len(text) + 1)
        else:
            ends = np.fromiter(_ends(piece.spelled, text), np.intp)
            begins = ends - len(piece.spelled)
        score = np.maximum(tight[begins], loose[begins] - inside[begins]) + outside[begins]
        if piece.begins_inside is not None:
            score -= inside[begins] != piece.begins_inside
        if piece.is_unknown:
            best = np.maximum.accumulate(score)
            begins, score = np.maximum.accumulate(np.where(score == best, begins, 0)), best
        else:
            score += 2 * len(piece.spelled)
        score -= outside[ends - 1]
        if piece.ends_inside is not None:
            score -= inside[ends] != piece.ends_inside
        origins.append(dict(zip(ends.tolist(), begins.tolist(), strict=True)))
        tight = tight.copy() if piece.is_mark else np.full(len(inside), _LOW, np.int32)
        tight[ends] = np.maximum(tight[ends], score)
        loose = np.maximum.accumulate(np.maximum(tight - 1 - inside, loose))
        rows.append((tight, loose))
    found: list[range | None] = [None] * len(pieces)
    place = len(text)
    in_gap = loose[-1] > tight[-1]
    for index in reversed(range(len(pieces))):
        tight, loose = rows[index + 1]
        if in_gap:
            opened = np.flatnonzero((tight - 1 - inside)[: place + 1] == loose[place])
            if not len(opened):
                continue
            place = int(opened[-1])
            in_gap = False
        if pieces[index].is_mark and rows[index][0][place] == tight[place]:
            continue
        end, place = place, origins[index][place]
        found[index] = range(place, end)
        tight, loose = rows[index]
        in_gap = loose[place] - inside[place] > tight[place]
    return found


def _ends(piece: str, text: str) -> Iterator[int]:
    place = text.find(piece)
    while piece and place >= 0:
        yield place + len(piece)
        place = text.find(piece, place + 1)
