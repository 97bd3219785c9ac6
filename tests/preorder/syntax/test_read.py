import gzip

import pytest

from preorder.data.errors import DataError
from preorder.data.types import Sentence
from preorder.syntax.read import add_trees, read_trees


def row(number, form, head, relation="dep", upos="X", xpos="_"):
    return "\t".join((str(number), form, "_", upos, xpos, "_", str(head), relation, "_", "_"))


FRENCH = [
    "# text = Je vais du parc .",
    row(1, "Je", 2, "nsubj", "PRON"),
    row(2, "vais", 0, "root", "VERB"),
    "3-4\tdu" + "\t_" * 8,
    row(3, "de", 5, "case", "ADP"),
    row(4, "le", 5, "det", "DET"),
    row(5, "parc", 2, "obl", "NOUN"),
    "5.1\tparti" + "\t_" * 8,
    row(6, ".", 2, "punct", "_", "."),
    "",
]


@pytest.fixture
def file(tmp_path):
    def write(*lines):
        path = tmp_path / "trees"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(path)

    return write


def added(path, *lines, tags=None):
    return list(add_trees("source", [Sentence(tuple(line.split()), tags) for line in lines], path))


def test_words_of_conllu(file):
    (sentence,) = added(file(*FRENCH), "Je vais de le parc .")
    assert sentence.tags == ("PRON", "VERB", "ADP", "DET", "NOUN", ".")
    assert sentence.dependency.heads == (1, -1, 4, 4, 1, 1)
    assert sentence.dependency.relations == ("nsubj", "root", "case", "det", "obl", "punct")


def test_tokens_of_conllu(file):
    (sentence,) = added(file(*FRENCH), "Je vais du parc .")
    assert sentence.tags == ("PRON", "VERB", "ADP", "NOUN", ".")
    assert sentence.dependency.heads == (1, -1, 3, 1, 1)
    assert sentence.dependency.relations == ("nsubj", "root", "case", "obl", "punct")


def test_the_word_nearest_to_the_root_speaks_for_its_token(file):
    """The first word hangs below the third, which hangs below the second."""
    lines = ["1-2\tab" + "\t_" * 8, row(1, "a", 3), row(2, "b", 0, "root", "V"), row(3, "c", 2)]
    (sentence,) = added(file(*lines), "ab c")
    assert sentence.dependency.heads == (-1, 0)
    assert sentence.tags == ("V", "X")


def test_sentences_of_conllu_with_empty_ones_and_no_last_blank_line(file):
    one, two = [row(1, "a", 0)], [row(1, "b", 2), row(2, "c", 0)]
    path = file("# first", *one, "", "# nothing", "", "", *two)
    sentences = added(path, "a", "", "", "b c")
    assert [s.dependency.heads for s in sentences] == [(-1,), (), (), (1, -1)]
    assert [number for number, _ in read_trees(path)] == [1, 4, 6, 7]


def test_bracketings_with_empty_lines(file):
    path = file("", "(S (A a) (B -LRB-))", "", "(S (A a))")
    sentences = added(path, "", "a (", "", "a")
    assert [s.tags for s in sentences] == [(), ("A", "B"), (), ("A",)]
    assert [len(s.constituency) for s in sentences] == [0, 2, 0, 1]
    assert [number for number, _ in read_trees(path)] == [1, 2, 3, 4]


def test_nothing_but_empty_lines(file):
    assert [s.words for s in added(file("", ""), "", "")] == [(), ()]
    assert added(file()) == []


@pytest.mark.parametrize(
    "text", ["( 1/2 * ' \" it", "-LRB- 1\\/2 \\* ` `` it", "( 1/2 * ’ “ It", "-lrb- 1/2 * &apos; &quot; it"]
)
@pytest.mark.parametrize("tree", ["-LRB- 1\\/2 \\* ' '' it", '-LRB- 1/2 * ` " IT'])
def test_spellings_of_other_tools_are_the_same_tokens(file, text, tree):
    """The sentence keeps its own."""
    (sentence,) = added(file(f"(S {' '.join(f'(A {leaf})' for leaf in tree.split())})"), text)
    assert sentence.words == tuple(text.split())
    assert sentence.tags == ("A",) * 6


def test_given_tags_stay(file):
    (sentence,) = added(file("(S (A a))"), "a", tags=("Z",))
    assert sentence.tags == ("Z",)


def test_compressed(tmp_path):
    path = tmp_path / "trees.gz"
    path.write_bytes(gzip.compress(b"(S (A a))\n"))
    assert added(str(path), "a")[0].tags == ("A",)


@pytest.mark.parametrize(
    ("lines", "sources", "reason"),
    [
        (["(S (A a))", "(S (A b))"], ["a", "x"], "trees:2: token 1 of the tree is 'b', of the sentence 'x'"),
        (["(S (A a))", "(S (A b))"], ["a", "b c"], "trees:2: the tree has 1 tokens, the sentence 2"),
        (["(S (A a))"], ["a", "b"], "trees:2: the file ends after 1 lines"),
        (["(S (A a))", "(S (A b)"], ["a", "b"], "trees:2: 1 brackets are not closed"),
        (["# x", "1\ta"], ["a"], "trees:2: 2 tab-separated fields where CoNLL-U has 10"),
        ([row(2, "a", 0)], ["a"], "trees:1: word number '2' where 1 is expected"),
        ([row("x", "a", 0)], ["a"], "trees:1: word number 'x' where 1 is expected"),
        ([row(1, "a", "_")], ["a"], "trees:1: head '_' is no number"),
        (["# x", row(1, "a", 7)], ["a"], "trees:1: head 7 of token 1 is out of range"),
        ([row(1, "a", 0), "", row(1, "a", 1)], ["a", "a"], "trees:3: the heads above token 1 form a cycle"),
        ([row(1, "a", 0), "2-3\tb" + "\t_" * 8], ["a b"], "trees:1: token 'b' has words beyond"),
        ([row(1, "a", 0), "1-1\tb" + "\t_" * 8], ["a b"], "trees:2: token 1-1 does not stand before"),
        ([row(1, "a", 0), "", row(1, "b", 0)], ["a", "x"], "trees:3: token 1 of the tree is 'b'"),
    ],
)
def test_bad_files(file, lines, sources, reason):
    with pytest.raises(DataError, match=reason):
        added(file(*lines), *sources)
