"""Keep only the checkpoint with the best validation perplexity, as ``model.pt``; once more does no harm.

With ``save_format: safetensors`` its weights are in ``model.safetensors``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from onmt_preorder.checkpoint_choice import by_perplexity
from preorder.command_line import Parser, execute
from preorder.errors import DataError
from recipes.checkpoints import Checkpoints, read_log, validated, weights_of
from recipes.train import MODEL


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(prog="python -m recipes.best_checkpoint", description=__doc__, allow_abbrev=False)
    parser.add_argument("--log", metavar="F", required=True, help="log of onmt_train")
    parser.add_argument("--folder", metavar="DIR", required=True, help="where it saved model_step_N.pt")
    parser.set_defaults(run=_keep_best)
    return execute(parser, argv)


def _keep_best(arguments: argparse.Namespace) -> None:
    model = Path(arguments.folder) / MODEL
    checkpoints = Checkpoints(model.parent, Path(arguments.log))
    ranked = list(by_perplexity(validated(read_log(checkpoints.log))))
    paths = checkpoints.paths()
    # Without the best of all, but with a model, the model is the best: this command was stopped half-way.
    best = ranked[0] if ranked and model.exists() else next((one for one in ranked if one[0] in paths), None)
    if best is None:
        raise DataError("no checkpoint was saved after a validation that gave a number", arguments.log)
    step, perplexity = best
    print(f"step {step}, validation perplexity {perplexity}")
    if step in paths:
        if weights_of(paths[step]).exists():  # first: a model.pt stands for both
            weights_of(paths[step]).replace(weights_of(model))
        paths[step].replace(model)
    checkpoints.clear()


if __name__ == "__main__":
    sys.exit(main())
