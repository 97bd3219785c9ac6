"""Split plain text into tokens, by a library that knows the language.

Moses' rules (sacremoses) serve languages that write spaces between words. SudachiPy serves Japanese; its
shortest units (mode A) are the words that function words stand apart from. Stanza's models serve all others.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from types import MappingProxyType

from preorder.annotate.options import LANGUAGE, AnnotatorOptions
from preorder.annotate.stanza import load_tokenizer
from preorder.data.texts import text_lines
from preorder.errors import DataError, UsageError, message_of, require
from preorder.io.files import parse_lines
from preorder.progress import LOGGER

Tokenizer = Callable[[str], list[str]]
"""Splits one line of plain text into tokens without spaces."""

WITHOUT_SPACES = frozenset({"ja", "zh", "zh-hans", "zh-hant", "yue", "th", "lo", "km", "my"})
"""Languages whose words no space separates."""

IDENTIFIER = r"[^\W\d]\w*(?:\.\w+)+|\w*_\w*"


def moses(language: str, escapes: bool = False) -> Tokenizer:
    """Return Moses' tokenizer of a language; an identifier such as ``os.path`` stays one token.

    ``escapes``: it writes ``&amp;``, ``&apos;``, ``&quot;`` and the like.
    """
    tokenizer = require("sacremoses", "text").MosesTokenizer(lang=language)
    return partial(tokenizer.tokenize, escape=escapes, protected_patterns=[IDENTIFIER])


def sudachi(language: str) -> Tokenizer:
    """Return SudachiPy's tokenizer in mode A, which is for Japanese."""
    if language != "ja":
        raise UsageError(f"SudachiPy splits Japanese (ja), not {language}")
    require("sudachidict_core", "japanese")
    sudachipy = require("sudachipy", "japanese")
    tokenizer = sudachipy.Dictionary().tokenizer(mode=sudachipy.SplitMode.A)
    return lambda line: [text for one in tokenizer.tokenize(line) if (text := one.surface().strip())]


def stanza(language: str) -> Tokenizer:
    """Return Stanza's tokenizer of a language, whose model is downloaded if it is missing."""
    pipeline = load_tokenizer(AnnotatorOptions(language))

    def tokenize(line: str) -> list[str]:
        sentences = pipeline(line).sentences if line.strip() else ()
        return [part for one in sentences for token in one.tokens for part in token.text.split()]

    return tokenize


TOKENIZERS = MappingProxyType({"moses": moses, "sudachi": sudachi, "stanza": stanza})
"""Name → the function that gives the :data:`Tokenizer` of a language code."""

_MODULES = {"moses": "sacremoses", "sudachi": "sudachipy", "stanza": "stanza"}


def usual(language: str) -> str:
    """Return the name of the tokenizer of a language: the first that is installed, or else the first."""
    if language == "ja":
        names: tuple[str, ...] = ("sudachi", "stanza")
    else:
        names = ("stanza",) if language in WITHOUT_SPACES else ("moses", "stanza")
    return next((name for name in names if importlib.util.find_spec(_MODULES[name])), names[0])


def check_language(text: str) -> str:
    """Check a language code, which may be followed by the name of a tokenizer: ``en``, ``ja:stanza``."""
    language, colon, name = text.partition(":")
    if not re.fullmatch("[a-z]{2,3}(-[a-z]+)?", language) or not LANGUAGE.fullmatch(language):
        raise UsageError(f"not the code of a language: {text!r}")
    if colon and name not in TOKENIZERS:
        raise UsageError(f"no tokenizer {name!r}, only: {', '.join(TOKENIZERS)}")
    return text


def _chosen(text: str) -> tuple[str, str]:
    language, _, name = check_language(text).partition(":")
    return language, name or usual(language)


@cache
def make_tokenizer(text: str, escapes: bool = False) -> Tokenizer:
    """Return the tokenizer of a language: ``en``, or ``en:stanza`` to choose one.

    It raises a DataError for a line that it cannot split: SudachiPy refuses those of over 49,149 bytes.
    """
    language, name = _chosen(text)
    return partial(_split, moses(language, escapes) if name == "moses" else TOKENIZERS[name](language))


def _split(tokenize: Tokenizer, line: str) -> list[str]:
    try:
        return tokenize(line)
    except Exception as error:
        raise DataError(f"the tokenizer cannot split the line: {message_of(error)}") from None


def log_tokenizers(*texts: str | None) -> None:
    """Log which tokenizers :func:`make_tokenizer` makes of these texts; None: none."""
    for text in filter(None, texts):
        language, name = _chosen(text)
        make_tokenizer(text)  # is it installed?
        version = importlib.metadata.version(_MODULES[name])
        mode = {"moses": ", Moses' rules", "sudachi": ", mode A"}.get(name, "")
        LOGGER.info(f"tokenize: {language} by {_MODULES[name]} {version}{mode}")
        if name == "moses":
            known = require("sacremoses", "text").corpus.NonbreakingPrefixes().available_langs
            if language not in {*known, "ko"}:
                LOGGER.warning(f"sacremoses has no abbreviations of {language!r}: it takes those of English")


def tokenised(path: str, text: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield each line of a file of plain text as tokens that spaces separate."""
    tokenize = make_tokenizer(text)
    return parse_lines(path, text_lines(path, iter(lines)), lambda line: " ".join(tokenize(line)))


def languages_of(text: str) -> tuple[str, ...]:
    """Return what ``--tokenize`` names for the two sides of a bitext: ``en,ja``, or ``en,ja:stanza``."""
    languages = tuple(text.split(","))
    if len(languages) != 2:
        raise UsageError(f"not two languages, as in en,ja: {text!r}")
    return tuple(map(check_language, languages))
