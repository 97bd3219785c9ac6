"""Parts of speech of Japanese by UniDic, for text that is cut into its short units."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from preorder.errors import DataError, require

INFLECTED = ("動詞", "形容詞", "助動詞")  # verbs, adjectives, auxiliaries
NONE = "*"


class Word(NamedTuple):
    """A word that UniDic has found, with its tag."""

    surface: str
    tag: str


Tagger = Callable[[str], list[Word]]
"""Cuts a text into words."""


def japanese_tagger() -> Tagger:
    """Return the tagger of the corpus: NFKC, and short units of UniDic.

    Raises:
        MissingExtraError: fugashi or unidic-lite is not installed.
    """
    for module in ("unidic_lite", "fugashi"):
        fugashi = require(module, "japanese")
    tagger = fugashi.Tagger()
    return lambda text: [
        Word(word.surface, tag_of(word.feature)) for word in tagger(unicodedata.normalize("NFKC", text))
    ]


def tag_of(feature: Any) -> str:
    """Return UniDic's part of speech, as ``助詞-格助詞``; of what is inflected, with its form."""
    is_inflected = feature.pos1 in INFLECTED
    second = feature.cForm.partition("-")[0] if is_inflected and feature.cForm else feature.pos2
    return feature.pos1 if second in (None, NONE) else f"{feature.pos1}-{second}"


def tags_of(tokens: Sequence[str], tagger: Tagger) -> list[str]:
    """Return for each token the tag of the word in which it begins.

    Raises:
        DataError: the tagger has changed the text.
    """
    words = tagger(joined(tokens))
    if "".join(word.surface for word in words) != "".join(tokens):
        raise DataError("UniDic reads other characters here: is the text in NFKC?")
    of_character = [word.tag for word in words for _ in word.surface]
    begins = accumulate(map(len, tokens[:-1]), initial=0)
    return [of_character[begin] for begin in begins] if tokens else []


def joined(tokens: Iterable[str]) -> str:
    """Return Japanese text without the spaces between its tokens, but for those between Latin words."""
    text = ""
    for token in tokens:
        text += (" " if text[-1:].isascii() and token.isascii() and text else "") + token
    return text
