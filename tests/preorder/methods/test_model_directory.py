"""What model directories hold beside a method's state, and which are refused."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from preorder.annotate.classes import WordClasses
from preorder.annotate.options import AnnotatorOptions
from preorder.data import Sentence
from preorder.errors import DataError
from preorder.methods.base import Training
from preorder.methods.model_directory import Model, is_lowercased, load_model, save_model
from preorder.methods.registry import all_options, method_class
from tests.support.texts import content
from tests.support.verb_last import bitext


@pytest.fixture
def directory(tmp_path):
    preorderer, _ = method_class("btg").fit(Training(bitext(), all_options()["btg"](iterations=1)))
    save_model(Model(preorderer, WordClasses({"a": "1"}), "en", {"sentences": 3}), str(tmp_path / "model"))
    return tmp_path / "model"


def test_round_trip(directory, tmp_path):
    model = load_model(str(directory))
    assert model.classes == WordClasses({"a": "1"})
    assert (model.language, model.training) == ("en", {"sentences": 3})
    save_model(model, str(tmp_path / "again"))
    assert content(tmp_path / "again") == content(directory)


def test_the_folder_of_stanza_is_found_from_elsewhere(directory, tmp_path, monkeypatch):
    stanza = AnnotatorOptions("en", tagset="upos", folder="models")
    monkeypatch.chdir(tmp_path)
    save_model(replace(load_model("model"), stanza=stanza), "model")
    assert load_model("model").stanza == replace(stanza, folder=str(Path("models").absolute()))


@pytest.mark.parametrize(
    ("words", "expected"), [("a b.", True), ("a B", False), ("東京 1", False), ("東京 a", True), ("", False)]
)
def test_a_text_is_in_lower_case_if_it_has_letters_but_no_capitals(words, expected):
    assert is_lowercased([Sentence(tuple(words.split())), Sentence(())]) == expected


def test_the_word_classes_are_those_of_the_model_if_it_has_any():
    model = Model(SimpleNamespace(layers={"classes"}), WordClasses({"a": "1"}))
    assert model.annotate(Sentence(("a", "b"))).classes == ("1", "0")
    assert model.annotate(Sentence(("a",), classes=("9",))).classes == ("1",)
    given = Model(SimpleNamespace(layers={"classes"})).annotate(Sentence(("a",), classes=("9",)))
    assert given.classes == ("9",)


def test_missing_files(directory):
    for name in ("classes.txt", "weights.safetensors", "model.json"):
        Path(directory, name).unlink()
        with pytest.raises(DataError, match=f"{name}: cannot be read"):
            load_model(str(directory))
