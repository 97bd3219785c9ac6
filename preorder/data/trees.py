"""Syntax trees over the tokens of a sentence. Indices count from 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, get_args

from preorder.errors import DataError

ROOT = -1
"""The head of a token that depends on no other."""


class Constituent(NamedTuple):
    """A phrase over the tokens ``[begin, end)``."""

    begin: int
    end: int
    category: str


@dataclass(frozen=True)
class ConstituencyTree:
    """Phrases over ``length`` tokens, parents before their children, children from left to right.

    Tokens and their tags are not among the phrases. Phrases over the same tokens form a unary chain.

    Raises:
        DataError: the phrases do not form a tree in that order.
    """

    length: int
    constituents: tuple[Constituent, ...]

    def __post_init__(self) -> None:
        open_ends = [self.length]
        last = 0
        for begin, end, _ in self.constituents:
            while open_ends and begin >= open_ends[-1]:
                open_ends.pop()
            if not open_ends or not last <= begin < end <= open_ends[-1]:
                raise DataError(f"phrase {begin} {end} does not fit its tree")
            open_ends.append(end)
            last = begin

    def __len__(self) -> int:
        return self.length

    @classmethod
    def flat(cls, length: int) -> ConstituencyTree:
        """Return the tree of a sentence without a parse."""
        return cls(length, ())

    @property
    def is_flat(self) -> bool:
        """Whether there is no phrase, as in a sentence without a parse."""
        return not self.constituents


@dataclass(frozen=True)
class DependencyTree:
    """For each token its head, which is a token or ``ROOT``, and its relation to the head.

    Several tokens may be roots; crossing arcs are allowed.

    Raises:
        DataError: a head is out of range, the arcs form a cycle, or the layers differ in length.
    """

    heads: tuple[int, ...]
    relations: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.heads) != len(self.relations):
            raise DataError(f"{len(self.relations)} relations for {len(self.heads)} heads")
        seen = [ROOT] * len(self.heads)  # from which token each was reached first
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

    @classmethod
    def flat(cls, length: int) -> DependencyTree:
        """Return the tree of a sentence without a parse."""
        return cls((ROOT,) * length, ("_",) * length)

    @property
    def is_flat(self) -> bool:
        """Whether no token depends on another, as in a sentence without a parse."""
        return set(self.heads) <= {ROOT}


SyntaxTree = ConstituencyTree | DependencyTree


Binarisation = Literal["head", "left", "right"]
"""Ways to make a tree binary; see :mod:`preorder.syntax.binary`."""

BINARISATIONS: tuple[str, ...] = get_args(Binarisation)

BinarisationOption = Annotated[
    Binarisation,
    "how trees are made binary: head (a head is joined with its neighbours first), left or right (branching)",
]
"""An option of every method on trees."""


class Branch(NamedTuple):
    """A node of a binary syntax tree: the span ``[begin, end)``, divided at ``split``."""

    begin: int
    split: int
    end: int
    category: str
