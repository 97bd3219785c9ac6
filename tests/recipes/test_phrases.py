"""Phrases of NPMT's translations: the paper's example (Huang et al. 2018, Table 2), and what cannot be."""

import pytest

from preorder.data.formats import parse_alignment
from preorder.errors import DataError
from preorder_recipes.phrases import KINDS, main, phrases_of
from tests.support.texts import write

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


@pytest.mark.parametrize(
    ("source", "target", "kinds"),
    [
        ("a b", "x <unk>", ["many → many"]),
        ("a b c", "x y z", ["many → many", "many → many without <unk>", "3 → 3"]),
        ("a b", "x y z", ["many → many", "many → many without <unk>"]),
    ],
)
def test_kinds(source, target, kinds):
    phrase = source.split(), target.split()
    assert [name for name, is_kind in KINDS.items() if is_kind(*phrase)] == kinds


def test_the_command(tmp_path, capsys):
    texts = {"src": " ".join(SOURCE), "hyp": " ".join(TARGET), "align": LINKS}
    line = [part for name, text in texts.items() for part in (f"--{name}", write(tmp_path / name, text))]
    assert main(line) == 0
    printed = capsys.readouterr().out
    assert "das beste → the best thing" in printed
    assert "6 phrases, 1.83 words of the translation in each" in printed


@pytest.mark.parametrize(
    ("source", "links", "message"),
    [
        ("a", "0-0 1-1", "1-1"),
        *(("a b c", links, "not one link for each word") for links in ("0-0", "0-0 1-0 1-1", "0-0 1-1 2-2")),
    ],
)
def test_alignments_that_are_not_of_such_a_model(source, links, message):
    with pytest.raises(DataError, match=message):
        list(phrases_of(source.split(), ["A", "B"], parse_alignment(links)))
