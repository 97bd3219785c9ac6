"""The checkpoints that a training leaves: where it goes on after it was stopped, and which is the best."""

from __future__ import annotations

import math
import re
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open

from onmt_preorder.checkpoint_choice import paths
from preorder.io import files

VALIDATION = re.compile(r"Validation perplexity: (\S+)")
_SAVED = re.compile(r"Saving (?:checkpoint|safetensors) .*_step_([0-9]{1,18})\.pt")
_WEIGHTS = "Saving safetensors"
_DAMAGE = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    EOFError,
    ValueError,
    SafetensorError,
)


@dataclass(frozen=True)
class Checkpoints:
    """Those of one training.

    Attributes:
        folder: in which they are, ``model_step_N.pt``; with ``save_format: safetensors`` the weights are in a
            file beside it.
        log: of the training, which tells of each.
    """

    folder: Path
    log: Path

    def paths(self) -> dict[int, Path]:
        """Return the checkpoint of each step, in the order of the steps."""
        return paths(self.folder / "model")

    def clear(self) -> None:
        """Remove all of them."""
        for path in self.paths().values():
            _remove(path)
        for path in self.folder.glob("model_step_*.safetensors"):  # a killed training's, without its .pt
            path.unlink()

    def go_back(self) -> Path | None:
        """Return the latest that is whole and in the log, or None; remove what came after it, log lines too.

        A training that was killed may leave half a checkpoint, or one of which the log has no word yet.
        """
        if not self.log.exists():
            return None
        lines = read_log(self.log)
        saved = {
            int(match[1]): number for number, line in enumerate(lines, 1) if (match := _SAVED.search(line))
        }
        paths = self.paths()
        for step in sorted(saved.keys() & paths.keys(), reverse=True):
            if _is_whole(paths[step], _WEIGHTS in lines[saved[step] - 1]):
                files.write_lines(str(self.log), lines[: saved[step]])
                for later in (path for other, path in paths.items() if other > step):
                    _remove(later)
                return paths[step]
        return None


def validated(log: Iterable[str]) -> dict[int, float]:
    """Return the validation perplexity of each checkpoint that the log tells of.

    A checkpoint belongs to the validation that the log shows before it; one that comes
    without a validation of its own, at the end of training, is not looked at.
    """
    found: dict[int, float] = {}
    perplexity = None
    for line in log:
        if match := VALIDATION.search(line):
            perplexity = float(match[1])
        elif (match := _SAVED.search(line)) and perplexity is not None:
            if math.isfinite(perplexity):
                found[int(match[1])] = perplexity
            perplexity = None
    return found


def read_log(path: Path) -> list[str]:
    """Return the lines of a log, whatever stands in them."""
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def weights_of(path: Path) -> Path:
    """Return where the weights of a checkpoint are, if they are not in itself."""
    return path.with_suffix(".safetensors")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    weights_of(path).unlink(missing_ok=True)


def _is_whole(path: Path, has_weights: bool) -> bool:
    """Say whether a checkpoint can be read, and its weights if they are in a file of their own."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.testzip() is not None:
                return False
        if has_weights:
            with safe_open(weights_of(path), framework="numpy"):  # which compares lengths
                pass
    except _DAMAGE:
        return False
    return True
