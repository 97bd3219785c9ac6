"""The shards that patterns of file names stand for, and those of one of several machines."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from preorder.errors import DataError, UsageError
from preorder.io import storage
from preorder.io.storage import is_url

_WILDCARD = re.compile(r"(\*+|\?|\[[^]]+\])")
_SLASHES = re.compile("/+")


@dataclass(frozen=True, slots=True)
class Shard:
    """One job: what is read, and what is written.

    Attributes:
        inputs: name of an option, without its hyphens → the path or URL of a file. The first is the source.
        output: path or URL.
    """

    inputs: Mapping[str, str]
    output: str

    @property
    def source(self) -> str:
        """The path of the source."""
        return next(iter(self.inputs.values()))


def find_shards(patterns: Mapping[str, str], folder: str) -> list[Shard]:
    """Return a shard for each file that the first pattern fits, in the order of their names.

    A file that belongs to it has, in another option's pattern, the same in place of each wildcard (``*``,
    ``?``, ``[…]``). Whether it is there is not looked at.

    Args:
        patterns: name of an option → pattern.
        folder: where a shard's output is, under the name of its source.

    Raises:
        DataError: no file fits.
        UsageError: the patterns have not as many wildcards; two sources have one name; or an output would
            overwrite an input.
    """
    parts = {
        option: _WILDCARD.split(pattern if is_url(pattern) else _SLASHES.sub("/", pattern))
        for option, pattern in patterns.items()
    }
    (source, (*_,)), *_ = parts.items()
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
    """Return a pattern, split at its wildcards, with other text in place of these."""
    literals = parts[::2]
    return "".join(one + two for one, two in zip(literals, (*wild, ""), strict=True))


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


def every_nth(shards: list[Shard], number: int, of: int) -> list[Shard]:
    """Return the part of the shards that is ``number``, from 1, of so many parts, all about as many."""
    return shards[number - 1 :: of]
