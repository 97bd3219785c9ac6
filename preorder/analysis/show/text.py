"""A sentence as lines of text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from preorder.analysis.show.scores import panel_names
from preorder.analysis.show.sentence import SentenceView
from preorder.data.types import BinaryTree

SURE, POSSIBLE, NONE = "●", "○", "·"
SHADES = " ░▒▓█"
"""Of attention: less than 0.1, 0.3, 0.5, 0.7, or more."""


def text_lines(view: SentenceView) -> Iterator[str]:
    """Yield the sentence in both orders, its tree, its links as a matrix in both orders, its attention."""
    after = view.reordered()
    rows = [("source", view.words), ("preordered", after.words)]
    rows.append(("positions", tuple(map(str, view.permutation.positions))))
    if view.target is not None:
        rows.append(("target", view.target))
    for name, words in rows:
        yield f"{name:<11} {' '.join(words)}"
    if view.tree is not None and view.tree.nodes:
        yield from ("", *_tree(view.words, view.tree))
    if view.links:
        for name, one in zip(panel_names(view), (view, after), strict=True):
            yield from ("", f"{name}; target tokens across")
            yield from _matrix(one.words, _links(one), len(view.target))
    if view.attention is not None:
        yield from ("", "attention of target tokens, source tokens across; darker is more")
        shades = [[SHADES[min(4, int(5 * weight + 0.5))] for weight in row] for row in view.attention]
        yield from _matrix(view.target, shades, len(view.words))


def _tree(words: Sequence[str], tree: BinaryTree) -> Iterator[str]:
    """Yield a line for each node, parents before their children."""
    splits = {(node.begin, node.end): node for node in tree.nodes}
    stack = [(0, tree.length, "", "")]  # a span, what stands before it, and before what is below it
    while stack:
        begin, end, before, below = stack.pop()
        if end - begin == 1:
            yield before + words[begin]
            continue
        node = splits[begin, end]
        yield before + ("inverted" if node.inverted else "straight")
        stack.append((node.split, end, below + "└─ ", below + "   "))
        stack.append((begin, node.split, below + "├─ ", below + "│  "))


def _links(view: SentenceView) -> list[list[str]]:
    marks = dict.fromkeys(view.alignment.possible, POSSIBLE) | dict.fromkeys(view.alignment.links, SURE)
    targets = range(len(view.target))
    return [[marks.get((i, j), NONE) for j in targets] for i in range(len(view.words))]


def _matrix(names: Sequence[str], rows: Sequence[Sequence[str]], columns: int) -> Iterator[str]:
    """Yield the last digits of the columns' numbers, and a line for each row, its name before it."""
    width = max(map(cell_len, names), default=0)
    yield " " * (width + 2) + "".join(str(column % 10) for column in range(columns))
    for name, cells in zip(names, rows, strict=True):
        yield name + " " * (width - cell_len(name) + 2) + "".join(cells)
