import numpy as np

from preorder.data import Sentence
from preorder.learning import encode
from preorder.learning.encode import Encoder
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
