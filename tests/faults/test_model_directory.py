"""Model directories: nothing else is overwritten, and readers see one model however often it is replaced."""

import itertools
import multiprocessing
import time
from pathlib import Path

import numpy as np
import pytest

from preorder.annotate.classes import WordClasses
from preorder.errors import DataError, PreorderError
from preorder.io.atomic import atomic_file
from preorder.learning.checkpoint import Checkpoint, Checkpoints
from preorder.methods import model_directory
from preorder.methods.model_directory import Model, check_replaceable, load_model, save_model
from preorder.methods.registry import all_options, method_class
from tests.support.verb_last import bitext

CORPUS = {"a.en": "x\n", "a.ja": "y\n"}


def model(seed):
    options = all_options()["btg"](iterations=1, seed=seed)
    preorderer, training = method_class("btg").fit(bitext(), options)
    return Model(preorderer, WordClasses({f"word{seed}": str(seed)}), None, training)


@pytest.fixture(scope="module")
def models():
    return model(1), model(2)


def test_what_may_become_a_model(tmp_path, models):
    save_model(models[0], str(tmp_path / "model"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("model")
    for name in ("model", "model/", "empty", "new", "new/below", "link"):
        check_replaceable(str(tmp_path / name), [str(tmp_path / "text")])
    save_model(models[1], str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert load_model(str(tmp_path / "model")).classes == models[1].classes


@pytest.mark.parametrize(
    ("directory", "message"),
    [
        ("corpus", "holds other things than a model"),
        (".", "a model needs a directory of its own"),
        ("/", "a model needs a directory of its own"),
        ("corpus/a.en", "exists and is not a directory"),
        ("mixed", "holds other things than a model"),
        ("other", "holds other things than a model"),
        ("with-input", "with-input: holds .*with-input/text: a model needs a directory of its own"),
    ],
)
def test_what_may_not(tmp_path, monkeypatch, models, directory, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    for name, content in CORPUS.items():
        (tmp_path / "corpus" / name).write_text(content)
    save_model(models[0], "mixed")
    (tmp_path / "mixed" / "notes").write_text("mine")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "model.json").write_text('{"format": "of another program"}')
    (tmp_path / "with-input").mkdir()
    with pytest.raises(DataError, match=message):
        check_replaceable(directory, ["with-input/text"])


@pytest.mark.parametrize("directory", ["", "corpus"])
def test_saving_deletes_nothing_else(tmp_path, monkeypatch, models, directory):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/a.en").write_text("mine")
    with pytest.raises(PreorderError):
        save_model(models[0], directory)
    assert (tmp_path / "corpus/a.en").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def _replace(directory, models, ended):
    while not ended.is_set():
        for one in models:
            save_model(one, directory)


def test_readers_while_it_is_replaced(tmp_path, models):
    directory = str(tmp_path / "model")
    save_model(models[0], directory)
    arrays = [one.preorderer.state()[1] for one in models]
    context = multiprocessing.get_context("fork")
    ended = context.Event()
    writer = context.Process(target=_replace, args=(directory, models, ended), daemon=True)
    writer.start()
    seen = set()
    until = time.monotonic() + 300
    for _ in itertools.takewhile(lambda i: i < 300 or len(seen) < 2, itertools.count()):
        loaded = load_model(directory)
        seed = loaded.training["options"]["seed"]
        assert loaded.classes == models[seed - 1].classes
        found = loaded.preorderer.state()[1]
        assert all(np.array_equal(found[name], array) for name, array in arrays[seed - 1].items())
        seen.add(seed)
        assert time.monotonic() < until
    ended.set()
    writer.join()
    assert seen == {1, 2}
    assert writer.exitcode == 0


@pytest.mark.parametrize(("replaced", "tries"), [(False, 1), (True, 5)])
def test_a_damaged_model_is_read_again_only_if_it_was_replaced(
    tmp_path, monkeypatch, models, replaced, tries
):
    directory, load, read = str(tmp_path / "model"), model_directory._load, []

    def counted(folder):
        read.append(folder)
        if replaced:
            save_model(models[0], directory)
        Path(folder, "weights.safetensors").write_bytes(b"damaged")
        return load(folder)

    save_model(models[0], directory)
    monkeypatch.setattr(model_directory, "_load", counted)
    with pytest.raises(DataError, match="damaged"):
        load_model(directory)
    assert len(read) == tries


@pytest.mark.parametrize("name", ["weights.safetensors", "classes.txt"])
def test_a_flipped_bit_is_found(tmp_path, models, name):
    save_model(models[0], str(tmp_path / "model"))
    path = tmp_path / "model" / name
    content = path.read_bytes()
    for index in np.random.default_rng(1).integers(0, len(content), 20):
        damaged = bytearray(content)
        damaged[index] ^= 1 << int(index % 8)
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=f"{name}: damaged: its checksum is not that in model.json"):
            load_model(str(tmp_path / "model"))


def test_a_flipped_bit_of_a_checkpoint_is_found(tmp_path):
    path = tmp_path / "checkpoint"
    Checkpoint(path).save("key", {"done": 3}, {"a": np.arange(50.0), "b": np.zeros((0, 3), np.int32)})
    content = path.read_bytes()
    for index in range(len(content)):
        damaged = bytearray(content)
        damaged[index] ^= 1 << index % 8
        path.write_bytes(damaged)
        with pytest.raises(
            Exception, match="not a checkpoint; --fresh starts anew|with other data or options"
        ):
            Checkpoint(path).load("key")


def test_what_another_training_is_writing_is_not_removed(tmp_path):
    checkpoints = Checkpoints(str(tmp_path / "folder"))
    checkpoints.part("all").save("key", 1, {})
    with atomic_file(str(tmp_path / "folder" / "all.safetensors")) as mine:
        checkpoints.remove()
        assert [path.name for path in (tmp_path / "folder").iterdir()] == [mine.name]
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["all.safetensors"]


def test_leftovers_do_not_keep_checkpoints_from_being_removed(tmp_path):
    checkpoints = Checkpoints(str(tmp_path / "folder"))
    checkpoints.part("all").save("key", 1, {})
    (tmp_path / "folder" / ".all.safetensors.abc.partial").write_text("left by a killed run")
    checkpoints.remove()
    assert not (tmp_path / "folder").exists()
    checkpoints.part("all").save("key", 1, {})
    (tmp_path / "folder" / "notes").write_text("not ours")
    checkpoints.remove()
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["notes"]
