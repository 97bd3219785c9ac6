"""Show to which words a model attends in a sentence, given its translation (Zhang et al. 2017, Figure 4).

A row is a word of the translation, a column one of the source: the share of the attention that it gets, 0 to
1. It is the attention from which ``onmt_translate -align_output`` reads links. ``(end)`` is an end symbol.
What the jumps of distortion models lead past the ends of the source is in no column.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from preorder.command_line.options import add_number, positive
from preorder.data.formats import parse_tokens
from preorder.errors import UsageError
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.trained import END, add_inputs, add_picture, labels, load_line, show_matrix


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_print)
    add_inputs(parser, src="source, one sentence a line", tgt="its translation")
    add_number(parser, "--line", positive, 1, "number of the sentence")
    add_picture(parser)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    import torch

    paths = arguments.src, arguments.tgt
    (source, target), trained, batch = load_line(arguments.model, arguments.line, *paths)
    with torch.no_grad():
        states, final, lengths = trained.encoder(batch["src"], batch["srclen"])
        trained.decoder.init_state(batch["src"], states, final)
        _, found = trained.decoder(batch["tgt"][:, :-1], states, src_len=lengths, with_align=True)
    if "align" not in found:
        raise UsageError(f"{arguments.model}: the model has no attention")
    shares = found["align"][0].tolist()
    columns = [*labels(parse_tokens(source), batch["src_tokens"]), END][: len(shares[0])]
    words = [*labels(parse_tokens(target), batch["tgt_tokens"]), END]
    show_matrix(f"Attention of “{target}”", "source word", words, columns, shares, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
