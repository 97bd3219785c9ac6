"""Texts as numbers: what the compiled measures of words, TER and RIBES, read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from sacrebleu.metrics import BLEU

from preorder.errors import UsageError
from preorder.metrics.metric import MetricOptions


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
        return np.array(flat, np.int64), offsets(map(len, words))

    def _split(self, line: str) -> list[str]:
        line = self._tokenize(line)
        return (line if self._case_sensitive else line.lower()).split()


def offsets(lengths: Iterable[int]) -> np.ndarray:
    """Return where each of the parts of these lengths begins, and where the last ends."""
    return np.cumsum([0, *lengths])
