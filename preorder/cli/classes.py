"""Word classes from a file, or learned: the option ``--classes``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from preorder.annotate.classes import WordClasses, learn_classes
from preorder.data.errors import UsageError


def read_or_learn(classes: str, sentences: Sequence[Sequence[str]], seed: int) -> WordClasses | None:
    """Return the classes that ``--classes`` means: as many as a number says (0: None), or a file's.

    Raises:
        UsageError: it is neither a number nor a file.
        DataError: the file is malformed.
    """
    if classes == "0":
        return None
    if classes.isdecimal():
        return learn_classes(sentences, int(classes), seed)
    if not Path(classes).exists():
        raise UsageError(f"--classes {classes}: neither a number nor a file")
    return WordClasses.read(classes)
