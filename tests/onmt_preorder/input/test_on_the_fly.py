"""Preordering of lines that come again."""

import pytest

from onmt_preorder.input import on_the_fly
from onmt_preorder.input.on_the_fly import OnTheFlyPreorderer
from preorder.annotate.options import AnnotatorOptions
from preorder.data import Permutation
from preorder.errors import UsageError
from preorder.methods.model_directory import Model
from tests.support import fake_stanza


class Counting:
    """A preorderer that turns sentences around, and counts those that it is given."""

    layers = frozenset()

    def __init__(self):
        self.seen = []

    def order(self, sentences, threads=1):
        self.seen += [" ".join(sentence.words) for sentence in sentences]
        return [Permutation(tuple(reversed(range(len(sentence))))) for sentence in sentences]


def test_lines_are_remembered_while_there_is_room(monkeypatch):
    monkeypatch.setattr(on_the_fly, "MAX_REMEMBERED_TOKENS", 5)
    preorderer = Counting()
    fly = OnTheFlyPreorderer(Model(preorderer))
    assert fly.positions(["a b", "c", "a b", "d e f"]) == [(1, 0), (0,), (1, 0), (2, 1, 0)]
    assert fly.positions(["d e f", "a b", "g h"]) == [(2, 1, 0), (1, 0), (1, 0)]
    assert fly.positions([]) == []
    assert preorderer.seen == ["a b", "c", "d e f", "d e f", "g h"]


def test_words_are_unescaped_before_they_are_ordered_and_in_lower_case_if_the_model_knows_no_capitals():
    preorderer, line = Counting(), "A&#12288;b c&#65512;D &#38;#160;"
    for lowercased in (False, True):
        OnTheFlyPreorderer(Model(preorderer, lowercased=lowercased)).positions([line])
    assert preorderer.seen == ["A\u3000b c￨D &#160;", "a\u3000b c￨d &#160;"]


def test_layers_that_only_files_give():
    needy = Counting()
    needy.layers = frozenset({"tags"})
    with pytest.raises(UsageError, match=r"the model needs POS tags \(`tags`\), and none are given"):
        OnTheFlyPreorderer(Model(needy))
    with pytest.raises(UsageError, match="preorder_stanza_dir has no effect: the preorderer does not need S"):
        OnTheFlyPreorderer(Model(Counting()), "stanza")
    with pytest.raises(UsageError, match="trees made from POS tags in a file"):
        OnTheFlyPreorderer(Model(needy, stanza=AnnotatorOptions("en", "constituency", tagged=True)))


def test_stanza_annotates_in_this_process(monkeypatch, tmp_path):
    fake_stanza.install(monkeypatch)
    needy = Counting()
    needy.layers = frozenset({"tags"})
    fly = OnTheFlyPreorderer(Model(needy, stanza=AnnotatorOptions("en")), str(tmp_path))
    assert fly.positions(["a b", "", "c"]) == [(1, 0), (), (0,)]
    assert len(list(tmp_path.glob("done-*"))) == 1
