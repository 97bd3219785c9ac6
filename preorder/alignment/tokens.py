"""Links between other tokens of the same text, which share characters with those that are linked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from preorder.data.alignment import Alignment, Link
from preorder.data.errors import DataError


def overlapping(old: Sequence[str], new: Sequence[str]) -> list[list[int]]:
    """Return for each old token the indices of the new tokens that share a character with it.

    The texts must be the same but for where their tokens end, for the case of letters, and for the width and
    form of characters (NFKC). O(characters).

    Raises:
        DataError: they are not.
    """
    owners = [[index for index, token in enumerate(tokens) for _ in _plain(token)] for tokens in (old, new)]
    if _plain("".join(old)) != _plain("".join(new)) or len(owners[0]) != len(owners[1]):
        raise DataError(f"these are not the same characters: {''.join(old)} and {''.join(new)}")
    found: list[list[int]] = [[] for _ in old]
    for one, other in sorted(set(zip(*owners, strict=True))):
        found[one].append(other)
    return found


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


Tokens = tuple[Sequence[str], Sequence[str]]
"""Old and new tokens of the same text."""


def map_links(alignment: Alignment, sources: Tokens | None, targets: Tokens | None) -> Alignment:
    """Map the links of a sentence pair to other tokens of the same text.

    A link becomes links between all new tokens that share a character with its two tokens. Of several
    confidences, the new link has the greatest; it is possible only if no sure link became it.

    Args:
        alignment: of the old tokens.
        sources, targets: the tokens of each side; None: they stay.

    Raises:
        DataError: a link is out of range, or the characters are not the same.
    """
    alignment.check_within(*(len(side[0]) if side else None for side in (sources, targets)))
    maps = [overlapping(*side) if side else None for side in (sources, targets)]

    def mapped(link: Link) -> Iterator[Link]:
        return product(*(news[index] if news else [index] for news, index in zip(maps, link, strict=True)))

    sure: dict[Link, float] = {}
    for link, confidence in alignment.confidences().items():
        for new in mapped(link):
            sure[new] = max(confidence, sure.get(new, 0))
    possible = {new for link in alignment.possible for new in mapped(link)} - sure.keys()
    return replace(Alignment.weighted(sure), possible=frozenset(possible))
