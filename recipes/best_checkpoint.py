"""Keep only the checkpoint with the best validation perplexity, as ``model.pt``."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from preorder.cli import execute
from preorder.data.errors import DataError
from recipes.train import MODEL, VALIDATION

_SAVED = re.compile(r"Saving checkpoint .*_step_([0-9]+)\.pt")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m recipes.best_checkpoint", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--log", metavar="F", required=True, help="log of onmt_train")
    parser.add_argument("--folder", metavar="DIR", required=True, help="where it saved model_step_N.pt")
    parser.set_defaults(run=_keep_best)
    return execute(parser, argv)


def _keep_best(arguments: argparse.Namespace) -> None:
    folder = Path(arguments.folder)
    best = _best(Path(arguments.log).read_text(encoding="utf-8").splitlines())
    if best is None:
        raise DataError("no checkpoint was saved after a validation that gave a number", arguments.log)
    perplexity, step = best
    print(f"step {step}, validation perplexity {perplexity}")
    (folder / f"model_step_{step}.pt").replace(folder / MODEL)
    for other in folder.glob("model_step_*.pt"):
        other.unlink()


def _best(log: Iterable[str]) -> tuple[float, int] | None:
    """Return perplexity and step of the best checkpoint, the first of equals.

    A checkpoint belongs to the validation that the log shows before it; one that comes
    without a validation of its own, at the end of training, is not looked at.
    """
    found: list[tuple[float, int]] = []
    perplexity = None
    for line in log:
        if match := VALIDATION.search(line):
            perplexity = float(match[1])
        elif (match := _SAVED.search(line)) and perplexity is not None:
            if math.isfinite(perplexity):
                found.append((perplexity, int(match[1])))
            perplexity = None
    return min(found, default=None)


if __name__ == "__main__":
    sys.exit(main())
