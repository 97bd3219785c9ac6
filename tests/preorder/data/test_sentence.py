"""Sentences: layers of one length, and shared tokens."""

import pytest

from preorder.data.sentence import Sentence
from preorder.data.trees import DependencyTree
from preorder.errors import DataError


def test_layers_have_the_length_of_the_words():
    with pytest.raises(DataError, match="1 POS tags for 2 words"):
        Sentence(("a", "b"), tags=("X",))
    with pytest.raises(DataError, match="3 word classes for 2 words"):
        Sentence(("a", "b"), classes=("1", "2", "3"))


def test_interned_sentences_share_equal_tokens():
    sentences = [Sentence(tuple("ab cd ab".split()), tuple("X Y X".split())) for _ in range(2)]
    assert sentences[0].words[0] is not sentences[1].words[0]
    one, other = (sentence.interned() for sentence in sentences)
    assert one == other == sentences[0]
    assert one.words[0] is one.words[2] is other.words[0]
    assert one.tags[1] is other.tags[1]
    assert one.classes is None


def test_interned_sentences_keep_all_layers():
    tree = DependencyTree((-1, 0), ("root", "obj"))
    sentence = Sentence(("a", "b"), ("X", "Y"), ("1", "2"), tree)
    assert sentence.interned() == sentence
