import numpy as np

from preorder.data import Sentence
from preorder.learning.vocabulary import UNKNOWN, Vocabulary

SENTENCES = [Sentence(("b", "a", "b"), ("B", "A", "B")), Sentence(("b", "a", "c"), ("B", "A", "C"))]


def test_known_are_those_seen_twice_the_most_frequent_first():
    vocabulary, counts = Vocabulary.of(SENTENCES, ["words", "tags"])
    assert vocabulary.known == {"words": ("b", "a"), "tags": ("B", "A")}
    assert vocabulary.rows == {"words": 3, "tags": 3}
    assert counts.tolist() == [0, 3, 2]


def test_rows_of_tokens():
    vocabulary = Vocabulary({"words": ["b", "a"], "tags": ["A"]})
    rows = vocabulary([*SENTENCES, Sentence((), ())])
    np.testing.assert_array_equal(rows, [[1, 2, 1, 1, 2, UNKNOWN], [UNKNOWN, 1, *[UNKNOWN] * 2, 1, UNKNOWN]])
    assert vocabulary([]).shape == (2, 0)
    assert vocabulary.frequencies(SENTENCES).tolist() == [0, 3, 2]  # c is unknown
