"""What the compiled metrics of words, TER and RIBES, have in common: texts as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics import BLEU

from preorder.compiled import entry_point
from preorder.errors import UsageError
from preorder.metrics.metric import Metric, MetricOptions, check_same_length

EncodedText = tuple[np.ndarray, np.ndarray]
"""The words of all lines as numbers ``[words]``, and the boundaries of the lines ``[lines + 1]``."""


@entry_point
def words_of_line(text: EncodedText, line: int) -> np.ndarray:
    """Return the words of a line, counted from 0."""
    words, boundaries = text
    return words[boundaries[line] : boundaries[line + 1]]


def check_tokenizer(name: str) -> None:
    """Raise a UsageError if a tokenizer needs a package that is not installed."""
    try:
        BLEU(tokenize=name)
    except (RuntimeError, ImportError):
        language = name.partition("-")[0]
        raise UsageError(
            f"the tokenizer {name} is not installed; install it with: pip install 'sacrebleu[{language}]'"
        ) from None


class WordMetric(Metric):
    """A metric that compares words with fixed references.

    Words are separated by white space, after the tokenizer, and put in lower case unless case matters. They
    are numbered as they are met: a word has the same number in all texts.
    """

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions) -> None:
        check_tokenizer(options.words)
        self._tokenize = BLEU(tokenize=options.words).tokenizer
        self._case_sensitive = options.case_sensitive
        self._numbers: dict[str, int] = {}
        self._lines = references
        self._references = list(map(self._encode, references))

    def _encode_hypotheses(self, hypotheses: Sequence[str]) -> EncodedText:
        check_same_length(hypotheses, self._lines)
        return self._encode(hypotheses)

    def _encode(self, lines: Sequence[str]) -> EncodedText:
        numbers = self._numbers
        words = [self._split(line) for line in lines]
        flat = [numbers.setdefault(word, len(numbers)) for line in words for word in line]
        return np.array(flat, np.int64), np.cumsum([0, *map(len, words)])

    def _split(self, line: str) -> list[str]:
        line = self._tokenize(line)
        return (line if self._case_sensitive else line.lower()).split()
