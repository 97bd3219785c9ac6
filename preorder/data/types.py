"""The small frozen values that pass between the stages. All indices are 0-based.

Worked example, English preordered for Japanese (Kawara et al. 2021, Figure 6)::

    I like the pen that my father bought yesterday
    positions  0 8 6 7 5 1 2 4 3    where each source token goes
    order      0 5 6 8 7 4 2 3 1    which source token stands at each place
    text       I my father yesterday bought that the pen like
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from preorder.data.errors import DataError
from preorder.data.trees import ConstituencyTree, DependencyTree, SyntaxTree

T = TypeVar("T")


@dataclass(frozen=True, slots=True)  # there may be millions
class Sentence:
    """A tokenised source sentence with as many layers of annotation as are known.

    Attributes:
        words: the tokens.
        tags: one part-of-speech tag a token, or None where the sentence has none.
        classes: one word class a token, or None where the sentence has none.
        tree: a syntax tree over the tokens, or None where the sentence has none.

    Raises:
        DataError: a layer's length differs from the number of words.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None
    tree: SyntaxTree | None = None

    def __post_init__(self) -> None:
        layers = (("POS tags", self.tags), ("word classes", self.classes), ("leaves of a tree", self.tree))
        for name, layer in layers:
            if layer is not None and len(layer) != len(self.words):
                raise DataError(f"{len(layer)} {name} for {len(self.words)} words")

    @property
    def constituency(self) -> ConstituencyTree | None:
        """The tree, if it is one of constituents."""
        return self.tree if isinstance(self.tree, ConstituencyTree) else None

    @property
    def dependency(self) -> DependencyTree | None:
        """The tree, if it is one of dependencies."""
        return self.tree if isinstance(self.tree, DependencyTree) else None

    def __len__(self) -> int:
        return len(self.words)

    def interned(self) -> Sentence:
        """Return the same sentence with tokens that it shares with others: a quarter of the memory."""
        words, tags, classes = (
            layer and tuple(map(sys.intern, layer)) for layer in (self.words, self.tags, self.classes)
        )
        return replace(self, words=words, tags=tags, classes=classes)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Word alignment of a sentence pair.

    Attributes:
        links: ``(source index, target index)`` pairs; the sure ones where sure and
            possible links are told apart.
        possible: links that are only possible (``i?j``), without the sure ones.
        source_length, target_length: tokens a side, where the file format says so.

    Raises:
        DataError: a link lies outside a known length.
    """

    links: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]] = frozenset()
    source_length: int | None = None
    target_length: int | None = None

    def __post_init__(self) -> None:
        self.check_within(self.source_length, self.target_length)

    def check_within(self, source_length: int | None, target_length: int | None = None) -> None:
        """Check every link against the lengths given (None: not known).

        Raises:
            DataError: a link lies outside, or the alignment states another length.
        """
        sides = (
            ("source", 0, source_length, self.source_length),
            ("target", 1, target_length, self.target_length),
        )
        for side, index, length, stated in sides:
            if length is None:
                continue
            if stated is not None and stated != length:
                raise DataError(f"the alignment is of {stated} {side} tokens, the sentence has {length}")
            for link in self.links | self.possible:
                if link[index] >= length:
                    raise DataError(
                        f"link {link[0]}-{link[1]} is out of range: the {side} has {length} tokens"
                    )

    def targets(self, source_length: int) -> tuple[tuple[int, ...], ...]:
        """Return each source token's target indices, ascending; sure links only."""
        targets: list[list[int]] = [[] for _ in range(source_length)]
        for i, j in self.links:
            targets[i].append(j)
        return tuple(tuple(sorted(group)) for group in targets)


@dataclass(frozen=True)
class Bitext:
    """Annotated source sentences and their alignments, equally many."""

    sentences: Sequence[Sentence]
    alignments: Sequence[Alignment]

    def __len__(self) -> int:
        return len(self.sentences)

    def take(self, indices: Iterable[int]) -> Bitext:
        """Return the pairs at the given indices."""
        chosen = list(indices)
        return Bitext([self.sentences[i] for i in chosen], [self.alignments[i] for i in chosen])


NO_LINES = Bitext((), ())


@dataclass(frozen=True)
class Permutation:
    """A reordering of n tokens, held as positions: ``positions[i]`` is where token i goes.

    Raises:
        DataError: the numbers are not 0 … n-1, each once.
    """

    positions: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_permutation(self.positions)

    @classmethod
    def identity(cls, length: int) -> Permutation:
        """Return the permutation that leaves every token in its place."""
        return cls(tuple(range(length)))

    @classmethod
    def from_order(cls, order: Sequence[int]) -> Permutation:
        """Build from an order: ``order[r]`` is the token that stands at place r."""
        _check_permutation(order)
        return cls(_inverse(order))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """``order[r]``: the index of the token that stands at place r."""
        return _inverse(self.positions)

    def apply(self, tokens: Sequence[T]) -> tuple[T, ...]:
        """Return the tokens in their new order."""
        return tuple(tokens[i] for i in self.order)

    def __len__(self) -> int:
        return len(self.positions)


def _check_permutation(numbers: Sequence[int]) -> None:
    if sorted(numbers) != list(range(len(numbers))):
        raise DataError(f"not a permutation of 0 … {len(numbers) - 1}: {_shortened(numbers)}")


def _inverse(numbers: Sequence[int]) -> tuple[int, ...]:
    inverse = [0] * len(numbers)
    for index, number in enumerate(numbers):
        inverse[number] = index
    return tuple(inverse)


def _shortened(numbers: Iterable[int], limit: int = 60) -> str:
    text = " ".join(map(str, numbers))
    return text if len(text) <= limit else text[:limit] + " …"


@dataclass(frozen=True)
class Node:
    """An inner node of a BTG tree: span ``[begin, end)``, its split, and its label.

    ``inverted`` puts the right child ``[split, end)`` before the left ``[begin, split)``.
    """

    begin: int
    split: int
    end: int
    inverted: bool


@dataclass(frozen=True)
class BinaryTree:
    """A BTG tree over ``length`` tokens: its inner nodes, every parent before its children.

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
    def of(cls, permutation: Permutation) -> BinaryTree:
        """Return a tree that gives a reordering; straight runs and inverted ones branch to the left.

        O(n): a token is joined with what stands left of it as long as both together fill a range of places.

        Raises:
            DataError: no BTG tree gives it.
        """
        done: list[tuple[int, int, int, list[Node]]] = []  # begin, first place, last place, nodes
        for i, place in enumerate(permutation.positions):
            begin, low, high, nodes = i, place, place, []
            while done and (done[-1][2] + 1 == low or high + 1 == done[-1][1]):
                first, lowest, highest, left = done.pop()
                nodes = [Node(first, begin, i + 1, high < lowest), *left, *nodes]
                begin, low, high = first, min(low, lowest), max(high, highest)
            done.append((begin, low, high, nodes))
        if len(done) > 1:
            raise DataError("no BTG tree gives this order")
        return cls(len(permutation), tuple(done[0][3]) if done else ())

    @cached_property
    def permutation(self) -> Permutation:
        """The reordering that reading the leaves off the tree gives."""
        place = {(0, self.length): 0}  # first place of each span
        positions = list(range(self.length))
        for node in self.nodes:
            first = place.pop((node.begin, node.end))
            left, right = node.split - node.begin, node.end - node.split
            children = (
                (node.begin, node.split, first + (right if node.inverted else 0)),
                (node.split, node.end, first + (0 if node.inverted else left)),
            )
            for begin, end, start in children:
                place[begin, end] = start
                if end - begin == 1:
                    positions[begin] = start
        return Permutation(tuple(positions))
