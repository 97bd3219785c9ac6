"""Systems: the options of a model, and which of the prepared sources it reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onmt_preorder.base_configuration import CONFIG, FOR_RECIPES, merge, read_files
from preorder.data.errors import UsageError

SIZES = ("tiny", "small", "medium", "paper")
SUBWORDS = ("bpe", "sentencepiece")

PREDICTED, GOLD = "predicted", "gold"
KEPT = "gold_kept"  # the gold order in which unaligned words keep their positions (Chen et al. 2020, §4)
FEATURES, TEXT = "features", "text"
READS: dict[str, tuple[str | None, str]] = {
    "plain": (None, TEXT),
    "predicted": (PREDICTED, FEATURES),
    "gold": (GOLD, FEATURES),
    "predicted_text": (PREDICTED, TEXT),
    "gold_text": (GOLD, TEXT),
}
"""What a system may read: an order, or None for the source as it is, and the format of ``preorder apply``."""
SUPERVISION = (None, PREDICTED, KEPT)


@dataclass(frozen=True)
class System:
    """A file of ``config/system`` in one size.

    Attributes:
        name: of the file, without its ending.
        options: what OpenNMT-py is told, the data's paths left out.
        order: the order that the source tells: :data:`PREDICTED`, :data:`GOLD`, or None for none.
        form: :data:`FEATURES`, ``token￨position``, or :data:`TEXT`, words put in this order.
        supervision: the order, if any, that the model learns to predict; training reads its :data:`FEATURES`.
    """

    name: str
    options: dict[str, Any]
    order: str | None
    form: str
    supervision: str | None


def path_of(name: str) -> Path:
    """Return the file of a system.

    Raises:
        UsageError: there is none.
    """
    path = CONFIG / "system" / f"{name}.yaml"
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
        raise UsageError(f"no configuration of a system {name}; there are: {known}")
    return path


def read_system(name: str, size: str | None, subwords: str | None = None) -> System:
    """Read a system of ``config/`` in a size of its family (None: its default), with subwords or without.

    Raises:
        UsageError: there is no such system or size, or it reads what is not known.
    """
    path = path_of(name)
    files = read_files(str(path))
    if subwords:
        files += read_files(str(CONFIG / f"subwords-{subwords}.yaml"))
    settings = merge(files, size)
    reads, supervision = (settings.pop(key, None) for key in FOR_RECIPES)
    if reads not in READS:
        raise UsageError(f"{path}: reads is {reads!r}, not one of {', '.join(READS)}")
    if supervision not in SUPERVISION:
        raise UsageError(f"{path}: supervision is {supervision!r}, not {PREDICTED} or {KEPT}")
    return System(name, settings, *READS[reads], supervision)


def key_and_value(text: str) -> tuple[str, str]:
    """Split ``KEY=VALUE``, as a changed option is given.

    Raises:
        UsageError: it is something else.
    """
    key, separator, value = text.partition("=")
    if not separator:
        raise UsageError(f"{text}: not KEY=VALUE")
    return key, value
