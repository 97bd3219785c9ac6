"""Keep only the checkpoint with the best validation perplexity, as ``model.pt``."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from recipes.train import MODEL, VALIDATION

_SAVED = re.compile(r"Saving checkpoint .*_step_([0-9]+)\.pt")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m recipes.best_checkpoint", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--log", metavar="F", required=True, help="log of onmt_train")
    parser.add_argument("--folder", metavar="DIR", required=True, help="where it saved model_step_N.pt")
    arguments = parser.parse_args(argv)
    folder = Path(arguments.folder)
    best = best_step(Path(arguments.log).read_text(encoding="utf-8").splitlines())
    if best is None:
        print(
            f"{arguments.log}: no checkpoint was saved after a validation that gave a number", file=sys.stderr
        )
        return 2
    step, perplexity = best
    print(f"step {step}, validation perplexity {perplexity}")
    (folder / f"model_step_{step}.pt").replace(folder / MODEL)
    for other in folder.glob("model_step_*.pt"):
        other.unlink()
    return 0


def best_step(log: Iterable[str]) -> tuple[int, float] | None:
    """Return step and perplexity of the best checkpoint, the first of equals.

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
    if not found:
        return None
    perplexity, step = min(found)
    return step, perplexity


if __name__ == "__main__":
    sys.exit(main())
