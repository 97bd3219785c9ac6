"""Tokenizers of plain text, against the tools themselves."""

import importlib.metadata
import logging
import sys
from types import ModuleType, SimpleNamespace

import pytest

from preorder.annotate import stanza
from preorder.annotate.options import FOLDER_VARIABLE
from preorder.annotate.tokenizers import languages_of, log_tokenizers, make_tokenizer, tokenised, usual
from preorder.errors import DataError, UsageError

RAW = ["I'd like \"A & B\", don't I?", "John's house (the <old> one) costs 3.5 % | or so.", "", "a\u3000b￨0"]


@pytest.mark.parametrize("escapes", [False, True])
def test_tokens_are_those_of_sacremoses(escapes):
    moses = pytest.importorskip("sacremoses")
    tokenize = make_tokenizer("en", escapes)
    for line in RAW:
        assert tokenize(line) == moses.MosesTokenizer("en").tokenize(line, escape=escapes)
    assert make_tokenizer("en")("see os.path and my_name.") == "see os.path and my_name .".split()


def test_tokens_are_those_of_sudachi():
    pytest.importorskip("sudachipy")
    assert make_tokenizer("ja")("私はペンが好きだ。 はい") == "私 は ペン が 好き だ 。 はい".split()
    with pytest.raises(DataError, match="^the tokenizer cannot split the line: "):
        make_tokenizer("ja")("あ" * 20_000)
    with pytest.raises(DataError, match="^<stdin>:2: the tokenizer cannot split the line: "):
        list(tokenised("-", "ja", ["はい", "あ" * 20_000]))


def test_stanza_is_asked_to_tokenize(monkeypatch, tmp_path):
    """A stand-in: Stanza's models are not here."""
    asked = []

    class Pipeline:
        def __init__(self, **settings):
            asked.append(settings)

        def __call__(self, text):
            tokens = [SimpleNamespace(text=part) for part in (text[:2], text[2:])]
            return SimpleNamespace(sentences=[SimpleNamespace(tokens=tokens)])

    module = ModuleType("stanza")
    module.Pipeline = Pipeline
    monkeypatch.setitem(sys.modules, "stanza", module)
    monkeypatch.setattr(stanza, "prepare", lambda options: None)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert list(tokenised("-", "zh:stanza", ["我们喜欢", ""])) == ["我们 喜欢", ""]
    (one,) = asked
    assert (one["lang"], one["dir"], one["processors"]) == ("zh", str(tmp_path), "tokenize")


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ({"sacremoses", "sudachipy", "stanza"}, ("moses", "sudachi", "stanza")),
        ({"stanza"}, ("stanza", "stanza", "stanza")),
        (set(), ("moses", "sudachi", "stanza")),
    ],
)
def test_what_is_installed_is_taken(monkeypatch, there, expected):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name in there or None)
    assert tuple(map(usual, ("en", "ja", "zh"))) == expected


def test_a_language_that_sacremoses_does_not_know(caplog):
    pytest.importorskip("sacremoses")
    assert make_tokenizer("xx:moses")("Bada, bing.") == "Bada , bing .".split()
    with caplog.at_level(logging.INFO, "preorder"):
        log_tokenizers("en", None, "xx:moses")
    first, second, *warned = caplog.messages
    assert first.startswith("tokenize: en by sacremoses ")
    assert second.startswith("tokenize: xx by sacremoses ")
    assert warned == ["sacremoses has no abbreviations of 'xx': it takes those of English"]


@pytest.mark.parametrize("text", ["English", "e", "", "en_GB", "../en"])
def test_no_language(text):
    with pytest.raises(UsageError, match="not the code of a language: "):
        make_tokenizer(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [("en", "not two languages"), ("en,ja,fr", "not two languages"), ("en,ja:x", "no tokenizer 'x', only: ")],
)
def test_two_languages(text, message):
    assert languages_of("en,ja:stanza") == ("en", "ja:stanza")
    with pytest.raises(UsageError, match=message):
        languages_of(text)
