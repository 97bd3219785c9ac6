"""Damaged and hostile models: the same orders as before, or one line; never a crash, a hang or a traceback.

Model directories: nothing else is overwritten, and readers see one model however often it is replaced.
"""

import itertools
import json
import multiprocessing
import re
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load, save

pytest.importorskip("torch")

from preorder.annotate.classes import WordClasses, learn_classes
from preorder.btg.grammar import ROOT_CONTEXT
from preorder.btg.nbest import kbest_of_parts
from preorder.btg.viterbi import best_trees
from preorder.data import Bitext
from preorder.errors import DataError, NotFiniteError, PreorderError
from preorder.io.atomic import atomic_file
from preorder.learning.checkpoint import Checkpoint, Checkpoints
from preorder.methods import model_directory
from preorder.methods.base import Training
from preorder.methods.model_directory import Model, check_replaceable, load_model, save_model
from preorder.methods.registry import METHODS, all_options, method_class
from tests.support.verb_last import LINES, bitext

SMALL = {"iterations": 1, "minibatch": 6, "hidden": 8, "depth": 1, "size": 8}


def trained(kind, seed=1):
    """Return a small model of a kind, with word classes."""
    plain = bitext()
    classes = learn_classes([sentence.words for sentence in plain.sentences], 3, 1)
    lines = Bitext(list(map(classes.add_to, plain.sentences)), plain.alignments)
    options = all_options()[kind](seed=seed)
    options = replace(options, **{name: value for name, value in SMALL.items() if hasattr(options, name)})
    preorderer = method_class(kind).fit(Training(lines, options, lines))[0]
    return Model(preorderer, classes, "en", {"options": options.__dict__})


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Give a folder with a model directory of each kind."""
    folder = tmp_path_factory.mktemp("models")
    for kind in METHODS:
        save_model(trained(kind), str(folder / kind))
    return folder


def seal(folder):
    """Make the checksums fit again, as whoever means harm would."""
    path = folder / model_directory.DESCRIPTION
    description = json.loads(path.read_text())
    checksums = description[model_directory.CHECKSUMS]
    for name in (model_directory.WEIGHTS, model_directory.CLASSES):
        checksums[name] = model_directory._checksum((folder / name).read_bytes())
    checksums[model_directory.DESCRIPTION] = model_directory._own_checksum(description)
    path.write_text(json.dumps(description))


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
        new = np.full(arrays[name].shape, value, dtype or arrays[name].dtype) if np.isscalar(value) else value
        arrays[name] = new

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


def full_rest(description, arrays):
    """Give each key bits beyond those that a key has."""
    rest = arrays["token.rest"]
    arrays["token.rest"] = np.full_like(rest, np.iinfo(rest.dtype).max)


VOCABULARY = "not the vocabulary of the model's network"
HOSTILE = [
    ("btg", put("state", value=[]), "model.json: no sound state: []"),
    ("btg", put("training", value=None), "model.json: no sound training: None"),
    ("btg", put("more", value=1), "model.json: unknown field 'more'"),
    ("btg", put("format", value="something else"), "model.json: not an onmt-preorder model"),
    ("btg", put("version", value=99), "model.json: a model of format version 99, not 4: train it again"),
    ("btg", put("method", value="magic"), "model.json: unknown method 'magic'"),
    ("btg", put("method", value=["btg"]), "model.json: unknown method ['btg']"),
    ("btg", put("language", value="../../x"), "model.json: not the code of a language: '../../x'"),
    ("btg", put("checksums", "classes", value=1), "model.json: no sound checksums"),
    ("btg", put("stanza", value={"trees": "x", "tagset": "xpos", "tagged": False}), "what it says of Stanza"),
    ("btg", put("stanza", value={"spacy": "ja_ginza"}), "unknown field 'spacy' in stanza: train it again"),
    ("btg", put("state", "layers", value=["words"] * 2), "not the layers of a BTG model: ['words', 'words']"),
    ("btg", full_table, "quad has 256 keys in 256 slots"),
    ("btg", fill("quad.blocks", np.zeros(1 << 20, np.uint16)), "keys in 268435456 slots"),
    ("btg", fill("token.blocks", 1), "the keys of token"),
    ("btg", fill("token.spread", 255), "the keys of token"),
    ("btg", full_rest, "the rest of the keys of token"),
    ("btg", fill("token.levels", np.nan), "not all of token.levels are finite"),
    ("btg", fill("token.levels", 1e30), "the levels of token"),
    ("btg", fill("token.tags", 1, np.int64), "token.tags is int64"),
    ("btg", fill("shape", np.inf), "not all of shape are finite"),
    ("rvnn", put("state", "trees", value=[]), "not the trees of a model of nodes: []"),
    ("rvnn", put("state", "trees", value="rings"), "not the trees of a model of nodes: 'rings'"),
    ("rvnn", put("state", "binarisation", value="up"), "a model of nodes: 'constituency', 'up'"),
    ("rvnn", put("state", "categories", value=3), "not the categories of a model of nodes: True, 3"),
    ("rvnn", put("state", "size", value=13), "not the weights of the model's network"),
    ("rvnn", put("state", "category", value="yes"), "not the categories of a model of nodes: 'yes'"),
    ("swap-lstm", put("state", "size", value=-1), "not a size of the model's network: size -1"),
    ("neural-btg", put("state", "hidden", value=30_000), "hidden 30000"),
    ("neural-btg", put("state", "hidden", value=17), "not the weights of the model's network"),
    ("neural-btg", put("state", "vocabulary", value={"words": [], "smell": []}), VOCABULARY),
    ("neural-btg", put("state", "hidden", value=0), "not a size of the model's network: hidden 0"),
    ("neural-btg", put("state", "depth", value="1"), "not a size of the model's network: depth '1'"),
    ("neural-btg", put("state", "vocabulary", value={"tags": []}), VOCABULARY),
    ("neural-btg", put("state", "depth", value=10**8), "not a size of the model's network: depth 100000000"),
    ("neural-btg", put("state", "perceptron", value=1), "not the ensemble partner of a neural BTG model"),
    ("neural-btg", fill("weight", 3e38), "the scores are not finite: the training has diverged, or"),
    ("rvnn", put("state", "categories", value=[[]]), "not the categories of a model of nodes: True, [[]]"),
    ("neural-btg", fill("weight", np.nan), "are finite"),
]


@pytest.mark.parametrize(("kind", "change", "reason"), HOSTILE)
def test_hostile_models(copy, kind, change, reason):
    def order():
        model = copy(kind, change)
        model.preorderer.order(list(map(model.annotate, LINES)))

    with pytest.raises(PreorderError, match=re.escape(reason)):
        order()


def test_a_description_without_end(tmp_path):
    for state, reason in (("[" * 10**5, "nested too deeply"), ("9" * 5000, "too many digits")):
        (tmp_path / "model.json").write_text(f'{{"state": {state}')
        with pytest.raises(DataError, match=reason):
            load_model(str(tmp_path))
    deep = []
    for _ in range(10**5):
        deep = [deep]
    with pytest.raises(DataError, match="it is nested too deeply"):  # too deep to be summed
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
    with pytest.raises(NotFiniteError, match="training has diverged.*smaller steps.*another `seed`"):
        method_class(method).fit(Training(bitext(), options))


def test_scores_that_are_no_numbers():
    parts = np.full((1, 3, 2, 6, 6), np.nan, np.float32)
    for search in (lambda: best_trees(parts), lambda: kbest_of_parts(parts[0], ROOT_CONTEXT, 2)):
        with pytest.raises(NotFiniteError, match="the scores are not finite"):
            search()


# --- directories ---


@pytest.fixture(scope="module")
def two_models():
    """Return models with different weights and classes, in the order of their seeds, 1 and 2."""
    return [replace(trained("btg", seed), classes=WordClasses({f"word{seed}": str(seed)})) for seed in (1, 2)]


def test_what_may_become_a_model(tmp_path, two_models, monkeypatch):
    save_model(two_models[0], str(tmp_path / "model"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("model")
    for name in ("model", "model/", "empty", "new", "new/below", "link", "tex"):
        check_replaceable(str(tmp_path / name), [str(tmp_path / "text")])
    save_model(two_models[1], str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert load_model(str(tmp_path / "model")).classes == two_models[1].classes
    monkeypatch.chdir(tmp_path / "empty")
    check_replaceable(".", ["-"])  # standard input lies in no folder


def test_readers_while_it_is_replaced(tmp_path, two_models):
    directory = str(tmp_path / "model")
    save_model(two_models[0], directory)
    arrays = [one.preorderer.state()[1] for one in two_models]
    context = multiprocessing.get_context("fork")
    ended = context.Event()

    def replace_again_and_again():
        while not ended.is_set():
            for one in two_models:
                save_model(one, directory)

    writer = context.Process(target=replace_again_and_again, daemon=True)
    writer.start()
    seen = set()
    until = time.monotonic() + 300
    for _ in itertools.takewhile(lambda i: i < 100 or len(seen) < 2, itertools.count()):
        loaded = load_model(directory)
        seed = loaded.training["options"]["seed"]
        assert loaded.classes == two_models[seed - 1].classes
        found = loaded.preorderer.state()[1]
        assert all(np.array_equal(found[name], array) for name, array in arrays[seed - 1].items())
        seen.add(seed)
        assert time.monotonic() < until
    ended.set()
    writer.join()
    assert (seen, writer.exitcode) == ({1, 2}, 0)


def each_with_a_flipped_bit(path, step):
    """Write the file with a bit flipped in every so many-th byte."""
    sound = path.read_bytes()
    for index in range(0, len(sound), step):
        path.write_bytes(sound[:index] + bytes([sound[index] ^ 1 << index % 8]) + sound[index + 1 :])
        yield


def test_a_flipped_bit_is_found(tmp_path, two_models):
    for name in ("weights.safetensors", "classes.txt"):
        save_model(two_models[0], str(tmp_path / "model"))
        path = tmp_path / "model" / name
        for _ in each_with_a_flipped_bit(path, path.stat().st_size // 20 + 1):
            with pytest.raises(DataError, match=f"{name}: damaged: its checksum is not that in model.json"):
                load_model(str(tmp_path / "model"))
    arrays = {"a": np.arange(50.0), "b": np.zeros((0, 3))}
    Checkpoint(tmp_path / "checkpoint").save("key", {"done": 3}, arrays)
    message = "not a checkpoint; `fresh` starts|with other data or options"
    for _ in each_with_a_flipped_bit(tmp_path / "checkpoint", 3):
        with pytest.raises(PreorderError, match=message):
            Checkpoint(tmp_path / "checkpoint").load("key")


def test_checkpoints_are_removed_and_nothing_else(tmp_path):
    folder = tmp_path / "folder"
    checkpoints = Checkpoints(str(folder))
    checkpoints.part("all").save("key", 1, {})
    with atomic_file(str(folder / "all.safetensors")) as written_by_another:
        checkpoints.remove()
        assert [path.name for path in folder.iterdir()] == [written_by_another.name]
    assert [path.name for path in folder.iterdir()] == ["all.safetensors"]
    (folder / ".all.safetensors.abc.partial").write_text("left by a killed run")
    checkpoints.remove()
    assert not folder.exists()
    checkpoints.part("all").save("key", 1, {})
    (folder / "notes").write_text("not ours")
    checkpoints.remove()
    assert [path.name for path in folder.iterdir()] == ["notes"]
