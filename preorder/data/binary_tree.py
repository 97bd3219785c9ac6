"""The tree behind a reordering by a bracketing transduction grammar (BTG; Wu 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from preorder.data.permutation import Permutation
from preorder.errors import DataError


@dataclass(frozen=True)
class Node:
    """An inner node of a BTG tree: its span ``[begin, end)``, its split, and its label.

    Its children are ``[begin, split)`` and ``[split, end)``. A straight node keeps their order; an inverted
    node puts the right child before the left.
    """

    begin: int
    split: int
    end: int
    inverted: bool


@dataclass(frozen=True)
class BinaryTree:
    """A BTG tree over ``length`` tokens: its inner nodes, parents before their children.

    Raises:
        DataError: the nodes do not form one binary tree over the tokens.
    """

    length: int
    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        expected = {(0, self.length)} if self.length > 1 else set()
        for node in self.nodes:
            if (node.begin, node.end) not in expected or not node.begin < node.split < node.end:
                raise DataError(f"node {node.begin} {node.split} {node.end} does not fit its tree")
            expected.remove((node.begin, node.end))
            for begin, end in ((node.begin, node.split), (node.split, node.end)):
                if end - begin > 1:
                    expected.add((begin, end))
        if expected:
            raise DataError(f"span {min(expected)} of the tree has no node")

    @classmethod
    def from_permutation(cls, permutation: Permutation) -> BinaryTree:
        """Return a tree that gives a reordering.

        Where several trees give it, runs of straight nodes, and of inverted nodes, branch to the left.
        O(n): a token is joined with the spans on its left as long as both together fill a range of positions.

        Raises:
            DataError: no BTG tree gives it.
        """
        done: list[tuple[int, int, int, list[Node]]] = []  # begin, first position, last position, nodes
        for i, position in enumerate(permutation.positions):
            begin, first, last, nodes = i, position, position, []
            while done and (done[-1][2] + 1 == first or last + 1 == done[-1][1]):
                left_begin, left_first, left_last, left_nodes = done.pop()
                nodes = [Node(left_begin, begin, i + 1, last < left_first), *left_nodes, *nodes]
                begin, first, last = left_begin, min(first, left_first), max(last, left_last)
            done.append((begin, first, last, nodes))
        if len(done) > 1:
            raise DataError("no BTG tree gives this order")
        return cls(len(permutation), tuple(done[0][3]) if done else ())

    @cached_property
    def permutation(self) -> Permutation:
        """The reordering that the tree gives."""
        first = {(0, self.length): 0}  # first position of each span
        positions = list(range(self.length))
        for node in self.nodes:
            start = first.pop((node.begin, node.end))
            left, right = node.split - node.begin, node.end - node.split
            children = (
                (node.begin, node.split, start + (right if node.inverted else 0)),
                (node.split, node.end, start + (0 if node.inverted else left)),
            )
            for begin, end, position in children:
                first[begin, end] = position
                if end - begin == 1:
                    positions[begin] = position
        return Permutation(tuple(positions))
