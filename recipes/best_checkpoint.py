"""Keep only the checkpoint with the best validation perplexity, as ``model.pt``; once more does no harm."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from recipes.checkpoints import Checkpoints, by_perplexity, read_log, validated
from recipes.train import MODEL


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m recipes.best_checkpoint", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--log", metavar="F", required=True, help="log of onmt_train")
    parser.add_argument("--folder", metavar="DIR", required=True, help="where it saved model_step_N.pt")
    arguments = parser.parse_args(argv)
    model = Path(arguments.folder) / MODEL
    checkpoints = Checkpoints(model.parent, Path(arguments.log))
    ranked = list(by_perplexity(validated(read_log(checkpoints.log))))
    paths = checkpoints.paths()
    # Without the best of all, but with a model, the model is the best: this command was stopped half-way.
    best = ranked[0] if ranked and model.exists() else next((one for one in ranked if one[0] in paths), None)
    if best is None:
        print(
            f"{arguments.log}: no checkpoint was saved after a validation that gave a number", file=sys.stderr
        )
        return 2
    step, perplexity = best
    print(f"step {step}, validation perplexity {perplexity}")
    if step in paths:
        paths[step].replace(model)
    checkpoints.clear()
    return 0


if __name__ == "__main__":
    sys.exit(main())
