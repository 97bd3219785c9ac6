"""Raw text to tokens, and tokens to raw text, by sacremoses and others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache

from preorder.annotate import tokenizers
from preorder.annotate.tokenizers import WITHOUT_SPACES
from preorder.data.formats import parse_tokens
from preorder.data.spellings import ENTITIES
from preorder.errors import UsageError, require

MODES = ("conservative", "aggressive", "char")
"""Modes of the OpenNMT tokenizer, which is the same for all languages."""

_ENTITY = re.compile("|".join(ENTITIES))
_LANGUAGE = re.compile("[a-z]{2,3}")
_SPACED = ("LATIN ", "DIGIT ", "GREEK ", "CYRILLIC ")  # so begin the names of characters of words with spaces


@cache
def make_tokenizer(name: str, escapes: bool = False) -> Callable[[str], list[str]]:
    """Return what splits a line of raw text into tokens, ``ENTITIES`` written where ``escapes``.

    ``name`` is one of :data:`MODES`, or the code of a language, as of ``preorder --tokenize``.
    """
    if name in MODES:
        import pyonmttok

        return pyonmttok.Tokenizer(name)
    try:
        tokenizers.check_language(name)
    except UsageError as error:
        raise UsageError(f"not {', '.join(MODES)}; {error}") from None
    return tokenizers.make_tokenizer(name, escapes)


@cache
def make_detokenizer(language: str) -> Callable[[str], str]:
    """Return what joins tokens to raw text, ``ENTITIES`` as characters.

    Languages without spaces keep those between words of Latin, Greek or Cyrillic letters or digits.
    """
    _check(language, "the code of a language")
    if language in WITHOUT_SPACES:
        return _join
    moses = require("sacremoses", "text").MosesDetokenizer(language)
    return lambda line: moses.detokenize(parse_tokens(line))


def is_escaped(vocabulary: Sequence[str]) -> bool:
    """Return whether a model's text had ``ENTITIES``: its words do, and have no quotes themselves."""
    quotes = any("'" in token or '"' in token for token in vocabulary)
    return not quotes and any(map(_ENTITY.search, vocabulary))


def _check(name: str, what: str) -> None:
    if not _LANGUAGE.fullmatch(name):
        raise UsageError(f"not {what}: {name!r}")


def _join(line: str) -> str:
    text = ""
    for token in (_ENTITY.sub(lambda match: ENTITIES[match[0]], each) for each in parse_tokens(line)):
        text += " " + token if text and _is_spaced(text[-1]) and _is_spaced(token[0]) else token
    return text


def _is_spaced(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_SPACED)
