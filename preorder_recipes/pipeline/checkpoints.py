"""The checkpoints of a training: the last one, from which it resumes, and the best ones, which are kept.

As a command: keep only the checkpoint that validates best, or the mean of the N best, as ``model.pt``; once
more does no harm. It is chosen by BLEU where the log has it (``valid_metrics: [BLEU]``), else by perplexity.
"""

from __future__ import annotations

import contextlib
import math
import re
import sys
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from onmt_preorder.checkpoint_choice import by_perplexity, paths
from onmt_preorder.opennmt import registration
from preorder.command_line.options import add_number, positive
from preorder.errors import DataError
from preorder.io import files
from preorder_recipes.commands import StepError, execute, make_parser

MODEL = "model.pt"
_STEP = re.compile(r"Step +(\d+)/ *(\d+); acc: ([\d.]+); ppl: +([\d.]+)")
_VALIDATION = re.compile(r"[Vv]alidation (perplexity|BLEU): (\S+)")
# OpenNMT-py's file, and eole's folder.
_SAVED = re.compile(r"Saving (?:checkpoint|optimizer and weights) .*step_([0-9]{1,18})(?:\.pt|, and)")
_DAMAGE = (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError)


@dataclass(frozen=True)
class Checkpoints:
    """Those of one training: the folder of ``model_step_N.pt``, and the log."""

    folder: Path
    log: Path

    def paths(self) -> dict[int, Path]:
        """Return the checkpoint of each step, in the order of the steps."""
        return paths(self.folder / "model")

    def clear(self) -> None:
        """Remove all of them."""
        for path in self.paths().values():
            path.unlink()

    def go_back(self) -> Path | None:
        """Return the latest that is whole and in the log, or None; remove what came after it, log lines too.

        A training that was killed may leave half a checkpoint, or one that the log does not name yet.
        """
        if not self.log.exists():
            return None
        lines, paths = read_log(self.log), self.paths()
        saved = {
            int(match[1]): number for number, line in enumerate(lines, 1) if (match := _SAVED.search(line))
        }
        for step in sorted(saved.keys() & paths.keys(), reverse=True):
            if _is_whole(paths[step]):
                files.write_lines(str(self.log), lines[: saved[step]])
                for later in (path for other, path in paths.items() if other > step):
                    later.unlink()
                return paths[step]
        return None

    def keep_best(self, average: int = 1) -> None:
        """Make the best checkpoint, or the mean of the ``average`` best, the model; remove the others."""
        model, saved = self.folder / MODEL, self.paths()
        measure, ranked = validated(read_log(self.log))
        best = [one for one in ranked if one[0] in saved or model.exists()][:average]
        if not best:
            raise DataError("no checkpoint was saved after a validation that gave a number", str(self.log))
        for step, value in best:
            print(f"step {step}, validation {measure} {value}")
        chosen = [saved[step] for step, _ in best if step in saved]
        # With a model, but not all of the best, the model is made of these: this was stopped half-way.
        if len(chosen) == len(best) == 1:
            chosen[0].replace(model)
        elif len(chosen) == len(best):
            registration.require()
            import torch
            from onmt.bin.average_models import average_models

            part = model.with_suffix(".part")
            torch.save(average_models(list(map(str, chosen))), part)
            part.replace(model)
        self.clear()


def resume_from(checkpoint: str) -> tuple[str, ...]:
    """Return the options that resume from a checkpoint, whatever the configuration begins from."""
    return ("-train_from", checkpoint, "-reset_optim", "none")


def progress_of(line: str) -> tuple[str, float | None] | None:
    """Return what a line of a log says of the progress, and how much is done, 0 to 1."""
    if match := _STEP.search(line):
        step, steps, accuracy, perplexity = match.groups()
        message = f"step {step} of {steps}, accuracy {accuracy}%, perplexity {perplexity}"
        return message, int(step) / int(steps)
    match = _VALIDATION.search(line)
    return (f"validation {match[1]} {match[2]}", None) if match else None


def validated(log: Iterable[str]) -> tuple[str, list[tuple[int, float]]]:
    """Return what the checkpoints in a log are chosen by, and each one's step and value, the best first.

    A checkpoint belongs to the validation before it in the log; one without a validation of its own, at the
    end of training, has no value.
    """
    found: dict[str, dict[int, float]] = {"BLEU": {}, "perplexity": {}}
    latest: dict[str, float] = {}
    for line in log:
        if match := _VALIDATION.search(line):
            latest[match[1]] = float(match[2])
        elif match := _SAVED.search(line):
            for name, value in latest.items():
                if math.isfinite(value):
                    found[name][int(match[1])] = value
            latest = {}
    if found["BLEU"]:
        return "BLEU", sorted(found["BLEU"].items(), key=lambda item: (-item[1], item[0]))
    return "perplexity", by_perplexity(found["perplexity"])


def read_log(path: Path) -> list[str]:
    """Return the lines of a log, whatever stands in them."""
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def last_number(pattern: re.Pattern[str], log: Path) -> float:
    """Return what the last line with a pattern says, as a run that was resumed has several."""
    try:
        found = [match[1] for line in read_log(log) if (match := pattern.search(line))]
    except OSError as error:
        raise StepError(f"{log}: cannot be read: {error.strerror}") from None
    if not found:
        raise StepError(f"{log}: has no line like {pattern.pattern}")
    return float(found[-1])


def _is_whole(path: Path) -> bool:
    """Say whether a checkpoint can be read."""
    with contextlib.suppress(*_DAMAGE), zipfile.ZipFile(path) as archive:
        return archive.testzip() is None
    return False


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(lambda one: Checkpoints(Path(one.folder), Path(one.log)).keep_best(one.average))
    parser.add_argument("--log", metavar="F", required=True, help="log of onmt_train")
    parser.add_argument("--folder", metavar="DIR", required=True, help="where it saved model_step_N.pt")
    add_number(parser, "--average", positive, 1, "how many of the best to average")
    return execute(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
