"""Trees over the tokens of a sentence: syntax, and BTG (Wu 1997). Indices count from 0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

from preorder.data.permutation import Permutation
from preorder.errors import DataError

ROOT = -1  # the head of a token that depends on no other


class Constituent(NamedTuple):
    """A phrase over the tokens ``[begin, end)``."""

    begin: int
    end: int
    category: str


@dataclass(frozen=True)
class ConstituencyTree:
    """Phrases over ``length`` tokens, parents before their children, children from left to right.

    Tokens and their tags are not among the phrases. Phrases over the same tokens form a unary chain.
    """

    length: int
    constituents: tuple[Constituent, ...]

    def __len__(self) -> int:
        return self.length

    @property
    def is_flat(self) -> bool:
        """Whether there is no phrase, as in a sentence without a parse."""
        return not self.constituents


@dataclass(frozen=True)
class DependencyTree:
    """The head of each token, a token or ``ROOT``, and its relation; roots may be several, arcs may cross."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]

    def __post_init__(self) -> None:
        seen = [ROOT] * len(self.heads)  # the token from which each was reached first
        for first in range(len(self.heads)):
            token = first
            while token != ROOT and seen[token] == ROOT:
                seen[token] = first
                head = self.heads[token]
                if not ROOT <= head < len(self.heads):
                    raise DataError(f"head {head + 1} of token {token + 1} is out of range")
                token = head
                if token != ROOT and seen[token] == first:
                    raise DataError(f"the heads above token {token + 1} form a cycle")

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def is_flat(self) -> bool:
        """Whether no token depends on another, as in a sentence without a parse."""
        return set(self.heads) <= {ROOT}


SyntaxTree = ConstituencyTree | DependencyTree


Binarisation = Literal["head", "left", "right"]  # ways to make a tree binary: preorder.syntax.binary
BINARISATIONS: tuple[str, ...] = get_args(Binarisation)


class Branch(NamedTuple):
    """A node of a binary syntax tree: the span ``[begin, end)``, divided at ``split``."""

    begin: int
    split: int
    end: int
    category: str


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
    """A BTG tree over ``length`` tokens: its inner nodes, parents before their children."""

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
        """Return a tree of a reordering; raise a DataError if it has none. O(n).

        Runs of equal nodes branch to the left: a token is joined with the spans on its left as long as both
        together fill a range of positions.
        """
        done: list[tuple[int, int, int, list[Node]]] = []  # begin, first position, last position, nodes
        for i, position in enumerate(permutation.positions):
            begin, first, last = i, position, position
            nodes: list[Node] = []
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
        for node in self.nodes:
            start = first[node.begin, node.end]
            left, right = node.split - node.begin, node.end - node.split
            first[node.begin, node.split] = start + (right if node.inverted else 0)
            first[node.split, node.end] = start + (0 if node.inverted else left)
        return Permutation(tuple(first[token, token + 1] for token in range(self.length)))
