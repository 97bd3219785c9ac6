"""Show what the local reordering layer of NPMT lets pass in a sentence (Huang et al. 2018, Figure 5).

A row is a source word, a column a distance in words: how far open the gate is through which the word at that
distance comes, 0 to 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from preorder.command_line.options import add_number, positive
from preorder.data.formats import parse_tokens
from preorder.errors import UsageError
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.trained import add_inputs, add_picture, labels, load_line, show_matrix


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_print)
    add_inputs(parser, src="source, one sentence a line")
    add_number(parser, "--line", positive, 1, "number of the sentence")
    add_picture(parser)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    import torch

    from onmt_preorder.papers.npmt.layers import LocalReordering

    (sentence,), trained, batch = load_line(arguments.model, arguments.line, arguments.src)
    layer = next((one for one in trained.modules() if isinstance(one, LocalReordering)), None)
    if layer is None:
        raise UsageError(f"{arguments.model}: the model has no local reordering")
    found: list[torch.Tensor] = []
    layer.register_forward_hook(lambda _, given, __: found.append(layer.gates(*given)[1]))
    with torch.no_grad():
        trained.encoder(batch["src"], batch["srclen"])
    words, gates = labels(parse_tokens(sentence), batch["src_tokens"]), found[0][0].tolist()
    side = len(gates[0]) // 2
    columns = [f"{distance:+d}" if distance else "0" for distance in range(-side, side + 1)]
    show_matrix(f"Gates of “{sentence}”", "distance in words", words, columns, gates, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
