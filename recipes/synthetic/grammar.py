"""Sample sentence pairs, with their alignment, tags and tree, from a synchronous grammar.

Worked example: ``VP/core -> VBD/take NP/thing = 1 o 0`` over the pieces *found → mitsuketa*
and *the book → hon* gives *found the book → hon o mitsuketa*, links ``0-2 2-0``: *the* and
*o* translate nothing.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recipes.synthetic.rules import LEXICON, RULES

START = "ROOT"
_RULE = re.compile(r"(\S+) -> (.+?) += (.+?) +: ([0-9]+)")
_PART = re.compile(r"[0-9]+(\+[0-9]+)*")


@dataclass(frozen=True)
class Piece:
    """A stretch of a sentence pair.

    Attributes:
        tree: PTB bracketing of the source.
        words, tags: the source.
        target: target words, each with the 0-based source words it translates.
    """

    tree: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    target: tuple[tuple[str, frozenset[int]], ...]

    @property
    def translation(self) -> tuple[str, ...]:
        """The target words alone."""
        return tuple(word for word, _ in self.target)

    @property
    def links(self) -> frozenset[tuple[int, int]]:
        """The word alignment, ``(source, target)``."""
        return frozenset((i, j) for j, (_, sources) in enumerate(self.target) for i in sources)


@dataclass(frozen=True)
class Rule:
    """How a category is made of parts, in both languages.

    Attributes:
        parts: categories, in the source's order.
        target: what stands in the target: a particle, or the indices of the part that is
            put there and of those that are translated with it.
    """

    parts: tuple[str, ...]
    target: tuple[str | tuple[int, ...], ...]


@dataclass(frozen=True)
class Grammar:
    """Rules and words of each category, with their weights.

    ``rules[category]`` and ``words[category]`` hold ``(choices, weights)``; a word's choice is
    the word with its alternative translations.
    """

    rules: dict[str, tuple[list[Rule], list[float]]]
    words: dict[str, tuple[list[tuple[str, list[str]]], list[float]]]


def load() -> Grammar:
    """Parse the rules and the lexicon; a word's weight falls with its rank, as 1 / (rank + 3)."""
    rules: dict[str, tuple[list[Rule], list[float]]] = defaultdict(lambda: ([], []))
    for line in RULES.strip().splitlines():
        if line:
            category, parts, target, weight = _RULE.fullmatch(line).groups()
            choices, weights = rules[category]
            choices.append(Rule(tuple(parts.split()), tuple(map(_target_item, target.split()))))
            weights.append(float(weight))
    words = {}
    for line in LEXICON.strip().splitlines():
        category, *entries = line.split()
        choices = [_entry(entry) for entry in entries]
        words[category] = (choices, [1 / (rank + 3) for rank in range(len(choices))])
    return Grammar(dict(rules), words)


def sample(grammar: Grammar, generator: random.Random, category: str = START) -> Piece:
    """Draw one sentence pair, or the piece of one that a category makes."""
    label = category.partition("/")[0]
    if category in grammar.words:
        word, translations = _draw(grammar.words[category], generator)
        words = generator.choice(translations).split("_")
        target = tuple((word, frozenset([0])) for word in words if word)
        return Piece(f"({label} {word})", (word,), (label,), target)
    rule = _draw(grammar.rules[category], generator)
    return _combine(label, rule, [sample(grammar, generator, part) for part in rule.parts])


def pairs(seed: int, shortest: int = 6, longest: int = 40) -> Iterator[Piece]:
    """Yield sentence pairs for ever, no source sentence twice, of a length in source words."""
    grammar, generator, seen = load(), random.Random(seed), set()
    while True:
        piece = sample(grammar, generator)
        if shortest <= len(piece.words) <= longest and piece.words not in seen:
            seen.add(piece.words)
            yield piece


def _combine(label: str, rule: Rule, pieces: Sequence[Piece]) -> Piece:
    starts = [sum(len(piece.words) for piece in pieces[:k]) for k in range(len(pieces))]
    target: list[tuple[str, frozenset[int]]] = []
    for item in rule.target:
        if isinstance(item, str):
            target.append((item, frozenset()))
            continue
        placed, *joined = item
        also = {starts[k] + i for k in joined for i in range(len(pieces[k].words))}
        for word, sources in pieces[placed].target:
            target.append((word, frozenset({starts[placed] + i for i in sources} | also)))
    return Piece(
        f"({label} {' '.join(piece.tree for piece in pieces)})",
        tuple(word for piece in pieces for word in piece.words),
        tuple(tag for piece in pieces for tag in piece.tags),
        tuple(target),
    )


def _draw(weighted: tuple[list, list[float]], generator: random.Random):
    choices, weights = weighted
    return generator.choices(choices, weights)[0]


def _target_item(item: str) -> str | tuple[int, ...]:
    return tuple(map(int, item.split("+"))) if _PART.fullmatch(item) else item


def _entry(entry: str) -> tuple[str, list[str]]:
    word, _, translations = entry.partition("=")
    return word, translations.split("|")
