"""What eflomal counted in one part of a text, given to it as priors for another part.

As ``eflomal-makepriors`` does, links of words, jumps and fertilities are counted. Two things differ. Each
direction has the counts of its own links, where that program counts the words of the forward ones for both;
and tokens without a link count as such, where it leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from preorder.alignment.links import Links

MAX_FERTILITY = 7  # eflomal counts greater ones as this one


@dataclass(frozen=True, slots=True)
class Side:
    """The source or the target side of a text, its words as numbers from 0."""

    vocabulary: Mapping[str, int]
    starts: np.ndarray  # (sentences + 1): sentence n has the tokens from starts[n] to starts[n + 1]
    tokens: np.ndarray  # (tokens), the numbers of their words

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Side:
        """Number the words. O(tokens)."""
        vocabulary: dict[str, int] = {}
        ends, tokens = [0], []
        for words in sentences:
            tokens += [vocabulary.setdefault(word, len(vocabulary)) for word in words]
            ends.append(len(tokens))
        return cls(vocabulary, np.array(ends), np.array(tokens, np.int32))

    def lines(self) -> Iterator[str]:
        """Yield what eflomal reads: the number of sentences and of words, then each sentence."""
        yield f"{len(self.starts) - 1} {len(self.vocabulary)}"
        for begin, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            yield " ".join(map(str, (end - begin, *self.tokens[begin:end].tolist())))


@dataclass(frozen=True, slots=True)
class Priors:
    """Counts of one direction, in which each token of one side is linked to one of the other, or to none."""

    words: tuple[Mapping[str, int], Mapping[str, int]]  # word → number, of the other side and of the first
    lexicon: np.ndarray  # (pairs, 2): numbers of linked words
    jumps: np.ndarray  # (jumps): from the token that one token is linked to, to that of the next
    fertilities: np.ndarray  # (fertilities, 2): a word of the other side, and how many links a token has
    counts: tuple[np.ndarray, np.ndarray, np.ndarray]  # of the rows of the three

    @classmethod
    def learn(cls, sides: tuple[Side, Side], draws: Sequence[Links], is_reverse: bool) -> Priors:
        """Count the links of samplers on average; ``is_reverse``: each source token has one at most."""
        given, emitted = sides[::-1] if is_reverse else sides
        parts = [_counted(given, emitted, *_ends(links, is_reverse)) for links in draws]
        kinds = map(np.concatenate, zip(*parts, strict=True))
        counted = (np.unique(kind, axis=0, return_counts=True) for kind in kinds)
        rows, counts = zip(*counted, strict=True)
        shares = tuple(count / len(draws) for count in counts)
        return cls((given.vocabulary, emitted.vocabulary), *rows, shares)

    def lines(self, sides: tuple[Side, Side], is_reverse: bool) -> Iterator[str]:
        """Yield the file of priors that eflomal reads for another text; it counts words from 1."""
        vocabularies = [side.vocabulary for side in (sides[::-1] if is_reverse else sides)]
        given, emitted = (  # the numbers of words in the other text, from 1; 0: not there
            np.array([vocabulary.get(word, -1) + 1 for word in words], np.int64)
            for words, vocabulary in zip(self.words, vocabularies, strict=True)
        )
        lexicon = np.stack((given[self.lexicon[:, 0]], emitted[self.lexicon[:, 1]]), axis=1)
        known = (lexicon > 0).all(axis=1)
        words = given[self.fertilities[:, 0]]
        fertilities = np.stack((words, self.fertilities[:, 1]), axis=1)[words > 0]
        lexicon = lexicon[known, ::-1] if is_reverse else lexicon[known]
        sizes = (len(self.jumps), 0), (len(fertilities), 0)
        of_ways = [size for pair in sizes for size in (pair[::-1] if is_reverse else pair)]
        header = (*(len(side.vocabulary) + 1 for side in sides), len(lexicon), *of_ways)
        yield " ".join(map(str, header))
        yield from _rows(lexicon, self.counts[0][known])
        yield from _rows(self.jumps[:, None], self.counts[1])
        yield from _rows(fertilities, self.counts[2][words > 0])


def _ends(links: Links, is_reverse: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pair of each link, and its tokens: of the side with several links a token, then one."""
    pairs = np.repeat(np.arange(len(links.starts) - 1), np.diff(links.starts))
    ends = (links.targets, links.sources) if is_reverse else (links.sources, links.targets)
    order = np.lexsort((ends[1], pairs))
    return pairs[order], ends[0][order].astype(np.int64), ends[1][order].astype(np.int64)


def _counted(
    given: Side, emitted: Side, pairs: np.ndarray, ones: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all links as pairs of words, all jumps, and all tokens as words with their fertility."""
    lengths = np.diff(given.starts)
    places = given.starts[pairs] + ones
    lexicon = np.stack((given.tokens[places], emitted.tokens[emitted.starts[pairs] + others]), axis=1)
    # The first jump of a pair begins before its tokens, and the last ends after them.
    linked = np.unique(pairs)
    owners = np.concatenate((pairs, linked))
    order = np.argsort(owners, kind="stable")
    at = np.concatenate((ones, lengths[linked]))[order]
    before = np.where(np.diff(owners[order], prepend=-1) != 0, -1, np.roll(at, 1))
    fertilities = np.minimum(np.bincount(places, minlength=len(given.tokens)), MAX_FERTILITY)
    has_both = np.repeat(np.diff(emitted.starts) > 0, lengths)
    return lexicon, at - before, np.stack((given.tokens, fertilities), axis=1)[has_both]


def _rows(numbers: np.ndarray, counts: np.ndarray) -> Iterator[str]:
    for row, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        yield " ".join((*map(str, row), f"{count:g}"))
