"""Steps of a run, and what has been run in a folder: a stamp of each step, with digests of what it read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preorder.errors import DataError
from preorder.io import files
from preorder_recipes.commands import StepError
from preorder_recipes.pipeline.checkpoints import Checkpoints, resume_from


@dataclass(frozen=True)
class Step:
    """A command line.

    Attributes:
        name: of its log and its stamp; with ``/`` they are in a folder.
        command: a program that is installed beside this Python or on the path, and its arguments.
        reads, makes: files and folders.
        output: file for its standard output, which it then makes too.
        aside: further arguments that change nothing of what it makes, such as a number of threads.
        keeps_log: whether a later step reads its log.
        checkpoints: of a training: what it leaves to resume from, until a later step picks one and makes
            ``makes`` of it.
    """

    name: str
    command: tuple[str, ...]
    reads: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    output: str | None = None
    aside: tuple[str, ...] = ()
    keeps_log: bool = False
    checkpoints: Checkpoints | None = None

    @property
    def line(self) -> str:
        """The command line for a shell."""
        return shlex.join(self.command) + (f" > {shlex.quote(self.output)}" if self.output else "")

    @property
    def script_line(self) -> str:
        """The command line for a script, which must keep the log where a later step reads it."""
        keeps_log = self.keeps_log or self.checkpoints
        return self.line + (f" > {shlex.quote(self.log)} 2>&1" if keeps_log else "")

    @property
    def log(self) -> str:
        """The file of what it prints."""
        return f"logs/{self.name}.log"


Phase = Sequence[Sequence[Step]]
"""Chains of steps that can run side by side, the steps of each one after another."""


class Stamps:
    """The stamps of the steps that were run in a folder.

    The stamp of a finished step holds the seconds that it took. A step with checkpoints has a stamp from its
    start, with the seconds ``before``: those of earlier runs, up to the checkpoint from which it resumes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def new(self, step: Step) -> dict[str, Any]:
        """Return what the stamp of a step would say now."""
        return {"command": step.line, "reads": {path: self._digest(path) for path in step.reads}}

    def why_not_done(self, step: Step, stamp: dict[str, Any]) -> str | None:
        """Say why a step is to be run, as its new stamp says: ``""`` if it never was; None if it is done."""
        known = self._read(step.name)
        if "seconds" not in known:
            return ""
        if known.get("command") != stamp["command"]:
            return f"its command was {known.get('command')}"
        read, made = (known.get(key) for key in ("reads", "makes"))
        before, now = read if isinstance(read, dict) else {}, stamp["reads"]
        for path in {**now, **before}:
            if before.get(path) != now.get(path):
                return f"{path} has changed"
        missing = [path for path in step.makes if not (self.folder / path).exists()]
        if missing:
            has_checkpoints = step.checkpoints and step.checkpoints.paths()
            return None if has_checkpoints else f"{', '.join(missing)} missing"
        if isinstance(made, dict):  # another step may have written it since
            for path in step.makes:
                if made.get(path) != self._digest(path):
                    return f"{path} is not what it made"
        return None

    def begin(self, step: Step, stamp: dict[str, Any]) -> tuple[tuple[str, ...], float]:
        """Prepare a step; return the arguments that resume an earlier run of it, and that run's seconds."""
        path, known = self._path(step.name), self._read(step.name)
        for target in (*(self.folder / made for made in (*step.makes, step.log)), path):
            target.parent.mkdir(parents=True, exist_ok=True)
        if step.checkpoints is None:
            path.unlink(missing_ok=True)
            return (), 0.0
        before, last, more = known.get("before"), None, tuple[str, ...]()
        if isinstance(before, float) and known == stamp | {"before": before}:
            last = step.checkpoints.go_back()
        if last is None or before is None:
            path.unlink(missing_ok=True)  # first
            step.checkpoints.clear()
            for made in step.makes:
                (self.folder / made).unlink(missing_ok=True)
            before = 0.0
        else:
            more = resume_from(str(last.relative_to(self.folder)))
            before += max(0.0, last.stat().st_mtime - path.stat().st_mtime)
        files.write_json(str(path), stamp | {"before": before})
        return more, before

    def end(self, step: Step, stamp: dict[str, Any], seconds: float) -> None:
        """Mark a step as done."""
        made = {} if step.checkpoints else {"makes": {path: self._digest(path) for path in step.makes}}
        files.write_json(str(self._path(step.name)), stamp | made | {"seconds": seconds})

    def seconds(self, step: str) -> float:
        """Return how long a step took."""
        seconds = self._read(step).get("seconds")
        if not isinstance(seconds, (int, float)):
            raise StepError(f"{step} is not done: an earlier stage does it")
        return seconds

    def hold(self) -> bool:
        """Say whether no file has changed since that the folder's steps have read or made."""
        top = self.folder / "stamps"
        for path in top.rglob("*.json"):
            known = self._read(str(path.relative_to(top)).removesuffix(".json"))
            if "seconds" not in known:
                return False
            for name, digest in (*known.get("reads", {}).items(), *known.get("makes", {}).items()):
                if (self.folder / name).exists() and self._digest(name) != digest:
                    return False
        return True

    def _path(self, name: str) -> Path:
        return self.folder / "stamps" / f"{name}.json"

    def _read(self, name: str) -> dict[str, Any]:
        """Return a step's stamp; an empty one if there is none, or none that can be read."""
        with contextlib.suppress(DataError):
            stamp = files.read_json(str(self._path(name)))
            return stamp if isinstance(stamp, dict) else {}
        return {}

    def _digest(self, path: str) -> str:
        """Return a digest of a file's name and content, or of all files in a folder, by their paths there."""
        top, digest = self.folder / path, hashlib.sha256()
        if not top.exists():
            raise StepError(f"{top} is missing: an earlier stage makes it")
        base, found = (top, sorted(top.rglob("*"))) if top.is_dir() else (top.parent, [top])
        for file in found:
            if file.is_file():
                digest.update(os.fsencode(f"{file.relative_to(base)}\0") + file.read_bytes())
        return digest.hexdigest()
