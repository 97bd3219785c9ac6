"""Which word each piece (subword) of a sentence belongs to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from onmt_preorder.input.positions import NO_POSITION

# Joiner and spacer of pyonmttok and SentencePiece, its case marks, subword-nmt's @@.
_MARKS = re.compile(r"￭|▁|｟mrk_\w+｠|@@$")


def words_of_pieces(pieces: Sequence[str], words: Sequence[str]) -> list[int]:
    """Return the index of the word that each piece stems from, by counting characters.

    Where there are as many pieces as words, and half of them are these words, each is the word in its place.

    The marks of subword tokenisers are not counted; differences of case and of Unicode compatibility are
    ignored. A piece without characters of a word (a mark by itself, a byte, a prefix) belongs to the word
    that the next piece continues or begins. Linear in the number of characters, unless pieces are missing.

    >>> words_of_pieces(["▁un", "seen", "▁", "cat", "s"], ["unseen", "cats"])
    [0, 0, 1, 1, 1]
    """
    if len(pieces) == len(words) and 2 * sum(map(str.__eq__, pieces, words)) >= len(words):
        return list(range(len(words)))  # nothing is split; some words may be others, as transforms make them
    plain = [_plain(word) for word in words]
    text = "".join(plain)
    owners = [index for index, word in enumerate(plain) for _ in word]
    found, cursor = [], 0
    for piece in pieces:
        begin, cursor = _find(piece, text, cursor)
        found.append(owners[begin] if begin < len(owners) else len(words) - 1)
    return found


def positions_of_pieces(pieces: Sequence[str], words: Sequence[str], positions: Sequence[str]) -> list[str]:
    """Return the position of the word that each piece stems from; one without a position keeps its original.

    >>> positions_of_pieces(["un@@", "seen", "cat@@", "s"], ["unseen", "cats"], ["1", "_"])
    ['1', '1', '1', '1']
    """
    known = [str(index) if number == NO_POSITION else number for index, number in enumerate(positions)]
    return [known[word] for word in words_of_pieces(pieces, words)]


def _find(piece: str, text: str, cursor: int) -> tuple[int, int]:
    """Return where the piece begins in the text from the cursor on, and the new cursor."""
    bare = _plain(_MARKS.sub("", piece))
    for characters in (_plain(piece), bare):  # a mark may also be the text's own
        if characters and text.startswith(characters, cursor):
            return cursor, cursor + len(characters)
    ahead = text.find(bare, cursor) if bare else -1
    return (cursor, cursor) if ahead < 0 else (ahead, ahead + len(bare))


def _plain(characters: str) -> str:
    return unicodedata.normalize("NFKC", characters).casefold()
