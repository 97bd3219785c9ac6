"""One spelling for characters that tokenisers, taggers and parsers write in different ways.

``(`` is ``-LRB-`` in the Penn Treebank, ``"`` is ````` `` ````` or ``''`` there, and ``&quot;`` for Moses; a
Unicode text has ``“``. Two tokens are the same if they are :func:`same`, whichever tool wrote them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

ENTITIES = {
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&apos;": "'",
    "&#124;": "|",
    "&#91;": "[",
    "&#93;": "]",
    "&amp;": "&",
}
"""How the tokenizer of Moses writes the characters that its decoder reserves."""

BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
"""How the Penn Treebank writes brackets, here in lower case; it writes them in capitals."""

_OTHERS = {"&bar;": "|", "&bra;": "[", "&ket;": "]", "@-@": "-", "\\/": "/", "\\*": "*"}
_SPELLINGS = ENTITIES | BRACKETS | _OTHERS
_SPELLING = re.compile("|".join((*map(re.escape, _SPELLINGS), "&#([0-9]{1,5});")), re.IGNORECASE)

_CHARACTERS = str.maketrans(
    dict.fromkeys('"“”„‟«»', "''")  # two quotes, so that `` and '' are the same, also in pieces
    | dict.fromkeys("`´‘’‚‛‹›", "'")
    | dict.fromkeys("‐‑‒–—―−", "-")
)
_DASHES = re.compile("-{2,3}")


@lru_cache(1 << 16)
def spelled_out(text: str) -> str:
    """Return the characters that a token stands for, without white space and differences of case.

    The spelling of two tokens side by side is that of the one and then of the other, unless their border
    cuts a spelling such as ``&quot;``.

    >>> spelled_out("``"), spelled_out("“"), spelled_out("&quot;"), spelled_out('"')
    ("''", "''", "''", "''")
    >>> spelled_out("-LRB-"), spelled_out("1\\\\/2"), spelled_out("&#91;"), spelled_out("Ｆｉｎｅ")
    ('(', '1/2', '[', 'fine')
    """
    text = _SPELLING.sub(_character, text).translate(_CHARACTERS)
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(unicodedata.normalize("NFKD", folded).split())


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1])) if match[1] else _SPELLINGS[match[0].lower()]


def same(one: str, other: str) -> bool:
    """Return whether two tokens are one, but for spelling, case, ``_`` for a space, and the length of dashes.

    >>> same("26_000", "26 000"), same("–", "--"), same("a", "b")
    (True, True, False)
    """
    return one == other or _loosely(one) == _loosely(other)


def _loosely(token: str) -> str:
    return _DASHES.sub("-", spelled_out(token)).replace("_", "")
