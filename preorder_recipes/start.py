"""From a corpus of your own to translations and a report, in one command.

Makes a data folder of it (python -m preorder_recipes.split), then aligns, learns to preorder, trains a
baseline and our system, translates, scores and writes the report (python -m preorder_recipes.run).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from preorder.command_line import Parser
from preorder.errors import UsageError
from preorder_recipes import run as main_job
from preorder_recipes.pipeline.runner import StepRunner, exit_status
from preorder_recipes.split import add_texts, names_of, texts_of, write_split

CORPUS = "corpus"
DEFAULTS = ("--jobs", "2")
EPILOG = """\
All options of python -m preorder_recipes.run but --data can follow, such as --size, --systems, --seeds,
--subwords, --device, --jobs (here 2) and --open. Every command is shown, and kept in DIR/commands.sh; what
is done already is not done again.

  python -m preorder_recipes.start --src train.en --tgt train.ja --run runs/mine --open
  python -m preorder_recipes.start --src news.en.gz --tgt news.de.gz --test-src test.en --test-tgt test.de \\
      --run runs/news --subwords bpe --device gpu
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments, more = build_parser().parse_known_args(argv)
    line = ["--data", str(arguments.run / CORPUS), "--run", str(arguments.run), *DEFAULTS, *more]
    return exit_status(lambda: start(arguments, line))


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the options that are not those of ``preorder_recipes.run``."""
    parser = Parser(
        prog="python -m preorder_recipes.start",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_texts(parser)
    parser.add_argument("--run", metavar="DIR", type=Path, required=True, help="folder to work in")
    return parser


def start(arguments: argparse.Namespace, line: Sequence[str]) -> None:
    """Make the data folder, then do as ``preorder_recipes.run`` does with a command line."""
    source, target = names_of(arguments)
    parsed = main_job.build_parser().parse_args(["--src", source, "--tgt", target, *line])
    if parsed.data != arguments.run / CORPUS:
        raise UsageError("--data: preorder_recipes.start makes the data folder itself, of --src and --tgt")
    runner = StepRunner(arguments.run, parsed.jobs)
    with runner.alone():
        messages = write_split(arguments, str(arguments.run / CORPUS))
        runner.note("split", "python", "-m", "preorder_recipes.split", *texts_of(arguments), "--out", CORPUS)
        for message in messages:
            runner.say(message)
    main_job.run(parsed)


if __name__ == "__main__":
    sys.exit(main())
