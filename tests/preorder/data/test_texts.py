"""What other tools write is told from text; what does not look tokenised gets a warning."""

import gzip
import json
import logging

import pytest

from preorder.cli import main
from preorder.data.texts import check_tags, read_text, read_tokens, subword_mark, text_lines, token_lines
from preorder.errors import DataError
from tests.support.texts import write

SGM = """<refset setid="t" srclang="any" trglang="en">
<doc docid="d1" sysid="ref">
<p>
<seg id="1">A bird &amp; a tree .</seg>
<seg id="2">
They went home .
</seg>
</p>
</doc>
<DOC docid="d2" sysid="ref"><SEG id="1"></SEG></DOC>
</refset>
"""
XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="t"><doc origlang="en" id="d">
<src lang="en"><p><seg id="1">one</seg><seg id="2">two</seg></p></src>
<ref lang="de" translator="A"><p><seg id="1">eins</seg><seg id="2">zwei</seg></p></ref>
<hyp system="S" language="de"><p><seg id="1">ein</seg><seg id="2">zwo</seg></p></hyp>
</doc></dataset>
"""
FOREIGN = {
    "an SGML file": (SGM, "markup"),
    "XML": (XML, "markup"),
    "TMX": ('<tmx version="1.4">\n', "markup"),
    "JSON lines": (json.dumps({"translation": {"en": "a"}}) + "\n", "JSON"),
    "pretty JSON": ('[\n  {"en": "a"}\n]\n', "JSON"),
    "fast_align's input": ("the bird sings ||| der Vogel singt\n", "a bitext"),
    "fast_align's input, not tokenised": ("the bird sings||| der Vogel singt\n", "a bitext"),
    "jieba's output": ("我 / 来到 / 北京 / 清华大学\n", "jieba"),
    "MeCab's output": ("走っ\t動詞,自立,*,*,五段・ラ行,連用タ接続,走る,ハシッ,ハシッ\n", "MeCab"),
    "words with tags": ("I/PRP like/VBP the/DT fish/NN ./.\n", "words with their tags"),
    "words with tags behind _": ("I_PRP like_VBP the_DT fish_NN ._.\n", "words with their tags"),
    "factors": ("私|代名詞|ワタシ は|助詞|ハ 魚|名詞|サカナ を|助詞|ヲ\n", "words with their tags"),
    "GIZA++'s output": ("# Sentence pair (1) source length 3 target length 3 alignment score : 1\n", "GIZA"),
    "CoreNLP's output": ("Sentence #1 (3 tokens):\n", "CoreNLP"),
    "CoNLL-U without comments": ("1\tI\tI\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n", "CoNLL-U"),
    "a table": ("a b\tc d\n", "a tab in the line"),
}
BY_TWO_LINES = ("a bitext", "jieba", "words with their tags")
PLAIN = [
    '[ " a ] b .',
    "{ x } .",
    "a | | b",
    "||| x",
    "and / or x",
    "a / b / c",
    "AC/DC and/or TCP/IP or x/y",
    "sinh_viên_A học_sinh nhà_nước Việt_Nam có_thể",
    "< doc > a",
    "Sentence # 2",
    "Sentence 1 is",
    "a b\t",
    "\ta",
    "x ||| y",
    "Mon / Tue / Wed / Thu",
    "24/7 and/or he/she yes/no",
]


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_of_another_kind_is_refused_at_its_first_filled_lines(kind, tmp_path):
    text, what = FOREIGN[kind]
    path = tmp_path / "file"
    further = int(what in BY_TWO_LINES)
    path.write_text(f"\n \n{text * 2}")
    with pytest.raises(DataError, match=f"file:{3 + further}: .*{what}"):
        list(read_text(str(path), str))
    path.write_text(f"# sent_id = 1\n{text * 2}")
    with pytest.raises(DataError, match=f"file:{2 + further}: .*{what}"):
        list(read_text(str(path), str))


def test_a_long_line_is_not_looked_at_for_ever():
    for line in (f"A_A{' ____' * 30} x", "a" * 2**20):
        assert next(text_lines("file", iter([line]))) == line
    with pytest.raises(DataError, match="a tab in the line"):
        next(text_lines("file", iter(["a\t" + "," * 2**20])))


@pytest.mark.parametrize("line", PLAIN)
def test_text_that_looks_a_little_like_it_is_read(line, tmp_path):
    assert list(read_text(write(tmp_path / "file", line, "x\ty"), str)) == [line, "x\ty"]


def test_lines_are_passed_on_one_by_one():
    given = iter(["a b", "c"])
    lines = token_lines("file", given)
    assert next(lines) == "a b"
    assert next(given) == "c"


def warnings(lines, caplog):
    caplog.clear()
    with caplog.at_level(logging.WARNING, "preorder"):
        assert list(token_lines("file", iter(lines))) == lines
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize(
    ("lines", "token"),
    [
        ([f"I like the pen {n}ab." for n in range(50)], "9ab."),
        (["これは日本語の文ですが空白がありません。"] * 50, "これは"),
        (["a b c", "What is this?"] * 25, "this?"),
    ],
)
def test_text_that_is_not_tokenised_gets_one_warning(lines, token, caplog):
    (warning,) = warnings(lines, caplog)
    assert "does not look tokenised" in warning
    assert token in warning


@pytest.mark.parametrize(
    "lines",
    [
        ["I like the pen ."] * 200,
        ["これ は 日本 語 の 文 です 。"] * 200,
        ["( contributed by jason r.", "I like it ."] * 100,  # as many abbreviations as full stops
        ["a title"] * 200,
        ["I like the pen."] * 9,  # too few to say
        ["I like the pen ."] * 100 + ["I like the pen."] * 500,  # judged by its beginning
    ],
)
def test_tokenised_text_gets_none(lines, caplog):
    assert warnings(lines, caplog) == []


def test_subwords_are_told_by_their_marks():
    assert subword_mark(["the ca@@ ts sleep", "they do"]) == "@@"
    assert subword_mark(["▁the ▁cat s"]) == "▁"
    assert subword_mark(["the un ##seen"]) == "##"
    assert subword_mark(["plain text", "mail a@@b"]) is None
    assert subword_mark(["the ca@@ ts", *["plain"] * 20]) is None
    assert subword_mark([]) is None


@pytest.mark.parametrize("more", [[], ["--line-by-line"], ["--confidence-out", "/dev/null"]])
@pytest.mark.parametrize("kind", ["fast_align's input", "jieba's output", "words with tags", "a table"])
def test_apply_refuses_them_in_blocks_and_line_by_line(tmp_path, capsys, kind, more):
    text, what = FOREIGN[kind]
    path = tmp_path / "file"
    path.write_text(text * 2)
    out = ["--out", str(tmp_path / "out")]
    assert main(["apply", "-q", "--model", "en-verb-final", "--src", str(path), *out, *more]) == 2
    assert what in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("files", [("t.sgm", "plain"), ("plain", "t.sgm")])
def test_score_refuses_markup(tmp_path, capsys, files):
    """Its tags would count as words."""
    write(tmp_path / "t.sgm", SGM)
    write(tmp_path / "plain", *["a b"] * len(SGM.split("\n")))
    reference, hypothesis = (str(tmp_path / name) for name in files)
    assert main(["score", "--ref", reference, "--hyp", f"x={hypothesis}", "--metrics", "bleu"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{tmp_path}/t.sgm:1: the file is markup (SGML, XML or TMX): sacrebleu ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("a b\nc\n".encode("utf-16"), "UTF-16"),
        ("a b\nc\n".encode("utf-16-le"), "UTF-16"),
        ("a b\nc\n".encode("utf-16-be"), "UTF-16"),
        (gzip.compress(b"a b\n", mtime=0), "compressed: its name must end in .gz"),
        (b"a b\rc d\re f\r", "lines end in CR alone"),
    ],
)
def test_encodings_are_named(content, what, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"file:1: .*{what}"):
        list(read_tokens(str(path), str))


def test_a_carriage_return_at_the_end_of_a_line_is_none(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"a b\r\nc\rd\r\n")
    assert list(text_lines("file", read_text(str(path), str))) == ["a b", "c\rd"]


@pytest.mark.parametrize("mark", ["_", "/", "|", ":", "￨", "\\", "##", "·"])
def test_words_and_tags_are_told_by_any_separator(mark):
    words, tags = ["a", f"b{mark}c", "."], ["DT", "NN", "."]
    check_tags(words, tags)
    joined = [word + mark + tag for word, tag in zip(words, tags, strict=True)]
    with pytest.raises(DataError, match="words and tags, as in .*: give the tags alone"):
        check_tags(words, joined)
    check_tags(words, [*joined[:-1], "."])


@pytest.mark.parametrize(
    ("word", "tag"), [("'", "''"), ("``", "``"), ("N", "NNP"), ("-", "-LRB-"), (":", ":")]
)
def test_tags_that_begin_with_their_word(word, tag):
    check_tags([word], [tag])
