"""``onmt_preorder best``: find the checkpoint to translate with."""

from __future__ import annotations

import argparse

from onmt_preorder.plugin import require
from preorder.cli import options
from preorder.cli.table import visible

EXAMPLES = """\
  onmt_preorder best run/model
      run/model_step_3250.pt
  onmt_translate -model "$(onmt_preorder best run/model)" -src test.features -output test.hyp
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    summary = "print the path of the checkpoint with the best validation perplexity"
    parser = options.add_command(subparsers, "best", run, summary, EXAMPLES)
    what = "save_model of the training: its checkpoints are MODEL_step_N.pt"
    parser.add_argument("trained", metavar="MODEL", help=what)


def run(arguments: argparse.Namespace) -> None:
    """Run the subcommand.

    Raises:
        DataError: there is no checkpoint with a validation perplexity.
        UsageError: OpenNMT-py is not installed.
    """
    require()
    from onmt_preorder.opennmt.validation import best

    print(visible(str(best(arguments.trained)[0])))
