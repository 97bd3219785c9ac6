import numpy as np

from preorder.data import Sentence
from preorder.learning import encode
from preorder.learning.encode import UNKNOWN_ROW, Encoder, Vocabulary
from tests.support.by_hash import hash_of


def test_layout_and_borders():
    sentences = [Sentence(("a", "b"), ("A", "B")), Sentence((), ()), Sentence(("b",), ("B",))]
    batch = Encoder(["words", "tags"])(sentences)
    assert batch.starts.tolist() == [1, 4, 5]
    assert batch.lengths.tolist() == [2, 0, 1]
    border, a, b = batch.tokens[0, :3]
    assert batch.tokens[0].tolist() == [border, a, b, border, border, b, border]
    assert len({*batch.tokens[0].tolist(), *batch.tokens[1].tolist()}) == 6  # a layer is not another


def test_hashes_are_the_same_in_every_process():
    strings = ["a", "", "für", "語𝄞" * 300]
    found = Encoder(["words"])([Sentence(tuple(strings))]).tokens[0, 1:-1]
    assert found.tolist() == [hash_of("words", string) for string in strings]
    assert Encoder(["tags"])([Sentence(("a",), ("a",))]).tokens[0, 1] == hash_of("tags", "a")


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(encode, "MOST_CACHED", 10)
    encoder = Encoder(["words"])
    sentences = [Sentence((str(i),)) for i in range(100)]
    apart = np.concatenate([encoder([s]).tokens[0, 1:2] for s in sentences])
    together = Encoder(["words"])(sentences).tokens[0, 1::2]
    np.testing.assert_array_equal(apart, together)
    assert all(len(hashes) <= 12 for hashes in encoder._hashes.values())


SENTENCES = [Sentence(("b", "a", "b"), ("B", "A", "B")), Sentence(("b", "a", "c"), ("B", "A", "C"))]


def test_known_are_those_seen_twice_the_most_frequent_first():
    vocabulary = Vocabulary.of(SENTENCES, ["words", "tags"])
    assert vocabulary.known == {"words": ("b", "a"), "tags": ("B", "A")}
    assert vocabulary.rows == {"words": 3, "tags": 3}
    assert encode.frequent("babac") == ("a", "b")  # equally frequent ones by name


def test_rows_of_tokens():
    vocabulary = Vocabulary({"words": ["b", "a"], "tags": ["A"]})
    rows = vocabulary([*SENTENCES, Sentence((), ())])
    np.testing.assert_array_equal(
        rows, [[1, 2, 1, 1, 2, UNKNOWN_ROW], [UNKNOWN_ROW, 1, *[UNKNOWN_ROW] * 2, 1, UNKNOWN_ROW]]
    )
    assert vocabulary([]).shape == (2, 0)
