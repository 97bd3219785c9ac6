"""Syntax trees, one for each source sentence, checked against its tokens: bracketings and CoNLL-U.

Bracketings are those of the Penn Treebank: ``(ROOT (S (NP (PRP I)) (VP (VBP see))))``. Traces of moved words
(tag ``-NONE-``) and phrases without tokens are left out. Other treebanks write traces, zero pronouns and the
number of the sentence as leaves (``(NP-SBJ *pro*)``, ``(ID 1_x)``): they are left out if the text lacks them.
``nltk.Tree`` would need the same checks, twice the time, and seconds for its import.

CoNLL-U has a line of ten tab-separated fields for each word, and a blank line after each sentence. Comments
and empty nodes (``8.1``) are skipped. A sentence has several readings: its tokens; its words, if it has
multiword tokens (``1-2``); and both with forms with spaces as several tokens. A sentence has no parse if its
heads are all ``_``, or no tree.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

from preorder.data.sentence import Sentence
from preorder.data.spellings import same
from preorder.data.trees import ROOT, ConstituencyTree, Constituent, DependencyTree
from preorder.errors import DataError, errors_in, shown
from preorder.io import files
from preorder.progress import LOGGER

_PIECE = re.compile(r"\([ \t\n]*[^ \t\n()]*|\)|[^ \t\n()]+")
_BRACKETED = re.compile(r"\([ \t\n]*([^ \t\n()]+)[ \t\n]*\)")  # a leaf in brackets of its own: (NN (cat))
_NO_PARSE = 2  # most labels of a bracketing without a parse: (()), (ROOT (S))

_SILENT = re.compile(r"0|\*([^*]*\*)?(-[0-9]+)?")  # a trace or a zero pronoun: *, *-1, *T*-2, *speaker*
_SILENT_TAGS = frozenset({"ID", "CODE"})  # of the number of a sentence, and of editors' notes


def bracketings(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the number of the first line of each bracketing, and its text; further lines are indented."""
    first, tree, opened = 0, "", 0
    for number, line in lines:
        if opened and line[:1] in " \t" and line:
            tree += "\n" + line
        else:
            if opened:  # parse_bracketing refuses it
                yield first, tree
            first, tree, opened = number, line, 0
        opened += line.count("(") - line.count(")")
        if opened <= 0:
            yield first, tree
            opened = 0
    if opened:
        yield first, tree


def parse_bracketing(line: str) -> Sentence:
    """Parse a bracketing into words, tags and a constituency tree. Linear in its length.

    If all leaves are in brackets of their own, ``(NN (cat))``, they are its words.
    """
    words: list[str] = []
    tags: list[str] = []
    phrases: list[Constituent | None] = []  # parents first; None: still open, or without tokens
    opened: list[tuple[str, int, int]] = []  # label, index in phrases, first token
    previous, labels, has_leaves = "", 0, False
    for piece in _PIECE.findall(line):
        if piece[0] == "(":
            if previous and not opened:
                raise DataError("more than one tree")
            if previous and previous[0] not in "()":
                raise DataError(f"token {shown(previous)} has no bracket of its own")
            opened.append((piece[1:].strip(" \t\n"), len(phrases), len(words)))
            phrases.append(None)
            labels += bool(opened[-1][0])
        elif not opened:
            raise DataError(f"{shown(piece)} outside all brackets")
        elif piece != ")":
            if previous[0] != "(":
                raise DataError(f"token {shown(piece)} has no bracket of its own")
            phrases.pop()
            has_leaves = True
            if opened[-1][0] != "-NONE-":  # the tag of a trace
                words.append(piece)
                tags.append(opened[-1][0])
        else:
            label, index, begin = opened.pop()
            if previous[0] in "()" and begin < len(words):
                phrases[index] = Constituent(begin, len(words), label)
        previous = piece
    if opened:
        raise DataError(f"{len(opened)} brackets are not closed")
    if labels > _NO_PARSE and not has_leaves:
        bare = _BRACKETED.sub(r" \1 ", line)
        with suppress(DataError):
            if bare != line:
                return parse_bracketing(bare)
        raise DataError("the tree has labels, but no tokens")
    tree = ConstituencyTree(len(words), tuple(phrase for phrase in phrases if phrase is not None))
    return Sentence(tuple(words), tuple(tags), tree=tree)


# --- CoNLL-U ---

NO_VALUE = "_"

Tagset = Literal["xpos", "upos"]  # columns of tags: of the treebank, of Universal Dependencies
TAGSETS: tuple[Tagset, ...] = get_args(Tagset)
TAGSET_COMMENT = "# tagset = "  # begins the first line of a file that names its tagset

_LOOKED_AT = 1000  # lines that are searched for known tags
_COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC".split()
_UNKNOWN = -2  # head of a word of a sentence without a parse

_WORD, _TOKEN, _EMPTY_NODE = (re.compile(p.replace("N", "[0-9]{1,9}")) for p in (r"N", r"(N)-(N)", r"N\.N"))


class _Row(NamedTuple):
    """A word, or a multiword token: ``first`` and ``last`` are its first and last word, from 0."""

    first: int
    last: int
    form: str
    tag: str
    head: int
    relation: str


def _refuse(error: DataError) -> None:
    raise error


def parse_conllu(
    lines: Iterable[tuple[int, str]],
    tagset: Tagset = "upos",
    no_tree: Callable[[DataError], None] = _refuse,
) -> Iterator[tuple[int, list[Sentence]]]:
    """Yield the first line of each sentence, and its readings, that of the tokens first.

    ``no_tree`` is called for a sentence whose heads are no tree; its tokens become roots.
    """
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip():
            block.append((number, line))
        else:
            yield (block[0][0] if block else number), _readings(block, tagset, no_tree)
            block = []
    if block:
        yield block[0][0], _readings(block, tagset, no_tree)


def _readings(
    block: Sequence[tuple[int, str]], tagset: Tagset, no_tree: Callable[[DataError], None]
) -> list[Sentence]:
    words: list[_Row] = []
    tokens: list[_Row] = []
    for number, line in block:
        with errors_in(None, number):
            _read_row(line, words, tokens, tagset)
    first = block[0][0] if block else None
    unknown = sum(row.head == _UNKNOWN for row in words)
    if unknown == len(words):
        words = _roots(words)
    try:
        with errors_in(None, first):
            if 0 < unknown < len(words):
                raise DataError(f"{unknown} of {len(words)} words have no head")
            parsed = _sentence(words)
    except DataError as error:
        no_tree(error)
        words = _roots(words)
        parsed = _sentence(words)
    with errors_in(None, first):
        joined = [_joined(words, tokens)] if tokens else []
    parted = (_parted(rows) for rows in (*joined, words) if any(" " in row.form for row in rows))
    return [*map(_sentence, joined), parsed, *map(_sentence, parted)]


def _roots(rows: Sequence[_Row]) -> list[_Row]:
    return [row._replace(head=ROOT, relation=NO_VALUE) for row in rows]


def _read_row(line: str, words: list[_Row], tokens: list[_Row], tagset: Tagset) -> None:
    if line.startswith("#"):
        if line.startswith("# global.columns = ") and line.split()[3:] != _COLUMNS:
            raise DataError(f"CoNLL-U Plus: its columns are not those of CoNLL-U, {' '.join(_COLUMNS)}")
        return
    fields = line.split("\t")
    if len(fields) != 10:
        raise DataError(f"{len(fields)} tab-separated fields where CoNLL-U has 10")
    number, form, _, upos, xpos, _, head, relation, _, _ = fields
    if _EMPTY_NODE.fullmatch(number):
        return
    if span := _TOKEN.fullmatch(number):
        first, last = int(span[1]) - 1, int(span[2]) - 1
        if first != len(words) or last < first or (tokens and first <= tokens[-1].last):
            raise DataError(f"token {number} does not stand before its words")
        tokens.append(_Row(first, last, form, NO_VALUE, ROOT, NO_VALUE))
        return
    if not _WORD.fullmatch(number) or int(number) != len(words) + 1:
        raise DataError(f"word number {shown(number)} where {len(words) + 1} is expected")
    head = head or NO_VALUE  # as spaCy's converters leave it
    if not _WORD.fullmatch(head) and head != NO_VALUE:
        raise DataError(f"head {shown(head)} is no number")
    tag, other = (xpos, upos) if tagset == "xpos" else (upos, xpos)
    tag = other if tag == NO_VALUE else tag
    if not tag or " " in tag:
        raise DataError(f"tag {shown(tag)} is empty or has a space in it")
    above = _UNKNOWN if head == NO_VALUE else int(head) - 1
    words.append(_Row(len(words), len(words), form, tag, above, relation))


def _parted(rows: Sequence[_Row]) -> list[_Row]:
    firsts = {ROOT: ROOT}
    parts: list[_Row] = []
    for index, row in enumerate(rows):
        firsts[index] = len(parts)
        first, *others = [part for part in row.form.split(" ") if part] or [row.form]
        parts.append(row._replace(form=first))
        parts += [row._replace(form=other, head=index, relation="flat") for other in others]
    return [row._replace(head=firsts[row.head]) for row in parts]


def _sentence(rows: Sequence[_Row]) -> Sentence:
    _, _, forms, tags, heads, relations = zip(*rows, strict=True) if rows else ((),) * len(_Row._fields)
    return Sentence(forms, tags, tree=DependencyTree(heads, relations))


def _joined(words: Sequence[_Row], tokens: Sequence[_Row]) -> list[_Row]:
    """Return the rows of the tokens; a multiword token has that of its word nearest to the root."""
    if tokens[-1].last >= len(words):
        raise DataError(f"token {shown(tokens[-1].form)} has words beyond the sentence")
    starts = {token.first: token for token in tokens}
    rows: list[_Row] = []
    token_of: dict[int, int] = {ROOT: ROOT}
    for word in words:
        if rows and word.first <= rows[-1].last:
            token_of[word.first] = len(rows) - 1
            continue
        token_of[word.first] = len(rows)
        token = starts.get(word.first, word)
        nearest = min(words[token.first : token.last + 1], key=lambda row: _depth(words, row.first))
        rows.append(nearest._replace(first=token.first, last=token.last, form=token.form))
    return [row._replace(head=token_of[row.head]) for row in rows]


def _depth(words: Sequence[_Row], word: int) -> int:
    depth = 0
    while words[word].head != ROOT:
        word = words[word].head
        depth += 1
    return depth


# --- files ---

NO_TAG = "X"  # of tokens without a parse and without a given tag


class TreeFile:
    """A file of bracketings or of CoNLL-U, as its first filled line shows.

    ``tagset`` is None for bracketings; for CoNLL-U it is the given one, or that of the first line, or UPOS. A
    broken tree is counted, and read as no tree. With ``strict``, or if it is the first, it is an error.
    """

    def __init__(self, path: str, tagset: Tagset | None = None, strict: bool = False) -> None:
        self.path = path
        self.strict = strict
        self.broken = 0  # sentences so far whose brackets or heads are no tree
        self.first_broken = ""  # place and message of the first
        first, self._lines = files.first_filled(files.read_lines(path))
        is_conllu = first and not first.lstrip().startswith("(")
        if is_conllu and not first.startswith("#") and "\t" not in first:
            raise DataError("neither bracketings, (S (NN a)), nor CoNLL-U", files.display_name(path))
        named = first.removeprefix(TAGSET_COMMENT)
        tagset = tagset or (named if named in TAGSETS else "upos")
        self.tagset: Tagset | None = tagset if is_conllu else None

    def __iter__(self) -> Iterator[tuple[int, list[Sentence]]]:
        """Yield the first line of each tree, from 1, and its readings as sentences; only once."""
        lines = enumerate(self._lines, 1)
        with errors_in(files.display_name(self.path)):
            if self.tagset:
                yield from parse_conllu(lines, self.tagset, self._count_broken)
                return
            refuse: Callable[[DataError], None] = _refuse
            for number, tree in bracketings(lines):
                try:
                    sentence = parse_bracketing(tree)
                except DataError as error:
                    refuse(error.at(None, number))
                    sentence = parse_bracketing("(())")
                yield number, [sentence]
                refuse = self._count_broken

    def _count_broken(self, error: DataError) -> None:
        if self.strict:
            raise error
        self.broken += 1
        self.first_broken = self.first_broken or str(error.at(files.display_name(self.path), None))


def known_tagset(path: str, knows: Callable[[str], bool]) -> Tagset | None:
    """Return the tagset in the first lines of a CoNLL-U file of which a model knows more tags.

    None: it knows equally many, or the file is no CoNLL-U, or names its tagset.
    """
    lines = list(islice(files.read_lines(path), _LOOKED_AT))
    if any(line.startswith(TAGSET_COMMENT) for line in lines[:1]):
        return None
    rows = [fields for line in lines if len(fields := line.split("\t")) == len(_COLUMNS)]
    xpos, upos = (sum(knows(row[_COLUMNS.index(tagset.upper())]) for row in rows) for tagset in TAGSETS)
    return None if xpos == upos else "xpos" if xpos > upos else "upos"


def add_trees(source: str, sentences: Iterable[Sentence], trees: TreeFile) -> Iterator[Sentence]:
    """Yield the sentences with the trees of a file; sentences without tags get those of their trees.

    A tree without tokens (a blank line, ``(())``, only comments) belongs to an empty sentence, or to one
    without a parse, which gets a flat tree. One warning counts missing and broken trees. The file of trees
    may leave out empty lines of the text.
    """
    tree_of = iter(trees)
    count = lines = skipped = 0  # skipped: trees without tokens before the next tree
    flat = first = 0  # sentences without a parse, and the line of the first
    has_heads, following = False, None
    for lines, sentence in enumerate(sentences, 1):
        while following is None and (tree := next(tree_of, None)) is not None:
            count += 1
            has_heads, has_words = tree[1][0].dependency is not None, _has_words(tree[1][0])
            following = tree if has_words or (len(sentence) and _matching(sentence, tree[1])) else None
            skipped += following is None
        reading = following and _matching(sentence, following[1])
        if reading:
            skipped, following = 0, None
        elif sentence.words and not skipped:
            if following is None:
                raise files.ended_early(trees.path, source, count + 1)
            reason = _difference(sentence.words, following[1][0])
            raise DataError(reason, files.display_name(trees.path), following[0])
        else:
            skipped = max(skipped - 1, 0)
            reading = _flat(sentence, has_heads)
        if len(sentence) > 1 and reading.is_flat:
            if trees.strict:
                raise DataError("the sentence has no tree (--strict)", files.display_name(source), lines)
            flat, first = flat + 1, first or lines
        yield _with_layers(sentence, reading)
    if following or any(_has_words(readings[0]) for _, readings in tree_of):
        raise files.ended_early(source, trees.path, lines + 1)
    without = []
    if flat:
        without.append(f"{files.display_name(source)}:{first}: no tree, as of {flat:,} sentences in all")
    if trees.broken:
        without.append(f"{trees.first_broken}, the first of {trees.broken:,} broken trees")
    if without:
        LOGGER.warning(
            f"{'; '.join(without)}: methods on trees keep their order; a tag that is not given is {NO_TAG}"
        )


def with_bracketing(sentence: Sentence, bracketing: str) -> Sentence:
    """Return a sentence with a tree, and the tags of the tree if it has none; no parse: a flat tree."""
    parsed = parse_bracketing(bracketing)
    reading = _matching(sentence, [parsed if parsed.words else _flat(sentence, has_heads=False)])
    if reading is None:
        raise DataError(_difference(sentence.words, parsed))
    return _with_layers(sentence, reading)


def _with_layers(sentence: Sentence, reading: Sentence) -> Sentence:
    return replace(sentence, tags=reading.tags if sentence.tags is None else sentence.tags, tree=reading.tree)


def _flat(sentence: Sentence, has_heads: bool) -> Sentence:
    n = len(sentence)
    tree = DependencyTree((ROOT,) * n, (NO_VALUE,) * n) if has_heads else ConstituencyTree(n, ())
    return Sentence(sentence.words, (NO_TAG,) * n, tree=tree)


def _has_words(reading: Sentence) -> bool:
    return not all(_silent(reading))


def _silent(reading: Sentence) -> list[bool]:
    """Return for each leaf whether the text may lack it."""
    if reading.constituency is None or reading.tags is None:
        return [False] * len(reading)
    leaves = zip(reading.words, reading.tags, strict=True)
    return [tag in _SILENT_TAGS or bool(_SILENT.fullmatch(leaf)) for leaf, tag in leaves]


def _matching(sentence: Sentence, readings: Sequence[Sentence]) -> Sentence | None:
    """Return the first reading with the tokens of the sentence, in any spelling."""
    for reading in readings:
        if len(reading) == len(sentence) and all(map(same, sentence.words, reading.words)):
            return reading
        tree = reading.constituency if len(reading) > len(sentence) else None
        if tree is not None and (kept := _kept(sentence.words, reading)) is not None:
            return _with_leaves(reading, tree, kept)
    return None


def _kept(words: Sequence[str], reading: Sentence) -> list[int] | None:
    """Return the indices of the leaves that are the words; None if another leaf may not be missing."""
    paths: dict[int, Any] = {0: ()}  # for the first n words: the last leaf, and the path before it
    for index, (leaf, may_miss) in enumerate(zip(reading.words, _silent(reading), strict=True)):
        fits = ((n, path) for n, path in paths.items() if n < len(words) and same(leaf, words[n]))
        longer = {n + 1: (index, path) for n, path in fits}
        paths = (paths if may_miss else {}) | longer
    path, kept = paths.get(len(words)), []
    while path:
        index, path = path
        kept.append(index)
    return None if path is None else kept[::-1]


def _with_leaves(reading: Sentence, tree: ConstituencyTree, kept: Sequence[int]) -> Sentence:
    """Return a reading with some of its leaves, and the constituents over them."""
    phrases = (
        Constituent(bisect_left(kept, begin), bisect_left(kept, end), label)
        for begin, end, label in tree.constituents
    )
    words, tags = (tuple(layer[i] for i in kept) for layer in (reading.words, reading.tags or ()))
    filled = tuple(phrase for phrase in phrases if phrase.begin < phrase.end)
    return Sentence(words, tags, tree=ConstituencyTree(len(kept), filled))


def _difference(words: tuple[str, ...], reading: Sentence) -> str:
    pairs = zip(reading.words, _silent(reading), strict=True)
    leaves = [leaf for leaf, may_miss in pairs if not may_miss or leaf in words]
    lengths = f"the tree has {len(leaves)} tokens, the sentence {len(words)}"
    for number, (word, leaf) in enumerate(zip(words, leaves, strict=False), 1):
        if not same(word, leaf):
            where = f"token {number} of the tree is {leaf!r}, of the sentence {word!r}"
            return where if len(words) == len(leaves) else f"{lengths}; {where}"
    is_part = len(leaves) < len(words)
    return lengths + "; a line is one sentence: the parser must not split it" * is_part
