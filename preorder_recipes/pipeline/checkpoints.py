"""The checkpoints of a training: the last one, from which it resumes, and the best ones, which are kept.

As a command: keep only the checkpoint with the best validation perplexity, or the mean of the N best, as
``model.pt``; once more does no harm. With ``save_format: safetensors`` the weights of a single checkpoint are
in ``model.safetensors``.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open

from onmt_preorder.checkpoint_choice import by_perplexity, paths
from preorder.command_line import Parser, execute
from preorder.command_line.options import add_number, positive
from preorder.errors import DataError
from preorder.io import files

MODEL = "model.pt"
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
        folder: of ``model_step_N.pt``; with ``save_format: safetensors`` the weights are in a file beside it.
        log: of the training.
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

        A training that was killed may leave half a checkpoint, or one that the log does not name yet.
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

    def keep_best(self, average: int = 1) -> None:
        """Make the best checkpoint, or the mean of the ``average`` best, the model; remove the others."""
        model, saved = self.folder / MODEL, self.paths()
        ranked = list(by_perplexity(validated(read_log(self.log))))
        best = [one for one in ranked if one[0] in saved or model.exists()][:average]
        if not best:
            raise DataError("no checkpoint was saved after a validation that gave a number", str(self.log))
        for step, perplexity in best:
            print(f"step {step}, validation perplexity {perplexity}")
        chosen = [saved[step] for step, _ in best if step in saved]
        # With a model, but not all of the best, the model is made of these: this was stopped half-way.
        if len(chosen) == len(best):
            _make_model(chosen, model)
        self.clear()


def _make_model(checkpoints: Sequence[Path], model: Path) -> None:
    first = checkpoints[0]
    if len(checkpoints) > 1:
        import torch
        from onmt.bin.average_models import average_models

        part = model.with_suffix(".part")
        torch.save(average_models(list(map(str, checkpoints))), part)
        part.replace(model)
        return
    if weights_of(first).exists():  # first: a model.pt stands for both
        weights_of(first).replace(weights_of(model))
    first.replace(model)


def validated(log: Iterable[str]) -> dict[int, float]:
    """Return the validation perplexity of each checkpoint in a log.

    A checkpoint belongs to the validation before it in the log; one without a validation of its own, at the
    end of training, has none.
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(prog="python -m preorder_recipes.pipeline.checkpoints", description=__doc__)
    parser.add_argument("--log", metavar="F", required=True, help="log of onmt_train")
    parser.add_argument("--folder", metavar="DIR", required=True, help="where it saved model_step_N.pt")
    add_number(parser, "--average", positive, 1, "how many of the best to average")
    parser.set_defaults(run=_run)
    return execute(parser, argv)


def _run(arguments: argparse.Namespace) -> None:
    Checkpoints(Path(arguments.folder), Path(arguments.log)).keep_best(arguments.average)


if __name__ == "__main__":
    sys.exit(main())
