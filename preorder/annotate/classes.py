"""Word classes: words with similar neighbours share a class.

The vector of a word is made of counts of its left and right neighbours (positive pointwise mutual
information, reduced by a truncated SVD); k-means groups the vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

import numpy as np

from preorder.data.sentence import Sentence
from preorder.errors import DataError, shown
from preorder.io import files
from preorder.progress import LOGGER

UNKNOWN_CLASS = "0"  # class of unknown words
DEFAULT_CLASSES = 256
DIMENSIONS = 64
CONTEXT_WORDS = 2000  # most frequent words, which are counted as neighbours
MAX_ITERATIONS = 30


@dataclass(frozen=True)
class WordClasses:
    """The class of each known word; other words have ``UNKNOWN_CLASS``."""

    of_word: dict[str, str]

    def __post_init__(self) -> None:
        for name in set(self.of_word.values()):
            if name.split() != [name]:
                raise DataError(f"class {shown(name)} is no string without white space")
        for word in self.of_word:
            if "\n" in word:
                raise DataError(f"word {shown(word)} has a line break in it")

    def of(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the class of each word."""
        return tuple(map(self.of_word.get, words, repeat(UNKNOWN_CLASS)))

    def add_to(self, sentence: Sentence) -> Sentence:
        """Return a sentence with the classes of its words."""
        return replace(sentence, classes=self.of(sentence.words))

    def lines(self) -> Iterator[str]:
        """Yield lines of ``word<TAB>class``, for :meth:`read`."""
        return (f"{word}\t{name}" for word, name in self.of_word.items())

    @classmethod
    def read(cls, path: str) -> WordClasses:
        """Read a file of ``word<TAB>class`` lines; the last tab separates."""
        return cls(dict(files.not_empty(path, files.read_parsed(path, _parse_line))))

    @classmethod
    def parse(cls, path: str, content: bytes) -> WordClasses:
        """Parse the content of such a file."""
        return cls(dict(files.parse_lines(path, files.decoded_lines(content, path), _parse_line)))


def _parse_line(line: str) -> tuple[str, str]:
    word, tab, name = line.rpartition("\t")
    if not tab or len(name.split()) != 1:
        raise DataError("not a word, a tab and a class")
    return word, name.strip()


def word_classes(wanted: int | WordClasses, sentences: Iterable[Sentence], seed: int) -> WordClasses | None:
    """Return the given word classes, or learn so many from sentences; 0: None."""
    if not isinstance(wanted, int) or not wanted:
        return wanted or None
    words = [sentence.words for sentence in sentences]
    LOGGER.info(f"learning {wanted:,} word classes from {len(words):,} lines")
    return learn_classes(words, wanted, seed)


def learn_classes(sentences: Sequence[Sequence[str]], max_classes: int, seed: int) -> WordClasses:
    """Group the words of sentences into at most ``max_classes`` classes; equal seeds give equal classes."""
    from sklearn.cluster import KMeans

    counts = Counter(word for words in sentences for word in words)
    vocabulary = sorted(counts, key=lambda word: (-counts[word], word))
    if len(vocabulary) <= max_classes:
        return WordClasses({word: str(i + 1) for i, word in enumerate(vocabulary)})
    vectors = _vectors(sentences, vocabulary, seed)
    kmeans = KMeans(max_classes, n_init=1, max_iter=MAX_ITERATIONS, random_state=seed, algorithm="lloyd")
    labels = kmeans.fit_predict(vectors, sample_weight=np.sqrt([counts[word] for word in vocabulary]))
    return WordClasses({word: str(label + 1) for word, label in zip(vocabulary, labels, strict=True)})


def _vectors(sentences: Sequence[Sequence[str]], vocabulary: Sequence[str], seed: int) -> np.ndarray:
    """Return a unit vector for each word, float64 ``(words, at most DIMENSIONS)``."""
    from scipy import sparse
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    index = {word: i for i, word in enumerate(vocabulary)}
    border = len(vocabulary)  # index of the border between sentences, which is a neighbour too
    numbers = (number for words in sentences for number in (*map(index.get, words), border))
    text = np.fromiter(chain([border], numbers), dtype=np.int64)
    sides = [_counts(text[1:], text[:-1], border), _counts(text[:-1], text[1:], border)]
    matrix = _positive_pmi(sparse.hstack(sides, format="csr"))
    dimensions = min(DIMENSIONS, *(size - 1 for size in matrix.shape))
    return normalize(TruncatedSVD(dimensions, random_state=seed).fit_transform(matrix))


def _counts(words: np.ndarray, neighbours: np.ndarray, border: int) -> Any:
    from scipy import sparse

    contexts = min(CONTEXT_WORDS, border)
    is_border = neighbours == border
    columns = np.where(is_border, contexts, neighbours)
    kept = (words != border) & (is_border | (neighbours < contexts))
    ones = np.ones(int(kept.sum()), dtype=np.float64)
    return sparse.csr_matrix((ones, (words[kept], columns[kept])), shape=(border, contexts + 1))


def _positive_pmi(counts: Any) -> Any:
    entries = counts.tocoo()
    rows, columns = (np.asarray(counts.sum(axis=axis)).ravel() for axis in (1, 0))
    information = np.log(entries.data * counts.sum() / (rows[entries.row] * columns[entries.col]))
    entries.data = np.maximum(information, 0)
    return entries.tocsr()
