"""From a corpus of your own to translations and a report, in one command.

Makes a data folder of it (python -m preorder_recipes.split), then aligns, learns to preorder, trains a
baseline and our system, translates, scores and writes the report (python -m preorder_recipes.run). Every
command is shown, and kept in DIR/commands.sh; what is done already is not done again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from onmt_preorder.opennmt import registration
from preorder_recipes import run as main_job
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.pipeline.runner import StepRunner
from preorder_recipes.split import add_texts, names_of, texts_of, write_split

CORPUS = "corpus"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    command = "start --src my.en --tgt my.tr"
    parser = make_parser(start, epilog=main_job.EXAMPLES.format(command=command, model="en-verb-final"))
    add_texts(parser)
    main_job.add_options(parser)
    parser.set_defaults(jobs=2, given_alignment=False, hand_alignment=None)
    return execute(parser, argv)


def start(arguments: argparse.Namespace) -> None:
    """Make the data folder, then do as ``preorder_recipes.run`` does."""
    registration.require()  # before any work
    (source, target), corpus = names_of(arguments), arguments.folder / CORPUS
    runner = StepRunner(arguments.folder, arguments.jobs)
    with runner.alone():
        messages = write_split(arguments, str(corpus))
        runner.note("split", "python", "-m", "preorder_recipes.split", *texts_of(arguments), "--out", CORPUS)
        for message in messages:
            runner.say(message)
    main_job.run(argparse.Namespace(**vars(arguments) | {"data": corpus, "source": source, "target": target}))


if __name__ == "__main__":
    sys.exit(main())
