"""``report.json``: which files a run has, and how to measure them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preorder.analysis.evaluation_data import EvaluationFiles
from preorder.errors import DataError
from preorder.io import files
from preorder.metrics.metric import DEFAULTS, TOKENIZERS, MetricOptions

MANIFEST = "report.json"


@dataclass(frozen=True)
class Manifest:
    """A run; paths are complete, so that the program can open them.

    Attributes:
        title: name of the run.
        files: the test set, with the positions given to systems as input; the first system is the baseline.
        options: of the metrics.
        robustness: what ``preorder analyse robustness --json`` has written, or None.
    """

    title: str
    files: EvaluationFiles
    options: MetricOptions
    robustness: str | None

    def paths(self) -> list[str]:
        """Return the files that the run names."""
        texts, one = self.files, [self.files.source, self.files.alignment, self.robustness]
        translations = (path for runs in texts.systems.values() for path in runs)
        several = (*texts.references, *translations, *texts.orders.values())
        return [*several, *(path for path in one if path is not None)]


def find(folder: str) -> list[Path]:
    """Return the manifest of a folder, or those of the folders in it.

    Raises:
        DataError: there is none.
    """
    top = Path(folder)
    found = [top / MANIFEST] if (top / MANIFEST).exists() else sorted(top.glob(f"*/{MANIFEST}"))
    if not found:
        raise DataError(f"no {MANIFEST} in it, nor in a folder in it", folder)
    return found


def read(path: Path, also: Sequence[str] = ()) -> Manifest:
    """Read a manifest; its paths are relative to its folder, in which they must lie.

    Args:
        path: of the manifest, which need not be trusted.
        also: files and folders that it may name, too.

    Raises:
        DataError: it cannot be read, or is no manifest, or names a file that lies elsewhere.
    """
    try:
        return _parse(files.read_json(str(path)), path.parent, also)
    except DataError as error:
        raise error.at(str(path), None) from None


def _parse(value: Any, folder: Path, also: Sequence[str]) -> Manifest:
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
        return None if name is None else _allowed(folder / name, (str(folder), *also))

    systems = fields["systems"]
    paths = EvaluationFiles(
        references=list(map(within, fields["references"])),
        systems={name: list(map(within, one["runs"])) for name, one in systems.items()},
        source=within(fields["source"]),
        alignment=within(fields["alignment"]),
        orders={name: within(one["positions"]) for name, one in systems.items() if one["positions"]},
    )
    tokenize, words = fields["tokenize"] or DEFAULTS.tokenize, fields["words"] or DEFAULTS.words
    options = MetricOptions(tokenize, bool(fields["case_sensitive"]), words)
    return Manifest(fields["title"], paths, options, within(fields["robustness"]))


def _allowed(path: Path, places: Sequence[str]) -> str:
    """Return a path if it lies in one of the places, wherever links lead.

    Raises:
        DataError: it does not, or is no path.
    """
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise DataError(f"{str(path)!r} is no path: {error}") from None
    if not any(real.is_relative_to(Path(place).resolve()) for place in places):
        raise DataError(f"{real} lies outside of the folder; with --also it may be read")
    return str(path)


Check = Callable[[Any, str], Any]


def _fields(value: Any, name: str, checks: Mapping[str, Check]) -> dict[str, Any]:
    """Return the checked fields of an object; an optional field that is missing is None.

    Raises:
        DataError: it is no object, has an unknown field, or a field has a wrong value or is missing.
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
