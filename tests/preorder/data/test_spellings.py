import pytest
from nltk.tokenize import TreebankWordTokenizer
from sacremoses import MosesTokenizer

from preorder.data.spellings import same, spelled_out

LINES = [
    'he said "yes" , then "no"',
    "it is [1] {2} (3) <4> | A&B",
    "don't , they're 50% ; a\u2013b",
]


@pytest.mark.parametrize("line", LINES)
def test_tokenisers_write_the_same_characters(line):
    """Independent truth: other people's tokenisers, of the same raw line."""
    moses = MosesTokenizer("en").tokenize(line, escape=True, aggressive_dash_splits=True)
    treebank = TreebankWordTokenizer().tokenize(line, convert_parentheses=True)
    raw = spelled_out(line)
    assert "".join(map(spelled_out, moses)) == "".join(map(spelled_out, treebank)) == raw


@pytest.mark.parametrize(
    "spellings",
    [
        ['"', "``", "''", "“", "”", "&quot;", "„", "«"],
        ["(", "-LRB-", "-lrb-", "（"],
        ["1/2", "1\\/2"],
        ["-", "--", "---", "–", "—", "@-@"],
        ["26 000", "26\xa0000", "26_000", "26\u3000000", "26&#160;000"],
        ["&", "&amp;", "&#38;", "&#x26;", "&amp;amp;"],
        ["é", "&eacute;", "e\u0301", "É", "<0xC3><0xA9>"],
        ["東", "<0xE6><0x9D><0xB1>", "&#26481;"],
        ["𠮷", "<0xF0><0xA0><0xAE><0xB7>", "&#134071;"],
        ["ｶﾞ", "ガ"],
        ["50%", "50％0025", "50％"],
    ],
)
def test_one_token(spellings):
    assert all(same(spellings[0], other) for other in spellings)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "b"),
        ("(", ")"),
        ("''", "'"),
        ("<0xE6><0x9D>", "東"),
        ("&amp", "&"),
    ],
)
def test_other_tokens(one, other):
    assert not same(one, other)
