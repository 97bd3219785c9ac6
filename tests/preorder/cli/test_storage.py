"""Commands that read and write at URLs, beside the same commands on local files."""

import gzip
import re

import fsspec
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from preorder.cli import main
from preorder.learning.checkpoint import Checkpoints
from tests.support.texts import content

TEXT = "S1 V2 O3\n\nS2 V1 O1\nO1\n"


@pytest.fixture(scope="module")
def store():
    """What is in memory: a text, its links, two shards, and a model that was trained there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryFileSystem, "store", {})
        system = fsspec.filesystem("memory")
        system.pipe({"/text": b"S1 V2 O3\nS2 V3 O1\n" * 30, "/links": b"0-0 1-2 2-1\n" * 60})
        for name in "ab":
            system.pipe(f"/in/{name}.en.gz", gzip.compress(TEXT.encode() * ord(name)))
            system.pipe(f"/tags/{name}.pos", re.sub(r"\d", "", TEXT).encode() * ord(name))
        assert main(train("memory://model")) == 0
        yield system


def train(model, *more):
    files = ["--src", "memory://text", "--align", "memory://links", "--model", model]
    return ["train", "-q", "--method", "btg", "--iterations", "2", "--classes", "3", *files, *more]


def apply(*more, model="memory://model"):
    return ["apply", "-q", "--model", model, *more]


def test_a_model_is_the_same(store, tmp_path):
    local = tmp_path / "model"
    assert main(train(str(local))) == 0
    assert {path.removeprefix("/model/") for path in store.find("/model")} == set(content(local))
    for name in ("weights.safetensors", "classes.txt"):
        assert store.cat(f"/model/{name}") == (local / name).read_bytes()
    outputs = [tmp_path / "one", tmp_path / "two"]
    assert main(apply("--src", "memory://text", "--out", str(outputs[0]))) == 0
    assert main(apply("--src", "memory://text", "--out", f"file://{outputs[1]}", model=str(local))) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_a_model_is_replaced(store, capsys):
    assert main(train("memory://replaced")) == 0
    assert main(train("memory://replaced", "--classes", "0")) == 0  # the last --classes counts
    assert store.find("/replaced") == ["/replaced/model.json", "/replaced/weights.safetensors"]
    store.rm("/replaced/model.json")  # as when it was killed in the middle
    assert main(apply("--src", "memory://text", model="memory://replaced")) == 2
    message = "memory://replaced/model.json: cannot be read: No such file or directory\n"
    assert capsys.readouterr().err == message


def test_shards(store, tmp_path, capsys):
    """All of them in memory, or the source, or the outputs."""
    store.get("/in/", str(tmp_path / "in"), recursive=True)
    store.get("/tags/", str(tmp_path / "tags"), recursive=True)
    for number, (inputs, out) in enumerate(
        [("memory:/", "memory://out"), ("memory:/", f"{tmp_path}/out"), (str(tmp_path), "memory://other")]
    ):
        files = ["--src", f"{inputs}/in/*.en.gz", "--pos", f"{inputs}/tags/*.pos", "--out-dir", out]
        assert main(apply(*files)) == 0, number
    made = content(tmp_path / "out")
    assert set(made) == {".preorder.json", "a.en.gz", "b.en.gz"}
    del made[".preorder.json"]
    for folder in ("/out", "/other"):
        assert {path: store.cat(f"{folder}/{path}") for path in made} == made
    capsys.readouterr()
    again = [option for option in apply(*files) if option != "-q"]
    assert main(again) == 0
    assert capsys.readouterr().err.endswith("\n2 of 2 shards are there already\n")
    assert main(apply(*files, "--format", "text")) == 2
    assert "memory://other was made with another --format ('features', now 'text')" in capsys.readouterr().err


def test_checkpoints(store):
    checkpoints = Checkpoints("memory://left.checkpoint")
    part = checkpoints.part("all")
    assert part.load("key") is None
    part.save("key", {"done": 1}, {"a": np.arange(3)})
    values, arrays = part.load("key")
    assert (values, arrays["a"].tolist()) == ({"done": 1}, [0, 1, 2])
    checkpoints.remove()
    assert not store.find("/left.checkpoint")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (apply("--src", "memory://text", "--out", "memory:///text"), "would be overwritten while"),
        (apply("--src", "memory://no"), "memory://no: cannot be read: No such file or directory"),
        (apply("--src", "memory://text", "--out", "no://x"), "no://x: cannot be written: Protocol not known"),
        (apply("--src", "memory://no/*", "--out-dir", "memory://x"), "memory://no/*: there is no such file"),
        (apply("--src", "memory://in/*", "--out-dir", "memory://in"), "a.en.gz would be overwritten"),
        (train("memory://in"), "memory://in: holds other things than a model"),
        (train("memory://"), "memory://: holds memory://text: a model needs a directory of its own"),
        (train("no://x"), "no://x: cannot be written: Protocol not known: no"),
        (["report", "memory://in"], "memory://in: no report.json in it"),
        (apply("--src", "memory://text", model="memory://text"), "memory://text/model.json: cannot be read"),
    ],
)
def test_what_is_wrong_is_one_line(store, capsys, command, reason):
    before = store.find("/")
    assert main(command) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert said.count("\n") == 1
    assert store.find("/") == before


def test_a_local_file_by_its_url_is_checked_like_its_path(tmp_path, capsys):
    (tmp_path / "text").write_text("a b\n")
    (tmp_path / "links").write_text("0-0\n")
    (tmp_path / "empty.gz").touch()
    model = tmp_path / "model"
    (tmp_path / "model").mkdir()
    (model / "model.json").write_text('{"format": "onmt-preorder model"}')
    root = f"file://{tmp_path}"
    gold = ["gold", "--src", f"{root}/text", "--align", f"{root}/links", "--out"]
    for command, reason in (
        ([*gold, f"{root}/model/x"], "a model's folder holds nothing else"),
        ([*gold, root], "is a directory"),
        ([*gold, f"{root}/none/x"], "cannot be written: there is no folder"),
        (["gold", "--src", f"{root}/empty.gz", "--align", f"{root}/links"], "the file is empty"),
    ):
        assert main(command) == 2
        assert reason in capsys.readouterr().err
    assert sorted(path.name for path in model.iterdir()) == ["model.json"]


def test_other_commands(store, tmp_path):
    assert main("swap -q --src memory://text --percent 0,100 --out-dir memory://swap".split()) == 0
    assert store.cat("/swap/text.0") == store.cat("/text")
    classes = ["--classes", "memory://model/classes.txt"]
    command = ["annotate", "-q", "--src", "memory://in/a.en.gz", "--pos", "memory://tags/a.pos", *classes]
    assert main([*command, "--out", "memory://annot"]) == 0
    assert main([*command, "--out", f"{tmp_path}/annot"]) == 0
    assert store.cat("/annot") == (tmp_path / "annot").read_bytes()
