"""Measure the jumps of a model with distortion attention (Zhang et al. 2017), given the right words.

Prints the mean entropy of P(k), in nats, beside that of jumps of which nothing is known; the mean P(k) of
each distance k; and how much of the attention is lost, as jumps have led past the ends of the source.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from typing import Any

from preorder.command_line.options import add_number, positive
from preorder.data.formats import parse_tokens
from preorder.errors import UsageError
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.trained import (
    END,
    add_inputs,
    add_picture,
    labels,
    load_line,
    load_trained,
    show_matrix,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_print)
    add_inputs(parser, src="source, one sentence a line", tgt="its translation")
    add_number(parser, "--line", positive, None, "print P(k) at each word of this translation")
    add_picture(parser)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    if arguments.line:
        _print_sentence(arguments)
        return
    if arguments.out:
        raise UsageError("--out draws the jumps of one sentence: it goes with --line")
    entropy, probabilities, lost = _measure(arguments.model, arguments.src, arguments.tgt)
    print(f"entropy of P(k) {entropy:.3f}, of {math.log(len(probabilities)):.3f} at most")
    print(", ".join(f"P({k}) {share:.3f}" for k, share in probabilities.items()))
    print(f"attention past the ends {lost:.3f}")


def _measure(model: str, source: str, target: str) -> tuple[float, dict[int, float], float]:
    """Return means over words and end symbols: entropy, P(k) of each k from ahead, lost attention."""
    import torch

    trained, batches, _ = load_trained(model, source, target)
    window = _decoder(model, trained).window
    sums, words = torch.zeros(2 * window + 3, dtype=torch.float64), 0
    for batch in batches:
        jumps, attention = _jumps(model, trained, batch)
        entropy = -torch.xlogy(jumps, jumps).sum(-1, keepdim=True)
        lost = 1 - attention.sum(-1, keepdim=True)
        is_word = batch["tgt"][:, 1:, 0] != trained.decoder.embeddings.word_padding_idx
        sums += torch.cat((entropy, jumps, lost), -1)[is_word].double().sum(0).cpu()
        words += int(is_word.sum())
    entropy, *shares, lost = (sums / words).tolist()
    return entropy, dict(zip(_distances(window), shares, strict=True)), lost


def _print_sentence(arguments: argparse.Namespace) -> None:
    given = (arguments.model, arguments.line, arguments.src, arguments.tgt)
    (_, target), trained, batch = load_line(*given)
    jumps, _ = _jumps(arguments.model, trained, batch)
    words = [*labels(parse_tokens(target), batch["tgt_tokens"]), END]
    distances = list(map(str, _distances(trained.decoder.window)))
    title, axis = f"P(k) at each word of “{target}”", "k, distance of the jump"
    show_matrix(title, axis, words, distances, jumps[0].tolist(), arguments.out)


def _decoder(model: str, trained: Any) -> Any:
    if getattr(trained.decoder, "jumps", None) is None:
        raise UsageError(f"{model}: the model has no jumps")
    return trained.decoder


def _distances(window: int) -> range:
    return range(window, -window - 1, -1)


def _jumps(model: str, trained: Any, batch: dict[str, Any]) -> tuple[Any, Any]:
    """Return P(k) and attention at each word of the targets, the end symbol included."""
    import torch

    decoder = _decoder(model, trained)
    with torch.no_grad():
        states, final, lengths = trained.encoder(batch["src"], batch["srclen"])
        decoder.init_state(batch["src"], states, final)
        return decoder.jump_probabilities(batch["tgt"][:, :-1], states, lengths)


if __name__ == "__main__":
    sys.exit(main())
