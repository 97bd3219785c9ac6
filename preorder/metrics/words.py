"""What the compiled metrics of words, TER and RIBES, have in common: texts as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics import BLEU

from preorder.data.errors import UsageError
from preorder.metrics.metric import Metric, MetricOptions, check_same_length


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


class Vocabulary:
    """Numbers words as it meets them: a word has the same number in all texts that one object reads.

    Words are separated by white space, after the tokenizer. They are put in lower case
    unless case matters.
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

    def encode(self, lines: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return all words as numbers ``[words]``, and the boundaries of the lines ``[lines + 1]``."""
        numbers = self._numbers
        words = [self._split(line) for line in lines]
        flat = [numbers.setdefault(word, len(numbers)) for line in words for word in line]
        return np.array(flat, np.int64), np.cumsum([0, *map(len, words)])

    def _split(self, line: str) -> list[str]:
        line = self._tokenize(line)
        return (line if self._case_sensitive else line.lower()).split()


class WordMetric(Metric):
    """A metric that compares words with fixed references."""

    def __init__(self, references: Sequence[Sequence[str]], options: MetricOptions) -> None:
        """Take the references: each a text of one line for each sentence.

        Raises:
            UsageError: the tokenizer needs a package that is not installed.
        """
        self._lines = references
        self._vocabulary = Vocabulary(options)
        self._references = [self._vocabulary.encode(lines) for lines in references]

    def _encode(self, hypotheses: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        check_same_length(hypotheses, self._lines)
        return self._vocabulary.encode(hypotheses)
