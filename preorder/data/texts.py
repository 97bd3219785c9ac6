"""Recognise tokenised text, and the output of other tools.

A file of another kind is refused by its first filled line, or by two where text may look like it, with a
remedy. Text that does not look tokenised gets one warning. Lines are passed on one by one: a stream is
answered line by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from preorder.data.formats import parse_tokens
from preorder.data.sentence import Sentence
from preorder.data.spellings import MARKS
from preorder.errors import DataError, errors_in, shown
from preorder.io.files import display_name, parse_lines, read_lines
from preorder.progress import LOGGER

T = TypeVar("T")

JUDGED = 2  # filled lines by which a file is refused where text may look like it
LOOKED_AT = 100  # filled lines that are looked at
FEWEST = 10  # lines that must show that a text is not tokenised
LONG = 15  # characters: a longer line without a space is more than a word

_PLAIN = "give a file with one tokenised sentence a line"


class Kind(NamedTuple):
    """A kind of file that is not text."""

    pattern: re.Pattern[str]  # of its first filled lines
    name: str | None  # None: a table
    remedy: str
    lines: int = 1  # filled lines that must fit before it is refused


_KINDS: tuple[Kind, ...] = (
    Kind(
        re.compile(r"\s*<(\?xml|!doctype|!--|srcset|refset|tstset|mteval|tmx|dataset|doc|seg)\b", re.I),
        "markup (SGML, XML or TMX)",
        f"sacrebleu -t wmt14 -l de-en --echo ref writes WMT's texts; else {_PLAIN}",
    ),
    Kind(re.compile(r'\s*(\{\s*"[^"]*"\s*:|\[\s*\{|[{\[]\s*$)'), "JSON", _PLAIN),
    Kind(
        re.compile(r".*\S *\|\|\| +\S"),
        "a bitext, source ||| target",
        "cut it in two files, one a side",
        lines=JUDGED,
    ),
    Kind(
        re.compile(r"\S+( / \S+){3,}\s*$"),
        "jieba's output, word / word",
        "python -m jieba -d ' ' has spaces",
        lines=JUDGED,
    ),
    Kind(
        re.compile(r"[^\s/|]+([/|])\S+( [^\s/|]+\1\S+){3,}\s*$|\S+_[A-Z]+\$?( \S+_[^\s_a-z]+){3,}\s*$"),
        "words with their tags",
        "give the words, and the tags in a file for --pos",
        lines=JUDGED,
    ),
    Kind(
        re.compile(r"[^\t]+\t[^\t,]*,[^\t]*,\*"), "MeCab's output", "mecab -O wakati writes words with spaces"
    ),
    Kind(re.compile(r"# Sentence pair \("), "GIZA++'s output", "give the text that was aligned"),
    Kind(re.compile(r"Sentence #1\b"), "CoreNLP's output", "use its tokens, one sentence a line"),
    Kind(re.compile(r"1(\t[^\t]*){9}$"), "CoNLL-U", "`trees` reads it; give its words as text"),
    Kind(
        re.compile(r"\s*\S[^\t]*\t\s*\S"),
        None,
        "words<TAB>tags are for --annot of train, apply and show, or fields=2 of preorder.LineModel; "
        "of other tables give one column",
    ),
)
_GLUED = re.compile(r"\w\w[.!?。！？]$")
_ENDED = re.compile(r"[.!?。！？]$")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def text_lines(path: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of a text; raise a DataError if the first filled ones are of another kind of file."""
    suspects, filled = _KINDS, 0
    for number, line in enumerate(lines, 1):
        is_filled = bool(line.strip()) and not line.startswith("#")  # of CoNLL-U, comments come first
        filled += is_filled
        fitting = tuple(kind for kind in suspects if kind.pattern.match(line))
        for kind in fitting:
            if kind.lines <= max(filled, 1):
                what = f"the file is {kind.name}" if kind.name else "a tab in the line"
                raise DataError(f"{what}: {kind.remedy}", display_name(path), number)
        yield line
        suspects = fitting if is_filled else suspects
        if not suspects:
            break
    yield from lines


def token_lines(path: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield the :func:`text_lines`; warn if they do not look tokenised."""
    seen = ended = glued = unspaced = 0
    for number, line in enumerate(lines := text_lines(path, lines), 1):
        yield line
        tokens = parse_tokens(line)
        if not tokens:
            continue
        seen += 1
        ended += bool(_ENDED.search(tokens[-1]))
        glued += bool(_GLUED.search(tokens[-1]))
        unspaced += len(tokens) == 1 and len(tokens[0]) > LONG and bool(_UNSPACED.search(tokens[0]))
        if (glued >= FEWEST and 2 * glued > ended) or (unspaced >= FEWEST and 2 * unspaced > seen):
            where = f"{display_name(path)}, line {number}"
            LOGGER.warning(
                f"{where}: the text does not look tokenised: {shown(tokens[-1])} is one token. "
                "Put spaces between words and punctuation, as sacremoses, SudachiPy or Stanza do"
            )
            break
        if seen == LOOKED_AT:
            break
    yield from lines


def checked_tags(path: str, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield sentences with the tags of a file; raise a DataError if the first ones are ``word_TAG``."""
    sentences = iter(sentences)
    for number, sentence in enumerate(sentences, 1):
        with errors_in(display_name(path), number):
            check_tags(sentence.words, sentence.tags or ())
        yield sentence
        if sentence.tags:
            break
    yield from sentences


def check_tags(words: Sequence[str], tags: Sequence[str]) -> None:
    """Check that tags are not ``word_TAG``, with any separator."""
    parts = ((tag.startswith(word), tag[len(word) :]) for word, tag in zip(words, tags, strict=True))
    marks = {rest[0] if begins and rest[1:] else "a" for begins, rest in parts}
    if len(marks) == 1 and not marks.pop().isalnum():
        raise DataError(f"words and tags, as in {shown(tags[0])}: give the tags alone")


def subword_mark(lines: Sequence[str]) -> str | None:
    """Return the subword mark that at least a tenth of the lines has; None: no mark."""
    for mark, pattern in MARKS.items():
        looks = re.compile(pattern)
        if 10 * sum(any(map(looks.search, line.split())) for line in lines) >= max(1, len(lines)):
            return mark
    return None


def read_text(path: str, parse: Callable[[str], T]) -> Iterator[T]:
    """Parse each of the :func:`text_lines` of a file."""
    return parse_lines(path, text_lines(path, read_lines(path)), parse)


def read_tokens(path: str, parse: Callable[[str], T]) -> Iterator[T]:
    """Parse each of the :func:`token_lines` of a file."""
    return parse_lines(path, token_lines(path, read_lines(path)), parse)
