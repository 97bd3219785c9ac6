"""Compare characters that tokenisers, taggers and parsers spell differently.

``(`` is ``-LRB-`` in the Penn Treebank, ``"`` is ````` `` ````` or ``''`` there, and ``&quot;`` for Moses; a
Unicode text has ``“``. Two tokens are the same if they are :func:`same`, whichever tool wrote them. Subword
tokenisers add :data:`MARKS`, and may write bytes.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

ENTITIES = {  # how the tokenizer of Moses writes the characters that its decoder reserves
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&apos;": "'",
    "&#124;": "|",
    "&#91;": "[",
    "&#93;": "]",
    "&amp;": "&",
}

MARKS = {  # marks that subword tokenisers add to tokens → patterns of their places
    "￭": "^￭|￭$",  # pyonmttok: no space before, or behind
    "@@": "@@$",  # subword-nmt: no space behind
    "##": "^##",  # WordPiece: no space before
    "▁": "▁",  # SentencePiece, pyonmttok: a space
    "Ġ": "Ġ",  # BPE of bytes: a space
    "</w>": "</w>$",  # the first BPE: a space behind
    "｟mrk_": r"｟mrk_\w+｠",  # pyonmttok: the case of letters
}

UNKNOWN_TOKENS = frozenset({"[UNK]", "<unk>", "⁇"})
"""Unknown pieces of WordPiece and SentencePiece."""

_OTHERS = {
    "-lrb-": "(",
    "-rrb-": ")",
    "-lsb-": "[",
    "-rsb-": "]",
    "-lcb-": "{",
    "-rcb-": "}",
    "&bar;": "|",
    "&bra;": "[",
    "&ket;": "]",
    "@-@": "-",
    "@,@": ",",
    "@.@": ".",
    "\\/": "/",
    "\\*": "*",
}
_SPELLINGS = ENTITIES | _OTHERS
_ENTITY = "&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});"
_BYTE = "(?:<0x[89ab][0-9a-f]>)"  # a continuation byte of UTF-8
_BYTES = f"<0x[0-7][0-9a-f]>|<0x[cd][0-9a-f]>{_BYTE}|<0xe[0-9a-f]>{_BYTE}{{2}}|<0xf[0-7]>{_BYTE}{{3}}"
_ESCAPE = "％[0-9a-f]{4}"  # of pyonmttok: a character that it reserves
_ANY = "|".join((*map(re.escape, _SPELLINGS), _ENTITY, _BYTES, _ESCAPE))
_SPELLING = re.compile(rf"(?=[&@<％\\-])(?:{_ANY})", re.IGNORECASE)

_CHARACTERS = str.maketrans(
    dict.fromkeys('"“”„‟«»', "''")  # two quotes, so that `` and '' are the same, also in pieces
    | dict.fromkeys("`´‘’‚‛‹›", "'")
    | dict.fromkeys("‐‑‒–—―−", "-")
    | {"▁": "_", "⁄": "/", "￨": "|", "│": "|"}
)
_DASHES = re.compile("-{2,3}")


@lru_cache(1 << 16)
def spelled_out(text: str) -> str:
    """Return the characters that a token stands for, without white space and differences of case.

    The result for two joined tokens is that of the first and that of the second, unless their border cuts a
    spelling such as ``&quot;``.
    """
    before = ""
    while text != before:  # &amp;quot; is &quot; is a quote
        before, text = text, _SPELLING.sub(_character, text)
    return folded(text)


@lru_cache(1 << 16)
def folded(text: str) -> str:
    """Return a token without white space and differences of case, form and width of characters."""
    for _ in range(2):  # NFKD may produce a quote or a dash
        text = unicodedata.normalize("NFKD", text.translate(_CHARACTERS)).casefold()
    return "".join(text.split())


def _character(match: re.Match[str]) -> str:
    spelling = match[0].lower()
    if spelling.startswith("<"):
        return bytes.fromhex(spelling.replace("<0x", "").replace(">", "")).decode("utf-8", "replace")
    if spelling.startswith("％"):
        return chr(int(spelling[1:], 16))
    return _SPELLINGS.get(spelling) or html.unescape(match[0])


def same(one: str, other: str) -> bool:
    """Return whether two tokens differ at most in spelling, case, ``_`` for a space, and length of dashes."""
    return one == other or _loosely(one) == _loosely(other)


def _loosely(token: str) -> str:
    return _DASHES.sub("-", without_underscores(token))


def without_underscores(text: str) -> str:
    """Return :func:`spelled_out` without ``_``, which joins the syllables of a word."""
    return spelled_out(text).replace("_", "")


def joined_spellings(tokens: Sequence[str]) -> list[range]:
    """Return runs of tokens that spell characters together: single tokens, or the parts of a ``&quot;``."""
    ends = list(accumulate(map(len, tokens)))
    whole = set(ends)
    for match in _SPELLING.finditer("".join(tokens)):
        if _character(match) != match[0]:
            whole.difference_update(range(match.start() + 1, match.end()))
    borders = [0, *(number for number, end in enumerate(ends, 1) if end in whole)]
    return [range(begin, end) for begin, end in pairwise(borders)]


def added_marks(tokens: Iterable[str], others: Iterable[str]) -> frozenset[str]:
    """Return the :data:`MARKS` that tokens have more often than others: those not in the text itself."""
    text, other = "".join(tokens), "".join(others)
    return frozenset(mark for mark in MARKS if mark in text and text.count(mark) > other.count(mark))


def without_marks(tokens: Sequence[str], marks: frozenset[str] = frozenset(MARKS)) -> list[str]:
    """Return the tokens without these :data:`MARKS`; a mark by itself becomes an empty string."""
    marks &= added_marks(tokens, ())
    if not marks:
        return list(tokens)
    pattern = re.compile("|".join(MARKS[mark] for mark in marks))
    return [pattern.sub("", token) for token in tokens]


def inner_ends(tokens: Sequence[str], bare: Sequence[str]) -> list[tuple[bool | None, bool | None]]:
    """Return for each token whether it begins and ends inside a word; None: marks do not say.

    ``bare`` are the tokens without marks.

    >>> tokens = ["▁un", "seen", "▁", "cat", "s"]
    >>> inner_ends(tokens, without_marks(tokens))
    [(False, None), (True, None), (None, None), (False, None), (True, None)]
    """
    behind, before = [""], [""]  # each border between tokens: marks of the one behind, and of the one before
    for token, text in zip(tokens, bare, strict=True):
        first, _, last = token.partition(text) if text else (token, "", "")
        before[-1] += first
        if text:
            behind.append(last)
            before.append("")
    used = added_marks(behind + before, ())
    spaced = "▁" in used or "Ġ" in used
    begins: list[bool | None] = []
    ends: list[bool | None] = []
    for last, first in zip(behind, before, strict=True):
        joined = "￭" in last + first
        begins.append(joined or "##" in first or (spaced and "▁" not in first and "Ġ" not in first))
        ends.append(joined or "@@" in last or ("</w>" in used and "</w>" not in last))
    if used and used <= {"@@", "</w>", "｟mrk_"}:
        begins = [None] * len(begins)
    if used and used <= {"##", "▁", "Ġ", "｟mrk_"}:
        ends = [None] * len(ends)
    pairs = zip(begins, ends[1:], strict=False)
    return [next(pairs) if text else (None, None) for text in bare]


_VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_BYTE_LEVEL = dict(zip(map(chr, _VISIBLE), _VISIBLE, strict=True)) | {
    chr(256 + number): byte for number, byte in enumerate(byte for byte in range(256) if byte not in _VISIBLE)
}


def from_byte_level(token: str) -> str:
    """Rewrite a token of a byte-level BPE (GPT-2), with bytes as ``<0xE6>``."""
    bytes_of = ((character, _BYTE_LEVEL.get(character, 0)) for character in token)
    return "".join(f"<0x{byte:02X}>" if byte > 127 else character for character, byte in bytes_of)
