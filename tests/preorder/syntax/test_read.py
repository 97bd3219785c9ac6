"""Bracketings beside what nltk reads, and files of trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from preorder.data import Sentence
from preorder.data.formats import parse_tokens
from preorder.data.trees import DependencyTree
from preorder.errors import DataError
from preorder.syntax.read import (
    TreeFile,
    add_trees,
    known_tagset,
    parse_bracketing,
    parse_conllu,
    with_bracketing,
)


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


def added(path, *lines, tags=None, **options):
    sentences = [Sentence(parse_tokens(line), tags) for line in lines]
    return list(add_trees("source", sentences, TreeFile(path, **options)))


def test_words_and_tokens_of_conllu(file):
    (words,) = added(file(*FRENCH), "Je vais de le parc .")
    assert words.tags == ("PRON", "VERB", "ADP", "DET", "NOUN", ".")
    assert words.tree == DependencyTree((1, -1, 4, 4, 1, 1), ("nsubj", "root", "case", "det", "obl", "punct"))
    (tokens,) = added(file(*FRENCH), "Je vais du parc .")
    assert tokens.tags == ("PRON", "VERB", "ADP", "NOUN", ".")
    assert tokens.tree == DependencyTree((1, -1, 3, 1, 1), ("nsubj", "root", "case", "obl", "punct"))
    ((_, readings),) = TreeFile(file(*FRENCH))
    assert [len(reading) for reading in readings] == [5, 6]  # that of the tokens first


DEEP = "(ROOT\n  (S\n    (NP (PRP I))\n    (VP (VBP see))))"  # as CoreNLP and nltk write it


@pytest.mark.parametrize("separator", ["", "\n", "\n\n"])
@pytest.mark.parametrize("first", ["(())", "(NN a)", DEEP])
def test_trees_over_several_lines(file, first, separator):
    text = {"(())": "x y", "(NN a)": "a", DEEP: "I see"}[first]
    sentences = added(file(first + separator, DEEP + separator, "(NN b)"), text, "I see", "b")
    assert [len(s.tree.constituents) for s in sentences] == [4 if first == DEEP else 0, 4, 0]


def test_a_tree_behind_blanks_and_indented_by_tabs(file):
    sentences = added(file(" " + DEEP.replace("\n", "\n\t"), "(NN b)"), "I see", "b")
    assert [len(s.tree.constituents) for s in sentences] == [4, 0]


CONLLU = "\n".join([row(1, "see", 0, "root"), row(2, "fish", 1, "obj")])
BRACKETS = "(S (X see) (NP (X fish)))"
UNPARSED = [
    *((BRACKETS, nothing) for nothing in ("(())", "( )", "(ROOT )", "(ROOT (S))", "")),
    (CONLLU + "\n", "# text = a b\n"),
    (CONLLU + "\n", "\n".join([row(1, "a", "_"), row(2, "b", "_")]) + "\n"),
]


@pytest.mark.parametrize(("parsed", "nothing"), UNPARSED)
@pytest.mark.parametrize("places", ["first", "middle", "last", "several", "all"])
def test_sentences_without_a_parse(file, caplog, parsed, nothing, places):
    """They have a flat tree, and are counted once."""
    texts = {
        "first": ["a b", "see fish", ""],
        "middle": ["see fish", "a b", "see fish"],
        "last": ["see fish", "", "a b"],
        "several": ["a b", "a b", "see fish", "a b"],
        "all": ["a b", "a b"],
    }[places]
    given = {"see fish": parsed, "a b": nothing, "": "# text =\n" if parsed.startswith("1") else ""}
    sentences = added(file(*(given[text] for text in texts)), *texts)
    assert [s.words for s in sentences] == [tuple(text.split()) for text in texts]
    assert [s.tree.is_flat for s in sentences] == [text != "see fish" for text in texts]
    assert all(s.tags == ("X",) * len(s) for s in sentences)
    (record,) = caplog.records
    first = texts.index("a b") + 1
    assert f"source:{first}: no tree, as of {texts.count('a b')} sentences in all" in record.getMessage()


@pytest.mark.parametrize("extra", range(5))
def test_blank_lines_of_conllu_beyond_one_a_sentence(file, caplog, extra):
    """Before, between and after the sentences; an empty line of the text has one, none or more."""
    one, two = [row(1, "a", 0)], [row(1, "b", 2), row(2, "c", 0)]
    texts = [["a", "b c", "a"], ["a", "", "b c", "a"], ["a", "b c", "", "", "a"], ["", "a", "b c", "a", ""]]
    for text in texts:
        blank = [""] * extra
        sentences = added(file(*blank, *one, "", *blank, *two, "", *blank, *one, "", *blank), *text)
        assert [len(s.tree) for s in sentences] == [len(line.split()) for line in text]
    assert not caplog.records


AB = ["1-2\tab" + "\t_" * 8, row(1, "a", 3), row(2, "b", 0, "root", "V"), row(3, "c", 2)]
DU = ["1-2\tdu" + "\t_" * 8, row(1, "de", 3), row(2, "le", 3), row(3, "26  000", 0)]
YEN = [row(1, "26 000", 2, "nummod", "NUM"), row(2, "yen", 0, "root", "NOUN")]
COLUMNS = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"


@pytest.mark.parametrize(
    ("lines", "text", "tags", "heads"),
    [
        (AB, "ab c", "V X", (-1, 0)),  # of the words of a token, that nearest to the root counts
        (YEN, "26\xa0000 yen", "NUM NOUN", (1, -1)),  # a form with a space is one token
        (YEN, "26_000 yen", "NUM NOUN", (1, -1)),
        (YEN, "26 000 yen", "NUM NUM NOUN", (2, 0, -1)),  # or two
        (DU, "du 26 000", "X X X", (1, -1, 1)),  # also beside a token of several words
        (DU, "de le 26 000", "X X X X", (2, 2, -1, 2)),
        ([COLUMNS, row(1, "a", 0)], "a", "X", (-1,)),
    ],
)
def test_tokens_of_conllu(file, lines, text, tags, heads):
    (sentence,) = added(file(*lines), text)
    assert sentence.tags == tuple(tags.split())
    assert sentence.tree.heads == heads
    assert ("flat" in sentence.tree.relations) == ("26 000" in text)


@pytest.mark.parametrize(
    ("asked", "first", "tags"),
    [
        (None, "# newdoc", ("U", "Y", "Z")),
        ("upos", "# tagset = xpos", ("U", "Y", "Z")),
        ("xpos", "# tagset = upos", ("X", "Y", "Z")),
        (None, "# tagset = xpos", ("X", "Y", "Z")),
        (None, "# tagset = upos", ("U", "Y", "Z")),
    ],
)
def test_tagsets_of_conllu(file, asked, first, tags):
    """An empty column is filled by the other."""
    rows = row(1, "a", 0, "root", "U", "X"), row(2, "b", 1, "dep", "Y", "_"), row(3, "c", 1, "dep", "_", "Z")
    trees = TreeFile(file(first, *rows), asked)
    assert next(iter(trees))[1][0].tags == tags
    assert trees.tagset == (asked or first[11:] or "upos")


def test_given_tags_stay(file):
    assert added(file("(S (A a))"), "a", tags=("Z",))[0].tags == ("Z",)


NO_TOKENS = "trees:1: the tree has labels, but no tokens"


@pytest.mark.parametrize(
    ("lines", "sources", "reason"),
    [
        (["(S (A a))", "(S (A b))"], ["a", "x"], "trees:2: token 1 of the tree is 'b', of the sentence 'x'"),
        (
            ["(S (A a))", "(S (A b))"],
            ["a", "b c"],
            "trees:2: the tree has 1 tokens, the sentence 2; a line is one",
        ),
        (["(S (A a))"], ["a", "b"], "trees:2: the file ends after 1 line"),
        (["# x", "1\ta"], ["a"], "trees:2: 2 tab-separated fields where CoNLL-U has 10"),
        (["# global.columns = ID FORM", "1\ta"], ["a"], "trees:1: CoNLL-U Plus: its columns"),
        ([row(2, "a", 0)], ["a"], "trees:1: word number '2' where 1 is expected"),
        ([row("x", "a", 0)], ["a"], "trees:1: word number 'x' where 1 is expected"),
        (["a_DT"], ["a"], "trees: neither bracketings, .* nor CoNLL-U"),
        (["", "[S [DT a]]"], ["a"], "trees: neither bracketings, .* nor CoNLL-U"),
        ([row(1, "a", "x")], ["a"], "trees:1: head 'x' is no number"),
        (["(S", " (A a)", "(S (A b))"], ["a", "b"], "trees:1: 1 brackets are not closed"),
        (["(S", "", " (A a))"], ["a"], "trees:1: 1 brackets are not closed"),
        (["(S (A a))", "(S (A b))"], ["a"], "source:2: the file ends after 1 line, .*trees goes on"),
        (["(S (A a))", "", "(S (A c))"], ["a", "b", "d"], "trees:3: token 1 of the tree is 'c'"),
        ([row(1, "a", 0), "2-3\tb" + "\t_" * 8], ["a b"], "trees:1: token 'b' has words beyond"),
        ([row(1, "a", 0), "1-1\tb" + "\t_" * 8], ["a b"], "trees:2: token 1-1 does not stand before"),
        ([row(1, "a", 0), "2-1\tb" + "\t_" * 8, row(2, "b", 1)], ["a b"], "trees:2: token 2-1 does not"),
        (
            ["1-2\tab" + "\t_" * 8, row(1, "a", 0), "2-3\tbc" + "\t_" * 8, row(2, "b", 1), row(3, "c", 1)],
            ["ab c"],
            "trees:3: token 2-3 does not stand before its words",
        ),
        (
            ["", "", "(S (A a))", "(S (A b))"],  # the blank lines say nothing of what follows the first tree
            ["a", "x", "b"],
            "trees:4: token 1 of the tree is 'b', of the sentence 'x'",
        ),
        (["(S (NP ()) (VP ()))", "(S (A a))"], ["b", "a"], NO_TOKENS),
        (["(ROOT (S (NP (NN) (NN)) (VP)))", "(S (A a))"], ["b", "a"], NO_TOKENS),
        (["(S (NP (NN)) (VP (VB)))"], ["fish swim"], "token 1 of the tree is 'NN', of the sentence 'fish'"),
        (["(S (NP *) (A b) (A c))"], ["c"], "2 tokens, the sentence 1; token 1 of the tree is 'b', of the"),
        ([row(1, "a", 0, "root", "P Q", "P Q")], ["a"], "trees:1: tag 'P Q' is empty or has a space"),
        ([row(1, "a", 0, "root", "", "")], ["a"], "trees:1: tag '' is empty or has a space"),
    ],
)
def test_bad_files(file, lines, sources, reason):
    with pytest.raises(DataError, match=reason):
        added(file(*lines), *sources)


BROKEN = [
    ([row(1, "a", "_"), row(2, "b", 1)], "a b", "1 of 2 words have no head"),
    ([row(1, "a", ""), row(2, "b", 1)], "a b", "1 of 2 words have no head"),
    (["# x", row(1, "a", 7), row(2, "b", 0)], "a b", "head 7 of token 1 is out of range"),
    ([row(1, "a b", 7)], "a_b", "head 7 of token 1 is out of range"),
    ([row(1, "a", 2), row(2, "b", 1)], "a b", "the heads above token 1 form a cycle"),
    (["1-2\tab" + "\t_" * 8, row(1, "a", 1), row(2, "b", 1)], "ab", "the heads above token 1 form a cycle"),
]


@pytest.mark.parametrize(("lines", "text", "reason"), BROKEN)
def test_broken_sentences_of_conllu_have_no_tree(file, caplog, lines, text, reason):
    """They keep their tags; one warning names the first."""
    good = [*CONLLU.split("\n"), ""]
    path = file(*good, *lines, "", *good, *lines, "")
    *_, last = added(path, "see fish", text, "see fish", text)
    assert last.tree.is_flat
    assert set(last.tags) == {"X"}
    (record,) = caplog.records
    assert f"{path}:4: {reason}, the first of 2 broken trees" in record.getMessage()
    assert ("no tree, as of 2 sentences in all" in record.getMessage()) == (text == "a b")
    with pytest.raises(DataError, match=f"trees:4: {reason}$"):
        added(path, "see fish", text, "see fish", text, strict=True)


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ("(S (A b) (A c)", "1 brackets are not closed"),
        ("(S (A b) (A c)))", "')' outside all brackets"),
        ("(S (A b c))", "token 'c' has no bracket of its own"),
        ("(S (A b)) (S (A c))", "more than one tree"),
        ("(S (NP) (VP))", "the tree has labels, but no tokens"),
    ],
)
def test_broken_bracketings_among_others_have_no_tree(file, caplog, tree, reason):
    good = "(S (A a) (B (C b) (D c)))"
    path = file(good, tree, good, tree)
    found = added(path, "a b c", "b c", "a b c", "b c")
    assert [sentence.tree.is_flat for sentence in found] == [False, True] * 2
    assert [sentence.tags for sentence in found] == [("A", "C", "D"), ("X", "X")] * 2
    (record,) = caplog.records
    assert f"trees:2: {reason}, the first of 2 broken trees" in record.getMessage()
    for lines, options in ((["a b c", "b c"], {"strict": True}), (["b c"], {})):
        with pytest.raises(DataError) as raised:
            added(file(*[good, tree][-len(lines) :]), *lines, **options)
        assert raised.value.reason == reason


def test_strict_refuses_a_sentence_without_a_tree(file):
    assert len(added(file("(S (A a))", "(())"), "a", "b", strict=True)) == 2  # of one token there is no other
    with pytest.raises(DataError, match=r"source:2: the sentence has no tree \(--strict\)"):
        added(file("(S (A a))", "(())"), "a", "b c", strict=True)


def test_of_two_tagsets_the_one_that_is_known_is_read(file):
    lines = [row(1, "see", 0, "root", "VERB", "VB"), row(2, "it", 1, "obj", "PRON", "PRP"), ""]
    assert known_tagset(file(*lines), {"VB", "NN", "PRP"}.__contains__) == "xpos"
    assert known_tagset(file(*lines), {"VERB", "NOUN"}.__contains__) == "upos"
    assert known_tagset(file(*lines), {"VERB", "VB"}.__contains__) is None
    assert known_tagset(file("# tagset = upos", *lines), {"VB"}.__contains__) is None
    assert known_tagset(file("(S (VB see))"), {"VB"}.__contains__) is None


def test_what_stanza_says_is_a_tree():
    with pytest.raises(DataError, match="1: the heads above token 1 form a cycle"):
        list(parse_conllu([(1, row(1, "a", 1))]))


def spans(tree):
    """Return what nltk has read as words, tags and phrases, parents first."""
    phrases = [(one.label(), one.leaves()) for one in tree.subtrees(lambda one: one.height() > 2)]
    return tree.leaves(), [tag for _, tag in tree.pos()], phrases


def parts(line):
    sentence = parse_bracketing(line)
    words, phrases = list(sentence.words), sentence.tree.constituents
    return words, list(sentence.tags), [(label, words[begin:end]) for begin, end, label in phrases]


TOKENS = st.text("ab-'$.,：　\xa0", min_size=1, max_size=4) | st.sampled_from(["-LRB-", "x-RRB-", "-RSB-"])
LABELS = st.sampled_from(["NP", "VP-SBJ", "S", "-LRB-", "''"])
LEAVES = st.builds(lambda label, token: Tree(label, [token]), LABELS, TOKENS)
TREES = st.recursive(LEAVES, lambda t: st.builds(Tree, LABELS, st.lists(t, min_size=1, max_size=4)))


@given(TREES)
def test_reads_what_nltk_reads(tree):
    tree = Tree("ROOT", [tree])
    line = tree.pformat(margin=10**9)
    # nltk splits at any white space, we at spaces and tabs alone
    again = Tree.fromstring(line, leaf_pattern=r"[^ ()]+", node_pattern=r"[^ ()]+")
    assert parts(line) == spans(again) == spans(tree)


def test_moved_material_is_left_out():
    words = ["to", "go"]
    found = parts("( (S (NP-SBJ (-NONE- *)) (VP (TO to) (NP (-NONE- *T*-1)) (VB go))))")
    assert found == (words, ["TO", "VB"], [("", words), ("S", words), ("VP", words)])


KEYAKI = "( (IP-MAT (NP *speaker*) (PP-OB1 (NP (N 本)) (P を)) (VB 読ん) (AXD だ) (PU 。)) (ID 1_x;JP))"


@pytest.mark.parametrize(
    ("tree", "text", "tags", "phrases"),
    [
        ("(S (A -LRB-) (B 1\\/2) (C '') (D IT))", "( 1/2 &quot; it", "A B C D", "0-4 S"),  # its own spelling
        # Silent leaves are left out, unless the text has them.
        (KEYAKI, "本 を 読ん だ 。", "N P VB AXD PU", "0-5 , 0-5 IP-MAT, 0-2 PP-OB1, 0-1 NP"),
        ("(S (NP *) (NN 2) (SYM *) (NP (X *T*-1)) (NN 0))", "2 * 0", "NN SYM NN", "0-3 S"),
        ("(S (SYM *))", "*", "SYM", "0-1 S"),
        ("(S (C 0) (ID x))", "0 x", "C ID", "0-2 S"),
        # Leaves may have brackets of their own.
        ("(S (N (*-1)) (NP (NN (a)) (ADV ( b))) (Z (.)))", "a b .", "NN ADV Z", "0-3 S, 0-2 NP"),
    ],
)
def test_words_tags_and_phrases_of_bracketings(file, tree, text, tags, phrases):
    (sentence,) = added(file(tree), text)
    assert sentence.words == tuple(text.split())
    assert sentence.tags == tuple(tags.split())
    assert ", ".join(f"{b}-{e} {category}" for b, e, category in sentence.tree.constituents) == phrases


SILENT = ["*", "*-1", "*T*", "*T*-2", "*speaker*", "0"]


@given(st.lists(st.tuples(st.sampled_from([*SILENT, "a", "b", "\\*"]), st.booleans()), min_size=1))
def test_any_silent_leaves_may_be_missing(leaves):
    """Whichever of them the text has, the tags are those of leaves that are its words, in this order."""
    line = "(S " + " ".join(f"(T{n} {leaf})" for n, (leaf, _) in enumerate(leaves)) + ")"
    words = tuple(leaf.strip("\\") for leaf, stays in leaves if stays or leaf not in SILENT)
    if not words:
        return
    found = with_bracketing(Sentence(words), line)
    numbers = [int(tag[1:]) for tag in found.tags]
    assert numbers == sorted(set(numbers))
    assert tuple(leaves[n][0].strip("\\") for n in numbers) == words


def test_trees_of_silent_leaves_alone(file, caplog):
    """A note of an editor between two sentences, and a sentence of which nothing is spoken."""
    trees = ["(S (A a))", "( (CODE <P_1>) (ID 2,x))", "(S (A b))", "(S (NP *pro*))"]
    assert [s.tags for s in added(file(*trees), "a", "b")] == [("A",), ("A",)]
    assert not caplog.records
