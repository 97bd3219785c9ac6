"""A bitext has an alignment for each sentence."""

import pytest

from preorder.data.alignment import Alignment
from preorder.data.sentence import Bitext, Sentence
from preorder.errors import DataError

SENTENCES = [Sentence((word,)) for word in "abc"]
ALIGNMENTS = [Alignment(frozenset({(0, j)})) for j in range(3)]


def test_chosen_lines():
    assert Bitext(SENTENCES, ALIGNMENTS).take([2, 0]) == Bitext(SENTENCES[2::-2], ALIGNMENTS[2::-2])


def test_an_alignment_for_each_sentence():
    with pytest.raises(DataError, match="2 alignments for 3 sentences"):
        Bitext(SENTENCES, ALIGNMENTS[:2])
