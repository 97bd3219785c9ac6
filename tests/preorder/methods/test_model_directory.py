"""Model directories, with a method that the test defines."""

import json
from pathlib import Path

import numpy as np
import pytest

from preorder.annotate.classes import WordClasses
from preorder.data import Permutation, Sentence
from preorder.errors import DataError, UsageError
from preorder.io.files import read_json
from preorder.methods import model_directory
from preorder.methods.model_directory import Model, load_model, save_model


class Reverser:
    """Reverses every sentence; its weights are for show."""

    method = "reverser"

    def __init__(self, layers=(), weights=(1.0, 2.0)):
        self.layers = frozenset(layers)
        self.weights = np.array(weights, np.float32)

    def order(self, sentences, threads=1):
        return [Permutation(tuple(range(len(sentence)))[::-1]) for sentence in sentences]

    def state(self):
        return {"layers": sorted(self.layers)}, {"weights": self.weights}

    @classmethod
    def from_state(cls, values, arrays):
        return cls(values["layers"], arrays["weights"])


@pytest.fixture(autouse=True)
def _method(monkeypatch):
    monkeypatch.setattr(model_directory, "METHODS", {"reverser": None})
    monkeypatch.setattr(model_directory, "method_class", lambda _: Reverser)


@pytest.fixture
def directory(tmp_path):
    path = str(tmp_path / "model")
    classes = WordClasses({"a": "1"})
    save_model(Model(Reverser(["classes"]), classes, "en", {"sentences": 3}), path)
    return path


def test_round_trip(directory):
    model = load_model(directory)
    assert model.classes == WordClasses({"a": "1"})
    assert (model.language, model.training) == ("en", {"sentences": 3})
    assert model.preorderer.weights.tolist() == [1.0, 2.0]
    assert model.preorderer.layers == {"classes"}


def test_annotates_what_it_can(directory):
    model = load_model(directory)
    assert model.annotate(Sentence(("a", "b"))).classes == ("1", "0")
    assert model.annotate(Sentence(("a",), classes=("9",))).classes == ("9",)


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        ("tags", r"needs POS tags \(--pos\)"),
        ("classes", r"needs word classes \(--classes\)"),
        ("constituency", r"needs constituency trees \(--trees\)"),
        ("dependency", r"needs dependency trees \(--trees\)"),
    ],
)
def test_missing_layer(layer, reason):
    with pytest.raises(UsageError, match=reason):
        Model(Reverser([layer])).annotate(Sentence(("a",)))


def test_same_model_same_bytes(tmp_path, directory):
    again = tmp_path / "again"
    save_model(load_model(directory), str(again))
    for path in again.iterdir():
        assert path.read_bytes() == (tmp_path / "model" / path.name).read_bytes()


def change(directory, **values):
    path = f"{directory}/model.json"
    Path(path).write_text(json.dumps({**read_json(path), **values}))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"format": "something else"}, "model.json: not an onmt-preorder model"),
        ({"version": 99}, "model.json: a model of format version 99, not 4: train it again"),
        ({"method": "magic"}, "model.json: unknown method 'magic'"),
    ],
)
def test_not_our_model(directory, values, reason):
    change(directory, **values)
    with pytest.raises(DataError, match=reason):
        load_model(directory)


def test_missing_or_damaged(tmp_path, directory):
    with pytest.raises(DataError, match="model.json: cannot be read"):
        load_model(str(tmp_path / "nowhere"))
    (tmp_path / "model" / "weights.safetensors").write_bytes(b"damaged")
    with pytest.raises(DataError, match="weights.safetensors: damaged: its checksum"):
        load_model(directory)
    (tmp_path / "model" / "weights.safetensors").unlink()
    with pytest.raises(DataError, match="weights.safetensors: cannot be read"):
        load_model(directory)
