"""Penn Treebank bracketings: ``(ROOT (S (NP (PRP I)) (VP (VBP see))))``.

Tokens keep their spelling: a bracket is ``-LRB-`` or the like. Traces of moved words (tag ``-NONE-``) are
left out, and so are phrases without tokens. An empty text is an empty sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from preorder.data.sentence import Sentence
from preorder.data.trees import ConstituencyTree, Constituent
from preorder.errors import DataError, shown

TRACE = "-NONE-"

_PIECE = re.compile(r"\([ \t\n]*[^ \t\n()]*|\)|[^ \t\n()]+")


def bracketings(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield each bracketing with the number of its first line; a blank line is one of its own.

    It ends with the line on which its brackets are closed, and its further lines are indented.

    Raises:
        DataError: its brackets are not closed there; with the line number.
    """
    first, tree, opened = 0, "", 0
    for number, line in lines:
        if not opened:
            first, tree = number, line
        elif line[:1] in " \t" and line:
            tree += "\n" + line
        else:
            break
        opened += line.count("(") - line.count(")")
        if opened <= 0:
            yield first, tree
            opened = 0
    if opened:
        raise DataError(f"{opened} brackets are not closed", None, first)


def parse_bracketing(line: str) -> Sentence:
    """Parse a bracketing into words, tags and a constituency tree. Linear in its length.

    Raises:
        DataError: the brackets do not match, or a token has no tag.
    """
    words: list[str] = []
    tags: list[str] = []
    phrases: list[Constituent | None] = []  # parents first; None: still open, or without tokens
    opened: list[tuple[str, int, int]] = []  # label, index in phrases, first token
    previous = ""
    for piece in _PIECE.findall(line):
        if piece[0] == "(":
            if previous and not opened:
                raise DataError("more than one tree")
            if previous and previous[0] not in "()":
                raise DataError(f"token {shown(previous)} has no bracket of its own")
            opened.append((piece[1:].strip(" \t\n"), len(phrases), len(words)))
            phrases.append(None)
        elif not opened:
            raise DataError(f"{shown(piece)} outside all brackets")
        elif piece != ")":
            if previous[0] != "(":
                raise DataError(f"token {shown(piece)} has no bracket of its own")
            phrases.pop()
            if opened[-1][0] != TRACE:
                words.append(piece)
                tags.append(opened[-1][0])
        else:
            label, index, begin = opened.pop()
            if previous[0] in "()" and begin < len(words):
                phrases[index] = Constituent(begin, len(words), label)
        previous = piece
    if opened:
        raise DataError(f"{len(opened)} brackets are not closed")
    tree = ConstituencyTree(len(words), tuple(phrase for phrase in phrases if phrase is not None))
    return Sentence(tuple(words), tuple(tags), tree=tree)
