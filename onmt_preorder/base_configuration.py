"""Configuration files that build on others.

Beside options of OpenNMT-py, a YAML file may hold:

- ``base``: files, relative to its own folder, or names in :data:`CONFIG`, whose options it takes over. A
  later file's options win over those of an earlier one, and its own over all of them;
- ``sizes``: options that a model of each size has in addition; ``size``: which is meant;
- ``reads``, ``supervision``, ``begins_from``, ``trained_as``: for recipes. OpenNMT-py never sees these.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from preorder.errors import DataError, UsageError, errors_in
from preorder.io.files import read_lines

FOR_RECIPES = ("reads", "supervision", "begins_from", "trained_as")
_OWN = ("base", "sizes", "size", *FOR_RECIPES)

_PLACES = tuple(folder / "config" for folder in Path(__file__).resolve().parents[:2])
CONFIG = next(filter(Path.is_dir, _PLACES), _PLACES[-1])
"""What comes with this package: ``config/`` of a checkout, which a wheel holds in the package."""


@dataclass(frozen=True)
class ConfigurationFile:
    """One file with all its keys, without the files that it builds on."""

    path: str
    content: dict[str, Any]

    @property
    def sizes(self) -> dict[str, dict[str, Any]]:
        """The options of each size."""
        return self.content.get("sizes", {})

    def options(self) -> Iterator[str]:
        """Yield the names of all options that it sets, in any size."""
        for settings in (self.content, *self.sizes.values()):
            yield from (key for key in settings if key not in _OWN)


def find(path: str) -> str:
    """Return ``path`` or, where there is no such file, that of the system or the subwords that it names."""
    return path if os.path.isfile(path) else _named(path) or path


def _named(name: str) -> str | None:
    """Return the file of :data:`CONFIG` with a name, a bare word, or None."""
    files = (CONFIG / folder / f"{name}.yaml" for folder in ("system", ".") if os.path.basename(name) == name)
    return next((str(file.resolve()) for file in files if file.is_file()), None)


def read_files(path: str) -> list[ConfigurationFile]:
    """Read a file and all that it builds on, which come before it; :func:`find` says what ``path`` may be."""
    return list(_read(find(path), ()))


def _read(path: str, above: tuple[str, ...]) -> Iterator[ConfigurationFile]:
    """Yield the bases of a file, and then itself; ``above`` are the files that build on it."""
    content = _content(path)
    line, above = line_of("base", path), (*above, os.path.realpath(path))
    given = content.get("base", [])
    bases = given if isinstance(given, list) else [given]
    if not all(isinstance(base, str) for base in bases):
        raise DataError("base is a file name or a list of them", path, line)
    for base in bases:
        beside = os.path.normpath(os.path.join(os.path.dirname(path), base))
        where = beside if os.path.isfile(beside) else _named(base)
        if where is None:
            raise DataError(f"base {base}: there is no file {beside}", path, line)
        if os.path.realpath(where) in above:
            raise DataError(f"base {base}: the file builds on itself", path, line)
        yield from _read(where, above)
    yield ConfigurationFile(path, content)


def _content(path: str) -> dict[str, Any]:
    with errors_in(path):
        content = parse_yaml("\n".join(read_lines(path)))
    sizes = content.get("sizes", {}) if isinstance(content, dict) else None
    if not isinstance(sizes, dict) or not all(isinstance(options, dict) for options in sizes.values()):
        what = "the file" if sizes is None else "each of sizes"
        raise DataError(f"{what} has to hold lines of KEY: VALUE", path)
    for key in (key for settings in (content, sizes, *sizes.values()) for key in settings):
        if not isinstance(key, str):
            raise DataError(f"a key is a name, not {key!r}", path)
    if not isinstance(content.get("size", ""), str):
        raise DataError("size is the name of one of sizes", path, line_of("size", path))
    return content


def parse_yaml(text: str) -> Any:
    """Parse YAML."""
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise DataError(f"not YAML: {error.problem}", None, line) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # of a character, a date or a number
        raise DataError(f"not YAML: {' '.join(str(error).split())[:100]}") from None
    except RecursionError:
        raise DataError("YAML that is nested too deeply") from None


def merge(files: Sequence[ConfigurationFile], size: str | None = None) -> dict[str, Any]:
    """Return what the last file says, with what it builds on: options, and keys :data:`FOR_RECIPES`.

    ``size`` is the size of the model, None the one that the files say.
    """
    known = list(dict.fromkeys(name for file in files for name in file.sizes))
    chosen = size or next((file.content["size"] for file in reversed(files) if "size" in file.content), None)
    if chosen not in known and (known or chosen):
        where = f"{files[-1].path}: " if files else ""
        raise UsageError(f"{where}no size {chosen!r}; there are: {', '.join(known) or 'none'}")
    merged: dict[str, Any] = {}
    for file in files:
        merged |= file.content | file.sizes.get(chosen or "", {})
    return {key: value for key, value in merged.items() if key not in ("base", "sizes", "size")}


def line_of(key: str, path: str) -> int:
    """Return the number of the first line of a file that sets a key, else 1."""
    lines = enumerate(read_lines(path), 1)
    return next((number for number, line in lines if line.partition(":")[0].strip("\"' ") == key), 1)
