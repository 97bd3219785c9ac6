"""Texts as numbers, and what the compiled measures of words, TER and RIBES, have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics import BLEU

from preorder.data.errors import UsageError
from preorder.metrics.metric import MetricOptions, Scored, check_same_length


def check_tokenizer(name: str) -> None:
    """Check that a tokenizer can be used.

    Raises:
        UsageError: it needs a package that is not installed.
    """
    try:
        BLEU(tokenize=name)
    except (RuntimeError, ImportError):
        language = name.partition("-")[0]
        raise UsageError(
            f"the tokenizer {name} is not installed; install it with: pip install 'sacrebleu[{language}]'"
        ) from None


class Words:
    """Numbers for words, the same for all texts that one object reads.

    Words are what white space separates, after the tokenizer and, unless case is told
    apart, in lower case.
    """

    def __init__(self, options: MetricOptions) -> None:
        """Take the options of the metrics.

        Raises:
            UsageError: the tokenizer needs a package that is not installed.
        """
        check_tokenizer(options.words)
        self._tokenize = BLEU(tokenize=options.words).tokenizer
        self._case_sensitive = options.case_sensitive
        self.signature = "" if options.words == "none" else f"|words:{options.words}"
        self._numbers: dict[str, int] = {}

    def flat(self, lines: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return all words as numbers, and where each line begins and the last ends."""
        numbers = self._numbers
        words = [self._split(line) for line in lines]
        flat = [numbers.setdefault(word, len(numbers)) for line in words for word in line]
        return np.array(flat, np.int64), np.cumsum([0, *map(len, words)])

    def _split(self, line: str) -> list[str]:
        line = self._tokenize(line)
        return (line if self._case_sensitive else line.lower()).split()


class WordMetric(Scored):
    """A metric that compares words with fixed references."""

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions) -> None:
        """Take the references: each a text of one line for each sentence.

        Raises:
            UsageError: the tokenizer needs a package that is not installed.
        """
        self._lines = references
        self._words = Words(options)
        self._references = [self._words.flat(lines) for lines in references]

    def _flat(self, hypotheses: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        check_same_length(hypotheses, self._lines)
        return self._words.flat(hypotheses)
