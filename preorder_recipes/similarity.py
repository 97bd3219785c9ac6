"""Measure how well a model with explicit reordering predicts positions (Chen et al. 2020, equation 12).

Prints the mean cosine with the encodings of the gold positions, and the mean distance from these in tokens:
of the original positions (PE), and of those that the model's last layer predicts (PR). Then the share of
the way from the original positions to the gold ones that the predicted ones have gone: 0 is where the
source's words stand, 1 is gold, and less than 0 is worse than doing nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from preorder.analysis import plots
from preorder.command_line import print_table
from preorder.command_line.options import add_number, positive
from preorder.data.formats import parse_features
from preorder.errors import UsageError
from preorder.io import files
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.trained import add_inputs, add_picture, labels, load_line, load_trained


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_print)
    add_inputs(parser, src="token￨position, of preorder gold --unaligned keep")
    what = "print the original, learned and given position of each word of this sentence"
    add_number(parser, "--line", positive, None, what)
    add_picture(parser)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    for _ in files.read_parsed(arguments.src, parse_features):
        pass  # OpenNMT-py would read tokens without positions as if these were gold
    if arguments.line:
        _print_positions(arguments)
        return
    if arguments.out:
        raise UsageError("--out draws the positions of one sentence: it goes with --line")
    original, learned = _similarities(arguments.model, arguments.src)
    for name, (cosine, tokens) in (("PE", original), ("PR", learned)):
        print(f"{name} {cosine:.4f}, {tokens:.3f} tokens away")
    if original[1] == 0:
        print("share of the way: the original positions are the gold ones")
    else:
        ends = zip(original, learned, (1.0, 0.0), strict=True)
        shares = ((now - begin) / (gold - begin) for begin, now, gold in ends)
        print("share of the way {:.3f} by the cosine, {:.3f} by tokens".format(*shares))


def _print_positions(arguments: argparse.Namespace) -> None:
    """Print the positions of a sentence's words and, if a path is given, draw them (the paper's Figure 8)."""
    (line,), trained, batch = load_line(arguments.model, arguments.line, arguments.src)
    words = labels(parse_features(line)[0], batch["src_tokens"])
    ((original, gold, learned, _, _),) = _positions(arguments.model, trained, [batch])
    positions = {"original": original.tolist(), "learned": learned[0].tolist(), "given": gold[0].tolist()}
    columns = zip(words, *positions.values(), strict=True)
    rows = [(word, str(k), f"{own:.1f}", str(given)) for word, k, own, given in columns]
    print_table(None, ("word", *positions), rows)
    if arguments.out:
        title = "Original, learned and given positions of a sentence's words"
        plots.write_picture(partial(_draw_positions, words, positions), title, arguments.out)


def _draw_positions(words: Sequence[str], positions: Mapping[str, Sequence[float]]) -> Any:
    figure, (axes,) = plots.new_figure(1)
    figure.set_size_inches(plots.WIDTH, 0.25 * len(words) + 1)
    for name, style in plots.styles(list(positions)).items():
        axes.plot(
            positions[name], range(len(words)), style.marker, color=style.colour, fillstyle="none", label=name
        )
    axes.set_yticks(range(len(words)), words, parse_math=False)
    axes.invert_yaxis()
    axes.grid(axis="x")
    axes.set_xlabel("position, from 0")
    figure.legend(loc="outside upper left", ncols=len(positions))
    return figure


def _similarities(model: str, source: str) -> tuple[list[float], list[float]]:
    """Return mean cosine with and distance in tokens from the given positions: of original and predicted."""
    import torch

    from onmt_preorder.papers.explicit_reordering import reordering_loss
    from onmt_preorder.transformer.sinusoidal import encodings

    trained, batches, _ = load_trained(model, source)
    sums, tokens = torch.zeros(2, 2, dtype=torch.float64), 0.0
    encoder = trained.encoder
    for own, gold, learned, padding, states in _positions(model, trained, batches):
        encoder.explicit = replace(encoder.explicit, reordering_loss_weight=-1.0)
        table = encodings(0, states.size(1), states).expand_as(states)
        losses = reordering_loss(table, gold, padding, encoder.explicit), encoder.additional_loss()
        for i, (loss, positions) in enumerate(zip(losses, (own, learned), strict=True)):
            away = (positions - gold).abs().masked_fill(padding, 0).sum().item()
            sums[i] += torch.tensor([loss.item(), away])
        tokens += int((~padding).sum())
    return tuple((sums / tokens).tolist())


def _positions(model: str, trained: Any, batches: Iterable[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield a batch's original, gold and learned positions, its padding and the encoder's states."""
    import torch

    encoder = trained.encoder
    if not getattr(encoder, "explicit", None):
        raise UsageError(f"{model}: the model has no explicit reordering")
    learned: list[torch.Tensor] = []
    block = encoder.transformer[-1].after_layer
    block.register_forward_hook(
        lambda _, given, __: learned.append(block.positions(given[0], given[1].lengths))
    )
    for batch in batches:
        src, lengths = batch["src"], batch["srclen"]
        with torch.no_grad():
            states = encoder(src, lengths)[0]
        own = torch.arange(src.size(1), device=src.device)
        padding = own >= lengths.unsqueeze(1)
        yield own, encoder.positions(src, padding), learned.pop(), padding, states


if __name__ == "__main__":
    sys.exit(main())
