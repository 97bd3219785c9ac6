"""The shards that patterns of file names stand for, and what their folder of outputs was made with.

A small file in the folder keeps the settings: no folder has outputs of two models.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from preorder.errors import DataError, UsageError, shown
from preorder.io import files, storage
from preorder.io.atomic import create_file
from preorder.io.storage import is_url

MANIFEST = ".preorder.json"

_WILDCARD = re.compile(r"(\*+|\?|\[[^]]+\])")
_SLASHES = re.compile("/+")
_REMEDY = "name another folder, or remove it"


@dataclass(frozen=True, slots=True)
class Shard:
    """One job: what is read, and what is written; paths or URLs."""

    inputs: Mapping[str, str]  # by the names of options, without hyphens; the first is the source
    output: str

    @property
    def source(self) -> str:
        """The path of the source."""
        return next(iter(self.inputs.values()))


def find_shards(patterns: Mapping[str, str], folder: str) -> list[Shard]:
    """Return a shard for each file that the first option's pattern fits, in the order of their names.

    A file that belongs to it has, in another option's pattern, the same in place of each wildcard (``*``,
    ``?``, ``[…]``). Whether it is there is not looked at. Outputs have the names of the sources.
    """
    parts = {
        option: _WILDCARD.split(pattern if is_url(pattern) else _SLASHES.sub("/", pattern))
        for option, pattern in patterns.items()
    }
    source = next(iter(parts))
    pattern = "".join(parts[source])
    for option, split in parts.items():
        if len(split) != len(parts[source]):
            raise UsageError(
                f"--{option} {patterns[option]} has not as many wildcards as --{source} {pattern}"
            )
    fitting, names = storage.find(pattern)
    if not names:
        raise DataError("there is no such file", pattern)
    key = re.compile("".join(map(_expression, _WILDCARD.split(fitting))))
    shards = []
    for name in names:
        match = key.fullmatch(name)
        wild = match.groups() if match else ()
        path = _filled(parts[source], wild) if is_url(pattern) else name
        inputs = {source: path} | {o: _filled(parts[o], wild) for o in parts if o != source}
        shards.append(Shard(inputs, os.path.join(folder, os.path.basename(path))))
    _check_outputs(shards, folder)
    return shards


def _expression(part: str) -> str:
    if not _WILDCARD.fullmatch(part):
        return re.escape(part)
    return "([^/]*)" if part.startswith("*") else "([^/])"


def _filled(parts: list[str], wild: tuple[str, ...]) -> str:
    return "".join(one + two for one, two in zip(parts[::2], (*wild, ""), strict=True))


def _check_outputs(shards: list[Shard], folder: str) -> None:
    place = storage.real(folder)
    sources: dict[str, str] = {}
    for shard in shards:
        other = sources.setdefault(shard.output, shard.source)
        if other != shard.source:
            raise UsageError(f"{other} and {shard.source} would both be written to {shard.output}")
    is_place = cache(lambda folder: storage.real(folder) == place)
    for path in (path for shard in shards for path in shard.inputs.values()):
        output = os.path.join(folder, os.path.basename(path))
        if output in sources and is_place(os.path.dirname(path)):
            raise UsageError(f"{path} would be overwritten while it is needed: name another --out-dir")


def check_manifest(folder: str, settings: dict[str, Any], outputs: list[str]) -> None:
    """Check that a folder's outputs were made with these settings, as JSON: all that they depend on."""
    path = os.path.join(folder, MANIFEST)
    if not storage.exists(path):
        files.make_folder(folder)
        there = next(iter(storage.sizes(outputs)), None)
        if there is not None and not storage.exists(path):  # nobody has just begun
            raise UsageError(f"{there} is there, and {path} is not, to tell what made it: {_REMEDY}")
        create_file(path, json.dumps(settings, indent=2).encode())
    found = files.read_json(path)
    if not isinstance(found, dict):
        raise DataError("says not what the files beside it were made with", path)
    changed = [name for name in {**settings, **found} if settings.get(name) != found.get(name)]
    if changed:
        was, is_now = (shown(each.get(changed[0])) for each in (found, settings))
        raise UsageError(
            f"{folder} was made with another {', '.join(changed)} ({was}, now {is_now}): {_REMEDY}"
        )
