"""Chunks of sentences through a stand-in for Stanza: order, empty lines, workers, resuming."""

import pytest

from preorder.annotate import stanza
from preorder.annotate.stanza import StanzaOptions, add_layers, annotate
from preorder.data import Sentence
from preorder.data.trees import ROOT, ConstituencyTree, DependencyTree
from preorder.errors import MissingExtraError, UsageError
from preorder.learning.checkpoint import Checkpoints
from tests.support import fake_stanza

SENTENCES = [
    Sentence(tuple(line.split())) for line in ("", "a b c", "", "", "d", "e f g h i", "j k", "l m", "", "")
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which the stand-in leaves traces; chunks are of a few tokens."""
    monkeypatch.setattr(stanza, "CHUNK", 5)
    monkeypatch.setattr(stanza, "_work", fake_stanza.work)
    monkeypatch.setattr(stanza, "prepare", lambda options: [])
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def done(folder):
    return {path.name for path in folder.glob("done-*")}


@pytest.mark.parametrize("trees", [None, "constituency", "dependency"])
def test_any_number_of_workers_says_the_same(folder, trees):
    options = StanzaOptions("en", trees, folder=str(folder))
    one, two = (list(annotate(SENTENCES, options, workers)) for workers in (1, 2))
    assert one == two == list(annotate(SENTENCES, options, 0))
    assert one == [(sentence, fake_stanza.annotation(options, sentence.words)) for sentence in SENTENCES]
    assert len(done(folder)) == 3


def test_layers_are_added(folder):
    options = StanzaOptions("en", "constituency", folder=str(folder))
    first, second, *_ = add_layers(SENTENCES, options)
    assert first == Sentence((), (), tree=ConstituencyTree(0, ()))
    assert second.tags == ("xA", "xB", "xC")
    assert second.tree == ConstituencyTree(3, ((0, 3, "ROOT"),))
    options = StanzaOptions("en", "dependency", "upos", folder=str(folder))
    first, second, *_ = add_layers(SENTENCES, options)
    assert first == Sentence((), (), tree=DependencyTree((), ()))
    assert second.tags == ("uA", "uB", "uC")
    assert second.tree == DependencyTree((ROOT, 0, 1), ("next",) * 3)


def test_given_tags_and_trees_stay(folder):
    tree = DependencyTree((ROOT, 0), ("root", "next"))
    sentence = Sentence(("a", "b"), ("A", "B"), tree=tree)
    options = StanzaOptions("en", folder=str(folder), tagged=True)
    assert list(add_layers([sentence], options)) == [sentence]


def test_what_was_done_before_an_interruption_is_not_done_again(folder, tmp_path):
    sentences = [*SENTENCES, Sentence(("interrupt",)), Sentence(("z",))]
    options = StanzaOptions("en", folder=str(folder))
    checkpoints = Checkpoints(str(tmp_path / "checkpoints"))
    with pytest.raises(KeyboardInterrupt):
        list(annotate(sentences, options, 1, checkpoints))
    before = done(folder)
    assert before
    for path in folder.glob("done-*"):
        path.unlink()
    result = list(annotate(sentences, options, 1, checkpoints))
    kept = len(list((tmp_path / "checkpoints").iterdir()))
    assert not done(folder) & before
    assert len(done(folder) | before) == 4
    assert kept >= 4
    assert result == list(annotate(sentences, options))
    for path in folder.glob("done-*"):
        path.unlink()
    assert list(annotate(sentences, options, 2, checkpoints)) == result
    assert not done(folder)


@pytest.mark.parametrize(
    "other",
    [
        StanzaOptions("de"),
        StanzaOptions("en", "dependency"),
        StanzaOptions("en", tagset="upos"),
        StanzaOptions("en", device="gpu"),
    ],
)
def test_other_options_start_anew(folder, tmp_path, other):
    keys = {
        chunk.key
        for options in (StanzaOptions("en"), other)
        for chunk in stanza._chunks(SENTENCES, stanza._settings(options, []), Checkpoints())
    }
    assert len(keys) == 8


def test_models_may_move_but_not_change():
    first, moved = (StanzaOptions("en", folder=name) for name in ("here", "there"))
    assert stanza._settings(first, ["models"]) == stanza._settings(moved, ["models"])
    assert stanza._settings(first, ["models"]) != stanza._settings(first, ["other models"])


def test_one_gpu_one_worker():
    with pytest.raises(UsageError, match="on a GPU there is one worker"):
        next(annotate([], StanzaOptions("en", device="gpu"), workers=2))


def test_stanza_is_not_installed(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"stanza is not installed; .*pip install -e '\.\[stanza\]'"):
        next(annotate(SENTENCES, StanzaOptions("en")))
