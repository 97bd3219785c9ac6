"""From a corpus of your own to translations and a report, in one command.

Makes a data folder of it (python -m preorder_recipes.split), then aligns, learns to preorder, trains a
baseline and our system, translates, scores and writes the report (python -m preorder_recipes.run). Every
command is shown, and kept in DIR/commands.sh; what is done already is not done again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from onmt_preorder.opennmt import registration
from preorder.data.formats import parse_tokens
from preorder.io import files
from preorder_recipes import run as main_job
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.pipeline.runner import StepRunner
from preorder_recipes.split import add_texts, names_of, texts_of, write_split

CORPUS = "corpus"
BY_TEXT = "by the text"
LITTLE = 20_000  # pairs
SHORT = 12  # words of a sentence, on average


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    command = "start --src my.en --tgt my.tr"
    parser = make_parser(start, epilog=main_job.EXAMPLES.format(command=command, model="en-verb-final"))
    add_texts(parser)
    main_job.add_options(parser, BY_TEXT)
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
    chosen = {"data": corpus, "source": source, "target": target}
    if arguments.size == BY_TEXT:
        lengths = [len(parse_tokens(line)) for line in files.read_lines(str(corpus / f"train.{source}"))]
        own = {name: getattr(arguments, name) for name in ("subwords", "subword_size")}
        settings = settings_for(len(lengths), fmean(lengths))
        settings |= {name: value for name, value in own.items() if value is not None}
        named = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())
        runner.say(f"for this text: {named}")
        chosen |= settings
    main_job.run(argparse.Namespace(**vars(arguments) | chosen))


def settings_for(pairs: int, words: float) -> dict[str, Any]:
    """Return options of ``preorder_recipes.run`` for so many pairs of so many source words on average.

    The fewer pairs, the fewer pieces of words and training steps (recipes/pydocs/RESULTS.md).
    """
    if pairs >= LITTLE and words < SHORT:
        return {"size": "small"}
    pieces = 2000 if pairs < LITTLE // 10 else 4000 if pairs < 50_000 else 8000
    return {"size": "little" if pairs < LITTLE else "small_long", "subwords": "bpe", "subword_size": pieces}


if __name__ == "__main__":
    sys.exit(main())
