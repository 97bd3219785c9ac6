"""Shards: find them, check what their folder was made with, and run them.

A shard is a pure job from its inputs to its output: any engine can run it, on threads or processes, here or
on other machines. Shards with bad input are named at the end; the others are done. A small file in the output
folder keeps the settings: no folder has outputs of two models.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from preorder.errors import DataError, PreorderError, UsageError, shown
from preorder.io import files, storage
from preorder.io.atomic import create_file
from preorder.io.storage import is_url
from preorder.processes import in_order, in_processes
from preorder.progress import LOGGER, counting

MANIFEST = ".preorder.json"

_WILDCARD = re.compile(r"(\*+|\?|\[[^]]+\])")
_REMEDY = "name another folder, or remove it"


@dataclass(frozen=True, slots=True)
class Shard:
    """One job: its inputs and its output, paths or URLs."""

    inputs: Mapping[str, str]  # by the names of options, without hyphens; the first is the source
    output: str

    @property
    def source(self) -> str:
        """The path of the source."""
        return next(iter(self.inputs.values()))

    def outputs(self) -> set[str]:
        """Return the files that are written: the output alone."""
        return {self.output}


Outputs = Callable[[Shard], set[str]]  # the files that a shard writes
Tick = Callable[[int], Any]  # counts lines that are done
Work = Callable[[Shard, Tick], None]  # processes a shard: writes all of its output, or none


Results = Iterator[tuple[Shard, DataError | None]]
"""Each shard as soon as it is done, with what is wrong with its input."""
Engine = Callable[[Work, Iterable[Shard]], Results]
"""Runs shards."""


def find_shards(patterns: Mapping[str, str], folder: str, outputs: Outputs = Shard.outputs) -> list[Shard]:
    """Return a shard for each file that matches the pattern of the first option, in the order of their names.

    The wildcards (``*``, ``?``, ``[…]``) of the other options stand for the same text; these files need not
    exist. Outputs have the names of the sources.
    """
    parts = {
        option: _WILDCARD.split(pattern if is_url(pattern) else re.sub("/+", "/", pattern))
        for option, pattern in patterns.items()
    }
    (source, first), *others = parts.items()
    pattern = "".join(first)
    for name, split in others:
        if len(split) != len(first):
            raise UsageError(f"--{name} {patterns[name]} has not as many wildcards as --{source} {pattern}")
    fitting, names = storage.find(pattern)
    if not names:
        raise DataError("there is no such file", pattern)
    key = re.compile("".join(map(_expression, _WILDCARD.split(fitting))))
    shards = []
    for name in names:
        match = key.fullmatch(name)
        wild = match.groups() if match else ()
        path = _filled(first, wild) if is_url(pattern) else name
        inputs = {source: path} | {option: _filled(split, wild) for option, split in others}
        shards.append(Shard(inputs, os.path.join(folder, os.path.basename(path))))
    _check_outputs(shards, folder, outputs)
    return shards


def _expression(part: str) -> str:
    if not _WILDCARD.fullmatch(part):
        return re.escape(part)
    return "([^/]*)" if part.startswith("*") else "([^/])"


def _filled(parts: list[str], wild: tuple[str, ...]) -> str:
    return "".join(one + two for one, two in zip(parts[::2], (*wild, ""), strict=True))


def _check_outputs(shards: list[Shard], folder: str, outputs: Outputs) -> None:
    place = storage.real(folder)
    sources: dict[str, str] = {}
    for shard in shards:
        for output in outputs(shard):
            other = sources.setdefault(output, shard.source)
            if other != shard.source:
                raise UsageError(f"{other} and {shard.source} would both be written to {output}")
    is_place = cache(lambda folder: storage.real(folder) == place)
    for path in (path for shard in shards for path in shard.inputs.values()):
        output = os.path.join(folder, os.path.basename(path))
        if output in sources and is_place(os.path.dirname(path)):
            raise UsageError(f"{path} would be overwritten while it is needed: name another `out_dir`")


def check_manifest(folder: str, settings: dict[str, Any], outputs: list[str]) -> None:
    """Check that the outputs in a folder were made with these settings: all that they depend on, as JSON."""
    path = os.path.join(folder, MANIFEST)
    if not storage.exists(path):
        files.make_folder(folder)
        there = next(iter(storage.sizes(outputs)), None)
        if there is not None and not storage.exists(path):  # no other job has just begun
            raise UsageError(f"{there} exists, but no {path} that says what made it: {_REMEDY}")
        create_file(path, json.dumps(settings, indent=2).encode())
    found = files.read_json(path)
    if not isinstance(found, dict):
        raise DataError("does not say what the files beside it were made with", path)
    changed = [name for name in {**settings, **found} if settings.get(name) != found.get(name)]
    if changed:
        was, now = (shown(each.get(changed[0])) for each in (found, settings))
        raise UsageError(f"{folder} was made with another {', '.join(changed)} ({was}, now {now}): {_REMEDY}")


class ShardsError(PreorderError):
    """Some shards failed; the log says which."""


def run_shards(shards: Sequence[Shard], work: Work, engine: Engine, is_done: Callable[[Shard], bool]) -> None:
    """Run the shards that are not done; raise a ShardsError at the end if the input of some is bad."""
    to_do = [shard for shard in shards if not is_done(shard)]
    if len(to_do) < len(shards):
        LOGGER.info(f"{len(shards) - len(to_do):,} of {len(shards):,} shards are there already")
    if not to_do:
        return
    failures: dict[str, DataError] = {}
    with counting("shards", len(to_do), "done") as add:
        for shard, failure in engine(work, to_do):
            add(1)
            if failure is not None:
                failures[shard.output] = failure
                LOGGER.warning(f"left out: {failure}")
    for shard in to_do:  # in their order, not as they came
        if shard.output in failures:
            LOGGER.error(str(failures[shard.output]))
    if failures:
        raise ShardsError(f"{len(failures):,} of {len(shards):,} shards failed; the others are there")


def in_threads(workers: int, work: Work, shards: Iterable[Shard]) -> Results:
    """Run shards on threads of this process; ``partial(in_threads, workers)`` is an engine."""
    stopped = threading.Event()

    def stop(_: int) -> None:
        if stopped.is_set():
            raise _Stopped

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from in_order(lambda one: pool.submit(run_shard, work, one, stop), shards, workers)
        finally:
            stopped.set()


class _Stopped(Exception):
    pass


def in_worker_processes(workers: int, work: Work, shards: Iterable[Shard]) -> Results:
    """Run each shard in a worker process, or in this process with 0 workers."""
    return in_processes(partial(run_shard, work), shards, workers)


def run_shard(work: Work, shard: Shard, tick: Tick = lambda _: None) -> DataError | None:
    """Run a shard; return what is wrong with one of its inputs. Other errors are raised."""
    try:
        work(shard, tick)
    except DataError as error:
        paths = shard.inputs.values()
        if error.file not in {*paths, *map(files.display_name, paths)}:
            raise
        return error
    return None
