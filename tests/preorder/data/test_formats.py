"""Every line format parses what it formats, and refuses what it is not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.data import Alignment, BinaryTree, Node, Permutation, Sentence, formats
from preorder.errors import DataError
from tests.support.texts import write

text = st.text(st.sampled_from("ab￨ &#;1\u3000\u00a0日本"), min_size=1, max_size=6).filter(
    lambda token: " " not in token
)
links = st.frozensets(st.tuples(st.integers(0, 9), st.integers(0, 9)))


confidences = st.floats(1e-12, 1) | st.sampled_from((0.5, 0.75, 1 / 3))


@given(st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)), confidences), links)
def test_alignment_round_trip(sure, possible):
    alignment = replace(Alignment.weighted(sure), possible=possible - sure.keys())
    again = formats.parse_alignment(formats.format_alignment(alignment))
    assert again == alignment
    assert again.confidences() == sure


def test_confidences_as_they_are_written():
    alignment = formats.parse_alignment("2-2 ||| 0-0 1-0:0.75 0-1:1 1-1:1.000")
    assert alignment.confidences() == {(0, 0): 1, (1, 0): 0.75, (0, 1): 1, (1, 1): 1}
    assert alignment.doubtful == {((1, 0), 0.75)}
    assert formats.format_alignment(alignment) == "0-0 0-1 1-0:0.75 1-1"
    assert formats.format_alignment(formats.parse_alignment("0-0:0.000001")) == "0-0:0.000001"
    assert formats.parse_alignment("0-0 0?0 1p1").possible == {(1, 1)}  # a sure link is not possible, too


@pytest.mark.parametrize(
    "lines", [("0-0", "", "1-1 ||| 0-0"), ("1-1 ||| 0-0", "", "0-0"), ("", "0-0", "1-1 |||")]
)
def test_a_file_of_links_has_one_format(tmp_path, lines):
    write(tmp_path / "links", *lines)
    with pytest.raises(DataError, match="links:3: lines of lader"):
        list(formats.read_alignments(str(tmp_path / "links")))
    write(tmp_path / "links", *lines[:2])
    assert len(list(formats.read_alignments(str(tmp_path / "links"), 0))) == 2


@pytest.mark.parametrize("kind", ["{}", "9-9 ||| {}"])
def test_indices_from_one(tmp_path, kind):
    path = tmp_path / "align"
    path.write_text(kind.format("1-1 2-3:0.5 3p1") + "\n")
    (alignment,) = formats.read_alignments(str(path), 1)
    assert formats.format_alignment(alignment) == "0-0 1-2:0.5 2?0"
    assert formats.format_alignment(alignment.reversed()) == "0-0 0?2 2-1:0.5"
    path.write_text("1-1\n1-0\n")
    with pytest.raises(DataError, match="align:2: link 1-0 does not count from 1"):
        list(formats.read_alignments(str(path), 1))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("0-0 1", "not an alignment link: '1'"),
        ("a-b", "not an alignment link"),
        ("0-0 1-1 ||| -12.3", "fast_align -s's format: give a line of links"),
        ("0001 3 2 P 0.8", "NAACL's format"),
        ("# Sentence pair (1) source length 3 target length 3 alignment score : 0.01", r"GIZA\+\+'s format"),
        ("NULL ({ }) I ({ 1 }) see ({ 3 }) fish ({ 2 })", r"GIZA\+\+'s format"),
        ("2-2 ||| 0-2", "link 0-2 is out of range"),
        ("0-0:1e-1", "not an alignment link"),
        ("0-0:0." + "1" * 31, "not an alignment link"),
        ("0-0:0", "not a sure link with a confidence above 0 and at most 1: '0-0:0'"),
        ("0-0:1.5", "not a sure link with a confidence above 0 and at most 1"),
        ("0?0:0.5", "not a sure link with a confidence above 0 and at most 1"),
        ("0-0:0.5 1-1 0-0", "link 0-0 has two confidences"),
    ],
)
def test_malformed_alignment(line, reason):
    with pytest.raises(DataError, match=reason):
        formats.parse_alignment(line)


@given(
    st.lists(text, max_size=6).flatmap(
        lambda words: st.tuples(st.just(words), st.permutations(range(len(words))))
    )
)
def test_features_round_trip_and_hide_what_opennmt_would_break(example):
    words, numbers = example
    permutation = Permutation(tuple(numbers))
    line = formats.format_features(words, permutation)
    assert formats.parse_features(line) == (tuple(words), permutation)
    for field in line.split(" ") if line else []:
        assert field.count("￨") == 1
        assert field == field.strip()


def test_what_separates_tokens():
    assert formats.parse_tokens(" a\tb\rc\u3000d  e\r") == ("a", "b", "c\u3000d", "e")


@pytest.mark.parametrize("line", ["a￨0 b", "a￨x", "a￨0.5"])
def test_features_need_a_position_each(line):
    with pytest.raises(DataError, match="token without a position"):
        formats.parse_features(line)


@pytest.mark.parametrize(("fields", "classes"), [("", None), ("\t1", ())])
def test_annotated_file(tmp_path, fields, classes):
    path = tmp_path / "annot"
    path.write_text(f"\n\na\tX{fields}\n\n")
    empty = Sentence((), (), classes)
    third = Sentence(("a",), ("X",), classes if classes is None else ("1",))
    assert list(formats.read_annotated(str(path))) == [empty, empty, third, empty]
    path.write_text("\n\n")
    assert list(formats.read_annotated(str(path))) == [Sentence((), (), ())] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tX\t1\nb\tY\n", "2 tab-separated fields where words, POS tags and classes are expected"),
        ("a\tX\nb\tY\t1\n", "3 tab-separated fields where words and POS tags are expected"),
        ("a\tX\n\t\t\n", "3 tab-separated fields"),
        ("a\tX\nb\tX Y\n", "2 POS tags for 1 words"),
        ("\na b\tX Y\t1\n", "1 word classes for 2 words"),
    ],
)
def test_annotated_file_of_two_kinds(tmp_path, text, message):
    (tmp_path / "annot").write_text(text)
    with pytest.raises(DataError, match=f"annot:2: {message}"):
        list(formats.read_annotated(str(tmp_path / "annot")))


def test_tree_brackets_as_topdown_btg_prints_them():
    tree = BinaryTree(3, (Node(0, 1, 3, False), Node(1, 2, 3, True)))
    assert formats.format_tree(("a", "<b", "c]"), tree) == r"[a <\<b c\]>]"
    assert formats.format_tree(("a",), BinaryTree(1, ())) == "a"


@pytest.mark.parametrize(
    ("token", "escaped"),
    [
        ("a￨b", "a&#65512;b"),
        ("\u3000", "&#12288;"),
        ("\ufeffa\0", "&#65279;a&#0;"),
        ("a\x85b", "a&#133;b"),
        ("&#38;#32;", "&#38;#38;#32;"),
        ("x&#160;", "x&#38;#160;"),
        *((token, token) for token in "a & &amp; &#91; &#65; &#032; &#xA0; &#9999999999;".split()),
    ],
)
def test_escapes_are_undone_and_nothing_else(token, escaped):
    assert formats.escape_token(token) == escaped
    assert formats.unescape_token(escaped) == token
    assert formats.needs_escape(("x", token)) == (token != escaped)
    assert formats.is_odd(f"x {token}") or token == escaped
    assert not formats.needs_escape(("&", "#38;"))  # "&#" of two tokens is no escape
