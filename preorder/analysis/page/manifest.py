"""``report.json``: which files a run has, and how to measure them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preorder.analysis.material import Files
from preorder.data import files
from preorder.data.errors import DataError
from preorder.metrics.metric import DEFAULTS, TOKENIZERS, MetricOptions

NAME = "report.json"


@dataclass(frozen=True)
class System:
    """A system's files: the translations of each of its runs, and the order that it is told, if any."""

    runs: tuple[str, ...]
    positions: str | None


@dataclass(frozen=True)
class Manifest:
    """What there is to report of a run; paths as the program can open them.

    Attributes:
        title: what the run is called.
        source, references, alignment: as in :class:`preorder.analysis.material.Files`.
        systems: by name, the baseline first.
        options: of the metrics.
        robustness: what ``preorder analyse robustness --json`` has written, or None.
    """

    title: str
    source: str
    references: tuple[str, ...]
    alignment: str | None
    systems: dict[str, System]
    options: MetricOptions
    robustness: str | None

    @property
    def files(self) -> Files:
        """The files, by what they are."""
        orders = {name: one.positions for name, one in self.systems.items() if one.positions is not None}
        systems = {name: one.runs for name, one in self.systems.items()}
        return Files(self.references, systems, self.source, self.alignment, orders)


def find(folder: str) -> list[Path]:
    """Return the manifest of a folder, or those of the folders in it.

    Raises:
        DataError: there is none.
    """
    top = Path(folder)
    found = [top / NAME] if (top / NAME).exists() else sorted(top.glob(f"*/{NAME}"))
    if not found:
        raise DataError(f"no {NAME} in it, nor in a folder in it", folder)
    return found


def read(path: Path) -> Manifest:
    """Read a manifest; its paths are relative to its folder.

    Raises:
        DataError: it cannot be read, or says something else than a manifest says.
    """
    try:
        return _parse(files.read_json(str(path)), path.parent)
    except DataError as error:
        raise error.at(str(path), None) from None


def _parse(value: Any, folder: Path) -> Manifest:
    fields = _fields(
        value,
        "report",
        {
            "title": _text,
            "source": _text,
            "references": _texts,
            "alignment": _optional(_text),
            "systems": _systems,
            "tokenize": _optional(_tokenizer),
            "words": _optional(_tokenizer),
            "case_sensitive": _optional(_truth),
            "robustness": _optional(_text),
        },
    )

    def within(name: str | None) -> str | None:
        return None if name is None else str(folder / name)

    return Manifest(
        title=fields["title"],
        source=within(fields["source"]),
        references=tuple(map(within, fields["references"])),
        alignment=within(fields["alignment"]),
        systems={
            name: System(tuple(map(within, found["runs"])), within(found["positions"]))
            for name, found in fields["systems"].items()
        },
        options=MetricOptions(
            fields["tokenize"] or DEFAULTS.tokenize,
            bool(fields["case_sensitive"]),
            fields["words"] or DEFAULTS.words,
        ),
        robustness=within(fields["robustness"]),
    )


Check = Callable[[Any, str], Any]


def _fields(value: Any, name: str, checks: Mapping[str, Check]) -> dict[str, Any]:
    """Return the checked fields of an object, None for those that it lacks and may lack.

    Raises:
        DataError: it is no object, has a field that is not known, or one of them is not as it should be.
    """
    if not isinstance(value, dict):
        raise DataError(f"{name}: not an object")
    unknown = sorted(value.keys() - checks.keys())
    if unknown:
        raise DataError(f"{name}: unknown field {unknown[0]!r}, only {', '.join(checks)}")
    return {key: check(value.get(key), f"{name}.{key}") for key, check in checks.items()}


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise DataError(f"{name}: not a text")
    return value


def _tokenizer(value: Any, name: str) -> str:
    if value not in TOKENIZERS:
        raise DataError(f"{name}: {value!r} is none of {', '.join(TOKENIZERS)}")
    return value


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not value:
        raise DataError(f"{name}: not a list of texts")
    return [_text(one, name) for one in value]


def _truth(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise DataError(f"{name}: neither true nor false")
    return value


def _optional(check: Check) -> Check:
    return lambda value, name: None if value is None else check(value, name)


def _systems(value: Any, name: str) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not value:
        raise DataError(f"{name}: not an object of systems")
    checks = {"runs": _texts, "positions": _optional(_text)}
    return {system: _fields(found, f"{name}.{system}", checks) for system, found in value.items()}
