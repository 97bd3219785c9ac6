import unicodedata

import hypothesis.strategies as st
import pytest
from hypothesis import given
from nltk.tokenize import TreebankWordTokenizer
from sacremoses import MosesTokenizer

from preorder.data.spellings import folded, same, spelled_out

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
        ["-", "--", "–", "—", "@-@"],
        ["26 000", "26\xa0000", "26_000", "26\u3000000", "26&#160;000"],
        ["&", "&amp;", "&#38;", "&#x26;", "&amp;amp;"],
        ["é", "&eacute;", "e\u0301", "É", "<0xC3><0xA9>"],
        ["東", "<0xE6><0x9D><0xB1>", "&#26481;"],
        ["ｶﾞ", "ガ"],
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


@given(st.text("ab`\"'“-–—()[]/*ßΣσς.…é\u3000Ａ"), st.text("ab`\"'“-–—()[]/*ßΣσς.…é\u3000Ａ"))
def test_pieces_spell_their_word(one, other):
    assert spelled_out(one) + spelled_out(other) == spelled_out(one + other)


def test_all_forms_of_a_character_are_one():
    """But ´, which is read as a quote and not as a space with an accent, and ı, whose capital is I."""
    for character in map(
        chr, sorted({*range(0x3400), *range(0xF900, 0x10000)} - {ord("ı"), ord("´"), 0x1FFD})
    ):
        forms = [unicodedata.normalize(form, character) for form in ("NFC", "NFD", "NFKC", "NFKD")]
        assert {folded(form) for form in [*forms, character.upper(), character.lower()]} == {
            folded(character)
        }
