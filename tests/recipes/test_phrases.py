"""Phrases of NPMT's translations: the paper's example (Huang et al. 2018, Table 2), and what cannot be."""

import pytest

from preorder.data.formats import parse_alignment
from preorder.errors import DataError
from preorder_recipes.phrases import KINDS, phrases_of

SOURCE = "danke , aber das beste kommt noch .".split()
TARGET = "thank you , but the best thing is still coming .".split()
LINKS = "0-0 0-1 1-2 2-3 4-4 4-5 4-6 5-7 5-8 5-9 7-10"


def test_the_papers_example():
    found = list(phrases_of(SOURCE, TARGET, parse_alignment(LINKS)))
    texts = [(" ".join(source), " ".join(target)) for source, target in found]
    assert texts == [
        ("danke", "thank you"),
        (",", ","),
        ("aber", "but"),
        ("das beste", "the best thing"),
        ("kommt", "is still coming"),
        ("noch .", "."),
    ]
    kinds = [[name for name, is_kind in KINDS.items() if is_kind(*phrase)] for phrase in found]
    one = ["one → one"]
    many = ["many → many", "many → many without <unk>"]
    assert kinds == [["one → many"], one, one, many, ["one → many"], ["many → one"]]


def test_what_emits_nothing_in_the_end_is_in_no_phrase():
    assert len(list(phrases_of(SOURCE, TARGET[:4], parse_alignment("0-0 0-1 1-2 2-3")))) == 3
    assert not list(phrases_of(SOURCE, [], parse_alignment("")))


@pytest.mark.parametrize("links", ["0-0", "0-0 1-0 1-1", "0-0 1-1 2-2"])
def test_alignments_that_are_not_of_such_a_model(links):
    with pytest.raises(DataError, match="not one link for each word of the translation"):
        list(phrases_of(["a", "b", "c"], ["A", "B"], parse_alignment(links)))
