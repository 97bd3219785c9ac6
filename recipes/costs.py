"""What a system costs: parameters, and how fast it translates, as the logs of OpenNMT-py tell."""

from __future__ import annotations

import re
from pathlib import Path

from recipes.checkpoints import read_log
from recipes.stamps import StepError

_PARAMETERS = re.compile(r"\* number of parameters: ([0-9]+)")
_TRANSLATION = re.compile(r"Total translation time \(s\): ([0-9.]+)")
_LEAST = 0.05  # seconds: the log rounds to tenths


def parameters(log: Path) -> float:
    """Return the number of parameters of the model that a training has made.

    Raises:
        StepError: its log does not tell.
    """
    return _last(_PARAMETERS, log)


def words_per_second(log: Path, source: Path) -> float:
    """Return how many words of a source were translated in a second, without the start of the program.

    Raises:
        StepError: the log of the translation does not tell.
    """
    words = sum(len(line.split()) for line in read_log(source))
    return words / max(_LEAST, _last(_TRANSLATION, log))


def _last(pattern: re.Pattern[str], log: Path) -> float:
    try:
        found = [match[1] for line in read_log(log) if (match := pattern.search(line))]
    except OSError as error:
        raise StepError(f"{log}: cannot be read: {error.strerror}") from None
    if not found:
        raise StepError(f"{log}: has no line like {pattern.pattern}")
    return float(found[-1])
