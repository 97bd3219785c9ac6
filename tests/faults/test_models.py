"""Damaged and hostile models: the same orders as before, or one line; never a crash, a hang or a traceback.

``FAULTS=20000`` in the environment tries so many damaged models, and other ones with each ``FAULTS_SEED``.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

pytest.importorskip("torch")

from preorder.annotate.classes import learn_classes
from preorder.btg.constraint import Constraint
from preorder.btg.grammar import ROOT
from preorder.btg.nbest import kbest_of_parts
from preorder.btg.viterbi import _fill_trees, best_trees
from preorder.data import BinaryTree, Bitext, Node
from preorder.errors import DataError, NotFiniteError, PreorderError
from preorder.methods import model_directory
from preorder.methods.model_directory import Model, load_model, save_model
from preorder.methods.perceptron.learner import Learner, weights_of
from preorder.methods.registry import METHODS, all_options, method_class
from tests.support.damaged_models import seal
from tests.support.verb_last import LINES, bitext

COUNT = int(os.environ.get("FAULTS", "1000"))
SEED = os.environ.get("FAULTS_SEED", "1")
SMALL = {"iterations": 1, "minibatch": 6, "hidden": 8, "depth": 1, "size": 8}


def trained(kind):
    """Return a small model of a kind, with word classes."""
    plain = bitext()
    classes = learn_classes([sentence.words for sentence in plain.sentences], 3, 1)
    lines = Bitext(list(map(classes.add_to, plain.sentences)), plain.alignments)
    options = all_options()[kind]()
    options = replace(options, **{name: value for name, value in SMALL.items() if hasattr(options, name)})
    preorderer = method_class(kind).fit(lines, options, lines)[0]
    return Model(preorderer, classes, "en", {"options": options.__dict__})


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Give a folder with a model directory of each kind."""
    folder = tmp_path_factory.mktemp("models")
    for kind in METHODS:
        save_model(trained(kind), str(folder / kind))
    return folder


def test_damaged_models(models):
    """Bytes at random, which checksums tell; and with checksums that fit, anything anywhere in the files."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.damaged_models", str(models), SEED, str(COUNT)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120 + COUNT,
    )
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert (run.returncode, run.stderr) == (0, ""), found[-1:]
    expected = {one["kind"]: one["orders"] for one in found[: len(METHODS)]}
    results = found[len(METHODS) + 1 :: 2]
    assert len(results) == COUNT
    for case in results:
        if "error" in case:
            assert case["error"].isprintable(), case
            assert len(case["error"]) < 500, case
        elif case["damage"] == "damage_bytes":
            assert case["orders"] == expected[case["kind"]], case
    outcomes = Counter((case["damage"], "error" in case) for case in results)
    assert min(outcomes[kind, True] for kind, _ in outcomes) > COUNT // 50, outcomes


@pytest.fixture
def copy(models, tmp_path):
    """Give a function that loads a copy of a model with changes, and checksums that fit."""

    def load_changed(kind, change):
        folder = tmp_path / kind
        shutil.copytree(models / kind, folder)
        path = folder / "model.json"
        description = json.loads(path.read_text())
        arrays = load((folder / "weights.safetensors").read_bytes())
        change(description, arrays)
        path.write_text(json.dumps(description))
        (folder / "weights.safetensors").write_bytes(save(arrays))
        seal(folder)
        return load_model(str(folder))

    return load_changed


def put(*keys, value):
    """Return a change of a value in the description."""

    def change(description, arrays):
        for key in keys[:-1]:
            description = description[key]
        description[keys[-1]] = value

    return change


def fill(name, value, dtype=None):
    """Return a change of an array: all of it is a value, or it is another array."""

    def change(description, arrays):
        if isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            arrays[name] = np.full(arrays[name].shape, value, dtype or arrays[name].dtype)

    return change


def full_table(description, arrays):
    """Fill every slot of a table: a search for another key would not end."""
    blocks = arrays["quad.blocks"]
    size = blocks.size * 256
    arrays["quad.blocks"] = np.full_like(blocks, 256)
    arrays["quad.tags"] = np.arange(size, dtype=np.uint32)
    arrays["quad.places"] = np.arange(size).astype(np.uint8)
    arrays["quad.present"] = np.zeros(size * 2 // 8, np.uint8)
    arrays["quad.values"] = np.zeros(0, np.uint8)


NETWORKS = ("neural-btg", "rvnn", "swap-lstm")
HOSTILE = [
    ("btg", put("state", value=[]), "model.json: no sound state: []"),
    ("btg", put("training", value=None), "model.json: no sound training: None"),
    ("btg", put("more", value=1), "model.json: unknown field 'more'"),
    ("btg", put("method", value=["btg"]), "model.json: unknown method ['btg']"),
    ("btg", put("language", value="../../x"), "model.json: not the code of a language: '../../x'"),
    ("btg", put("checksums", "classes", value=1), "model.json: no sound checksums"),
    (
        "btg",
        put("stanza", value={"trees": "x", "tagset": "xpos", "tagged": False}),
        "what it says of Stanza is",
    ),
    (
        "btg",
        put("state", "layers", value=["words", "words"]),
        "not the layers of a BTG model: ['words', 'words']",
    ),
    ("btg", put("state", "layers", value=[["words"]]), "not the layers of a BTG model: [['words']]"),
    ("btg", full_table, "quad has 256 keys in 256 slots"),
    ("btg", fill("quad.blocks", np.zeros(1 << 20, np.uint16)), "keys in 268435456 slots"),
    ("btg", fill("token.blocks", 1), "the keys of token"),
    ("btg", fill("token.spread", 25), "the keys of token"),
    ("btg", fill("token.levels", np.nan), "not all of token.levels are finite"),
    ("btg", fill("token.levels", 1e30), "the levels of token"),
    ("btg", fill("token.values", 255), "the levels of token"),
    ("btg", fill("token.tags", 1, np.int64), "token.tags is int64"),
    ("btg", fill("shape", np.inf), "not all of shape are finite"),
    ("btg", fill("shape", 1e30), "the shape's are too large"),
    ("rvnn", put("state", "trees", value=[]), "not the trees of a model of nodes: []"),
    ("neural-btg", put("state", "hidden", value=30_000), "hidden 30000"),
    ("neural-btg", put("state", "hidden", value=True), "not a size of the model's network: hidden True"),
    ("neural-btg", put("state", "depth", value=10**8), "not a size of the model's network: depth 100000000"),
    ("neural-btg", put("state", "depth", value=50), "not a size of the model's network: depth 50"),
    ("neural-btg", put("state", "perceptron", value=1), "not the ensemble partner of a neural BTG model"),
    ("neural-btg", fill("weight", 3e38), "the scores are not finite: the training has diverged, or"),
    ("rvnn", put("state", "size", value=10**30), "not a size of the model's network: size 1000"),
    ("rvnn", put("state", "categories", value=[[]]), "not the categories of a model of nodes: True, [[]]"),
    ("rvnn", put("state", "vocabulary", "words", value=[None]), "not the vocabulary of the model's network"),
    ("rvnn", fill("weight", 3e38), "the scores are not finite"),
    *(
        (kind, fill("output.bias" if kind != "neural-btg" else "weight", np.nan), "are finite")
        for kind in NETWORKS
    ),
]


@pytest.mark.parametrize(("kind", "change", "reason"), HOSTILE)
def test_hostile_models(copy, kind, change, reason):
    def order():
        model = copy(kind, change)
        model.preorderer.order(list(map(model.annotate, LINES)))

    with pytest.raises(PreorderError, match=re.escape(reason)):
        order()


@pytest.mark.parametrize(
    ("state", "reason"), [("[" * 10**5, "nested too deeply"), ("9" * 5000, "too many digits")]
)
def test_a_description_without_end(models, tmp_path, state, reason):
    (tmp_path / "model.json").write_text(f'{{"state": {state}')
    with pytest.raises(DataError, match=reason):
        load_model(str(tmp_path))


def test_a_description_too_deep_to_be_summed():
    deep = []
    for _ in range(10**5):
        deep = [deep]
    with pytest.raises(DataError, match="it is nested too deeply"):
        model_directory._own_checksum({"training": deep, "checksums": {}})


def test_a_description_that_was_changed(models, tmp_path):
    shutil.copytree(models / "rvnn", tmp_path / "rvnn")
    path = tmp_path / "rvnn" / "model.json"
    text = path.read_text()
    path.write_text(text.replace('"see"', '"sea"'))
    assert path.read_text() != text
    with pytest.raises(DataError, match="model.json: damaged: it is not as it was written"):
        load_model(str(path.parent))
    path.write_text(json.dumps(json.loads(text), indent=None))
    load_model(str(path.parent))  # how it is laid out does not matter


DIVERGING = {
    "neural-btg": {"learning_rate": 1e9},
    "rvnn": {"learning_rate": 1e9},
    "swap-lstm": {"learning_rate": 1e9},
    "btg": {"cost": 1e9, "aggressiveness": 1e9},
}


@pytest.mark.parametrize("method", DIVERGING)
def test_training_that_diverges(method):
    options = all_options()[method](**DIVERGING[method], iterations=30, minibatch=2)
    with pytest.raises(NotFiniteError, match="training has diverged.*smaller steps.*another --seed"):
        method_class(method).fit(bitext(), options)


def test_scores_that_are_no_numbers():
    """The compiled search itself ends with some tree, as the learners rely on it."""
    parts = np.full((1, 3, 2, 6, 6), np.nan, np.float32)
    for search in (lambda: best_trees(parts), lambda: kbest_of_parts(parts[0], ROOT, 2)):
        with pytest.raises(NotFiniteError, match="the scores are not finite"):
            search()
    for value in (np.nan, np.inf, -np.inf):
        nodes = np.empty((1, 4, 5), np.int32)
        _fill_trees(np.full((1, 3, 2, 6, 6), value, np.float32), ROOT, nodes)
        assert (
            len(BinaryTree(5, tuple(Node(b, m, e, bool(label)) for b, m, e, label, _ in nodes[0])).nodes) == 4
        )


def test_a_perceptron_that_diverges():
    lines = bitext()
    groups = [i for sentence in lines.sentences for i in range(len(sentence))]
    learner = Learner(["words"], lines.sentences, Constraint.certain(groups), all_options()["btg"]())
    learner._tables[-1].weights[:] = np.nan
    with pytest.raises(NotFiniteError, match="the weights are not finite"):
        learner.learn(1, lambda done: None)
    with pytest.raises(NotFiniteError, match="the weights are not finite"):
        weights_of(learner.model()).compact(0.1)


def test_models_without_checksums(models, tmp_path):
    shutil.copytree(models / "btg", tmp_path / "btg")
    path = tmp_path / "btg" / "model.json"
    description = json.loads(path.read_text())
    del description["checksums"]
    path.write_text(json.dumps(description))
    with pytest.raises(DataError, match="no sound checksums: None"):
        load_model(str(path.parent))
