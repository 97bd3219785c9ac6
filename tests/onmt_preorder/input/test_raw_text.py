"""Raw text to tokens and back."""

import pytest

from onmt_preorder.input.raw_text import is_escaped, make_detokenizer, make_tokenizer
from preorder.annotate import tokenizers
from preorder.data.spellings import ENTITIES
from preorder.errors import UsageError


def test_a_language_takes_the_tokenizer_of_preorder():
    """Which tests/preorder/annotate/test_tokenizers.py compares with the tools."""
    pytest.importorskip("sacremoses")
    line = "I'd like my_pen."
    for escapes in (False, True):
        tokens = make_tokenizer("en", escapes)(line)
        assert tokens == tokenizers.make_tokenizer("en", escapes)(line)
        assert any(entity in tokens[1] for entity in ENTITIES) == escapes


def test_escaped_text_comes_back():
    pytest.importorskip("sacremoses")
    assert (
        make_detokenizer("en")("I &apos;d like &quot; A &amp; B &quot; , &amp;lt;")
        == 'I\'d like "A & B", &lt;'
    )
    assert make_detokenizer("fr")("l&apos; eau est chaude !") == "l'eau est chaude !"
    assert make_detokenizer("de")("") == ""


@pytest.mark.parametrize(
    ("language", "tokens", "text"),
    [
        ("ja", "私 は ペン が 好き だ 。", "私はペンが好きだ。"),
        ("ja", "彼 は iPhone 12 Pro &amp; &quot; Pixel &quot; を", '彼はiPhone 12 Pro&"Pixel"を'),
        ("ja", "Νίκος Иван 2 と", "Νίκος Иван 2と"),
        ("zh", "我 喜欢 这 支 笔 。", "我喜欢这支笔。"),
        ("th", "ผม ชอบ ปากกา", "ผมชอบปากกา"),
        ("ja", "", ""),
    ],
)
def test_no_spaces_between_words_that_have_none(language, tokens, text):
    assert make_detokenizer(language)(tokens) == text


def test_modes_of_the_opennmt_tokenizer():
    pytest.importorskip("pyonmttok.version")  # not its stand-in
    assert make_tokenizer("conservative")("Sue1, Verb2: Obj3!") == "Sue1 , Verb2 : Obj3 !".split()


@pytest.mark.parametrize("name", ["English", "e", "", "en_GB"])
def test_no_language(name):
    with pytest.raises(UsageError, match="not conservative, aggressive, char; not the code of a language: "):
        make_tokenizer(name)
    with pytest.raises(UsageError, match="not the code of a language"):
        make_detokenizer(name)


@pytest.mark.parametrize(
    ("vocabulary", "expected"),
    [
        (["don", "&apos;t", "&amp;"], True),
        (["don", "&apos;￭", "t"], True),
        (["don", "'t", "&quot;"], False),  # remains of a web page
        (["do", "<unk>"], False),
    ],
)
def test_whether_a_model_was_trained_with_entities(vocabulary, expected):
    assert is_escaped(vocabulary) == expected
