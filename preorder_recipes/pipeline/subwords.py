"""Learn to split words into pieces, by SentencePiece: one model for all texts, pieces as they stand there."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from itertools import chain

from preorder.command_line.options import add_number, positive
from preorder.data.texts import text_lines
from preorder.errors import UsageError, require
from preorder.io import files
from preorder_recipes.commands import execute, make_parser

KINDS = ("bpe", "unigram")  # Sennrich et al. 2016; Kudo 2018
DEFAULT_SIZE = 4000
PIECES = "pieces beside the single characters: 4,000 for 50,000 pairs, 32,000 for millions"
OTHERS = 4  # the beginning of a word, and symbols for unknown pieces, the beginning and the end
LONGEST = 1 << 20  # bytes of a line; SentencePiece leaves longer ones out


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_learn)
    parser.add_argument("--text", metavar="F", nargs="+", required=True, help="tokenised texts")
    parser.add_argument("--kind", choices=KINDS, default=KINDS[0], help="(default: %(default)s)")
    add_number(parser, "--size", positive, DEFAULT_SIZE, PIECES)
    parser.add_argument("--out", metavar="F", required=True, help="model to write")
    return execute(parser, argv)


def _learn(arguments: argparse.Namespace) -> None:
    lines = [line for path in arguments.text for line in text_lines(path, files.read_lines(path))]
    characters = {*chain.from_iterable(lines)} - {" ", "\t"}  # Japanese has thousands
    model, settings = io.BytesIO(), {"model_type": arguments.kind}
    settings |= {"vocab_size": arguments.size + len(characters) + OTHERS}
    settings |= {"character_coverage": 1.0, "normalization_rule_name": "identity", "num_threads": 1}
    settings |= {"split_by_unicode_script": False, "split_by_number": False}
    settings |= {"max_sentence_length": LONGEST, "hard_vocab_limit": False, "minloglevel": 2}
    try:
        require("sentencepiece", "onmt").SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=model, **settings
        )
    except RuntimeError as error:
        raise UsageError(f"SentencePiece: {' '.join(str(error).split())}") from None
    files.write_bytes(arguments.out, model.getvalue())


if __name__ == "__main__":
    sys.exit(main())
