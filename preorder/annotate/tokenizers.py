"""Split plain text into tokens, by a library that knows the language.

Moses' rules (sacremoses) serve languages that write spaces between words. SudachiPy serves Japanese; its
shortest units (mode A) are the words that function words stand apart from.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from preorder.errors import UsageError, require

Tokenizer = Callable[[str], list[str]]
"""Splits one line of plain text into tokens without spaces."""


IDENTIFIER = r"[^\W\d]\w*(?:\.\w+)+|\w*_\w*"


def moses(language: str) -> Tokenizer:
    """Return Moses' tokenizer of a language; an identifier such as ``os.path`` stays one token."""
    tokenizer = require("sacremoses", "text").MosesTokenizer(lang=language)
    return lambda line: tokenizer.tokenize(line, escape=False, protected_patterns=[IDENTIFIER])


def sudachi(language: str) -> Tokenizer:
    """Return SudachiPy's tokenizer in mode A, which is for Japanese."""
    if language != "ja":
        raise UsageError(f"SudachiPy splits Japanese (ja), not {language}")
    require("sudachidict_core", "japanese")
    sudachipy = require("sudachipy", "japanese")
    tokenizer = sudachipy.Dictionary().tokenizer(mode=sudachipy.SplitMode.A)
    return lambda line: [text for one in tokenizer.tokenize(line) if (text := one.surface().strip())]


TOKENIZERS = MappingProxyType({"moses": moses, "sudachi": sudachi})
"""Name → the function that gives the :data:`Tokenizer` of a language code."""


def usual(language: str) -> str:
    """Return the name of the tokenizer that is taken for a language unless another one is named."""
    return "sudachi" if language == "ja" else "moses"
