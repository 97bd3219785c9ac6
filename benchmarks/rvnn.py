"""The recursive network: all nodes of one height together, beside one call a node; and how fast it applies.

    python -m benchmarks.rvnn train.en.trees --lines 5000

Both ways compute the same vectors from the same weights, turn by turn in one process, on one thread. The
weights are random: speed does not depend on them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

from benchmarks.process import medians, seconds
from preorder.cli.table import print_table
from preorder.data.types import Sentence
from preorder.learning.backend import device, threads, torch
from preorder.learning.vocabulary import Vocabulary
from preorder.methods.node_labels.forest import forest
from preorder.methods.node_labels.networks.batch import Minibatch, Numbering, equally_long, minibatch
from preorder.methods.node_labels.networks.recursive import Recursive, RvNNPreorderer
from preorder.methods.node_labels.options import RecursiveOptions
from preorder.syntax.read import read_trees

TURNS = 3
MINIBATCH = RecursiveOptions.minibatch


def main(argv: list[str] | None = None) -> None:
    """Measure, and print two tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trees", help="a file of syntax trees")
    parser.add_argument("--lines", type=int, default=5000, help="how many to apply to (default: %(default)s)")
    parser.add_argument(
        "--size", type=int, default=RecursiveOptions.size, help="of the vectors (default: %(default)s)"
    )
    arguments = parser.parse_args(argv)
    lines: list[Sentence] = []
    readings = (reading[0] for _, reading in read_trees(arguments.trees))
    reading = seconds(lambda: lines.extend(islice(readings, arguments.lines)))
    trees = forest(lines, "head")
    vocabulary, _ = Vocabulary.of(lines, ("words", "tags"))
    numbering = Numbering(vocabulary, sorted(set(trees.categories)))
    torch.manual_seed(1)
    network = Recursive(vocabulary.rows, numbering.rows, arguments.size).to(device()).eval()
    batch = numbering(lines, trees)
    largest = max(equally_long(trees.lengths, lambda _: MINIBATCH), key=lambda sentences: sentences.size)
    nodes, _ = minibatch(batch, largest, device())
    preorderer = RvNNPreorderer("constituency", "head", numbering, network)
    with threads(1):
        compare(network, nodes)
        preorderer.order(lines[:100])  # compiles
        (applying,) = turn_by_turn(lambda: preorderer.order(lines))
    rows = [("reading the trees", reading), ("applying", applying)]
    print_table(
        f"{len(lines)} sentences, one thread",
        ("", "processor seconds", "sentences a second"),
        [(name, f"{cost:.2f}", f"{len(lines) / cost:.0f}") for name, cost in rows],
    )


def compare(network: Recursive, nodes: Minibatch) -> None:
    """Print what both ways cost for one minibatch."""
    together = lambda: network(nodes)  # noqa: E731
    alone = lambda: one_by_one(network, nodes)  # noqa: E731
    with torch.no_grad():
        torch.testing.assert_close(together(), alone(), rtol=1e-4, atol=1e-4)
        forward = turn_by_turn(together, alone)
    learning = turn_by_turn(lambda: together().sum().backward(), lambda: alone().sum().backward())
    rows = [
        (name, *(f"{1e3 * cost:.1f} ms" for cost in costs), f"{costs[1] / costs[0]:.0f}×")
        for name, costs in (("labels", forward), ("labels and gradients", learning))
    ]
    sentences, count = nodes.tokens.shape[1], len(nodes.children)
    print_table(
        f"a minibatch of {sentences} sentences with {count} nodes, processor time",
        ("", "by height", "a call a node", "ratio"),
        rows,
    )


def one_by_one(network: Recursive, nodes: Minibatch) -> torch.Tensor:
    """Return the log-odds of all nodes, in one call a node."""
    tokens = nodes.tokens.flatten(1)
    pairs = list(zip(network.embeddings, network.leaf, strict=True))
    vectors = [
        sum(leaf(embedding(row)) for (embedding, leaf), row in zip(pairs, rows, strict=True)).relu()
        for rows in tokens.T
    ]
    odds = []
    for category, (left, right) in zip(nodes.categories, nodes.children.tolist(), strict=True):
        bias = network.bias + network.category(category)
        vectors.append(torch.relu(torch.cat((vectors[left], vectors[right])) @ network.weight + bias))
        straight, inverted = network.output(vectors[-1]).unbind()
        odds.append(inverted - straight)
    return torch.stack(odds)


def turn_by_turn(*ways: Callable[[], Any]) -> list[float]:
    """Return the median processor time of each way."""
    return medians([partial(seconds, way) for way in ways], TURNS)


if __name__ == "__main__":
    main()
