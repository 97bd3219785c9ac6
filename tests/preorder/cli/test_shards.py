"""``preorder apply`` and ``annotate`` on folders of shards, end to end."""

import gzip
import json
import os
import pickle
import shutil
from pathlib import Path

import pytest

from preorder import __version__
from preorder.cli import apply as apply_command
from preorder.cli import main
from preorder.shards.on_ray import RayOptions
from tests.support import fake_stanza
from tests.support.tiny_model import train_tiny

LINES = {"a": ["S1 V2 O3"] * 40, "b": [], "c": ["", "S2 V1 O1", "O1"], "d": [f"S{i} V{i}" for i in range(9)]}
OUTPUTS = ["a.en", "b.en", "c.en.gz", "d.en"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return train_tiny(tmp_path_factory.mktemp("model"), classes=3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder: shards with tags, ``in/a.en tags/a.pos …``, one of them compressed."""
    monkeypatch.chdir(tmp_path)
    for name in ("in", "tags"):
        (tmp_path / name).mkdir()
    for name, lines in LINES.items():
        suffix, opened = (".gz", gzip.open) if name == "c" else ("", open)
        with opened(f"in/{name}.en{suffix}", "wt") as text, opened(f"tags/{name}.pos{suffix}", "wt") as tags:
            for line in lines:
                text.write(f"{line}\n")
                tags.write(" ".join(word[0] for word in line.split()) + "\n")
    return tmp_path


@pytest.fixture
def apply(model, run):
    """Give a function that orders the shards, and returns what is said."""

    def apply(*more, src="in/*.en*", out="out", status=0):
        return run(f"apply --model {model} --src {src} --out-dir {out} {' '.join(more)}", status).err

    return apply


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".preorder.json"}


def expected(model, *more):
    """Return the bytes that the command makes of each file alone."""
    command = ["apply", "--model", str(model), *more]
    for name in OUTPUTS:
        assert main([*command, "--src", f"in/{name}", "--out", f"one-{name}"]) == 0
    return {name: Path(f"one-{name}").read_bytes() for name in OUTPUTS}


@pytest.mark.parametrize("more", [("--threads", "2"), ("--n-best", "2", "--format", "order")], ids=" ".join)
def test_the_same_bytes_as_single_files(folder, model, apply, more):
    apply(*more)
    assert content(folder / "out") == expected(model, *more)


def test_what_is_there_is_not_done_again(folder, apply):
    apply()
    before = content(folder / "out")
    (folder / "out" / "a.en").write_text("mine\n")
    (folder / "out" / "d.en").unlink()
    assert "3 of 4 shards are there already\n" in apply()
    assert content(folder / "out") == before | {"a.en": b"mine\n"}
    assert apply() == "4 of 4 shards are there already\n"


def test_every_nth_shard(folder, model, apply):
    apply("--shard", "2/3")
    assert set(content(folder / "out")) == {"b.en"}
    for part in ("1/3", "3/3"):
        apply("--shard", part)
    assert content(folder / "out") == expected(model)


def test_a_changed_model_option_or_folder(folder, model, apply, monkeypatch):
    apply()
    before = content(folder / "out")
    remedy = "name another folder, or remove it\n"
    said = f"out was made with another --format ('features', now 'order'): {remedy}"
    assert apply("--format", "order", status=2) == said
    assert "out was made with another --tokenize (" in apply("--tokenize", "en", status=2)
    shutil.copytree(model, "other")
    path = folder / "other/model.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1))
    assert "out was made with another --model (" in apply("--model", "other", status=2)
    shutil.copytree("in", "in2")
    assert "out was made with another --src ('" in apply(src="in2/*", status=2)
    with monkeypatch.context() as patch:
        patch.setattr("preorder.command_line.shards.__version__", "0")
        assert "out was made with another version of onmt-preorder ('" in apply(status=2)
    shutil.copytree("in", "elsewhere/in")
    monkeypatch.chdir("elsewhere")
    assert "out was made with another --src ('" in apply(out=str(folder / "out"), status=2)
    assert content(folder / "out") == before


def test_two_kinds_of_tags_in_a_folder(folder, apply):
    for path in (folder / "tags").iterdir():
        shutil.copy(path, path.with_name(path.name.replace(".pos", ".upos")))
    for pattern in ("*", "[a-z]"):
        apply("--pos", f"tags/{pattern}.pos*")
    assert "out was made with another --pos ('" in apply("--pos", "tags/*.upos*", status=2)


def test_a_model_that_is_replaced_while_it_is_loaded(folder, model, apply, monkeypatch):
    """Outputs would be those of one model, and the folder would name the other."""
    shutil.copytree(model, "model")
    load = apply_command.load_model

    def load_late(path):
        loaded = load(path)
        train_tiny(folder, classes=2)
        return loaded

    monkeypatch.setattr(apply_command, "load_model", load_late)
    said = apply("--model", "model", status=2)
    assert said.endswith("model has been replaced meanwhile: begin again\n")
    assert not (folder / "out").exists()


def test_bad_shards_are_told_at_the_end(folder, apply):
    whole = (folder / "in/c.en.gz").read_bytes()
    (folder / "in/c.en.gz").write_bytes(whole[:-4])
    (folder / "in/a.en").write_bytes(LINES["a"][0].encode() + b"\nS1 \xff\n")
    (folder / "tags/d.pos").unlink()
    *_, a, c, d, last = apply("--threads", "2", "--pos", "tags/*.pos*", status=2).splitlines()
    assert a == "in/a.en:2: not valid UTF-8 (byte 4 of the line)"
    assert c.startswith("in/c.en.gz:4: damaged gzip data: ")
    assert d == "tags/d.pos: cannot be read: No such file or directory"
    assert last == "3 of 4 shards failed; the others are there"
    assert set(os.listdir("out")) == {"b.en", ".preorder.json"}
    (folder / "in/c.en.gz").write_bytes(whole)
    apply("-q", "--pos", "tags/*.pos*", status=2)
    assert set(content(folder / "out")) == {"b.en", "c.en.gz"}


def test_a_bad_shard_whose_name_has_a_line_break(folder, apply):
    Path("in/a\nb.en").write_bytes(b"S1 \xff\n")
    *_, bad, last = apply(status=2).splitlines()
    assert bad == r"in/a\nb.en:1: not valid UTF-8 (byte 4 of the line)"
    assert last == "1 of 5 shards failed; the others are there"
    assert set(content(folder / "out")) == {*OUTPUTS}


def test_annotate(folder, model, run):
    line = "annotate --src in/*.en* --pos tags/*.pos* --out-dir out"
    run(line)
    for name in OUTPUTS:
        pos = name.replace(".en", ".pos")
        assert main(["annotate", "--src", f"in/{name}", "--pos", f"tags/{pos}", "--out", f"one-{name}"]) == 0
    assert content(folder / "out") == {name: Path(f"one-{name}").read_bytes() for name in OUTPUTS}
    assert main(["apply", "--model", str(model), "--annot", "out/*.en*", "--out-dir", "ordered"]) == 0
    assert content(folder / "ordered") == expected(model)
    assert run(line).err == "4 of 4 shards are there already\n"
    (folder / "classes").write_text("S1\t7\n")
    assert "out was made with another --classes (None, now '" in run(f"{line} --classes classes", 2).err


def elsewhere(monkeypatch, asked):
    """Let shards be done here as on another machine; keep the engine that a command asks for."""

    def run_shards(shards, work, engine, _):
        asked.append(engine)
        work = pickle.loads(pickle.dumps(work))
        for shard in shards:
            work(shard, lambda _: None)

    monkeypatch.setattr("preorder.command_line.shards.run_shards", run_shards)
    monkeypatch.setattr("preorder.command_line.shards.load_ray", lambda: None)


@pytest.mark.parametrize("more", [(), ("--n-best", "2", "--format", "order")], ids=" ".join)
def test_apply_on_other_machines(folder, model, apply, monkeypatch, more):
    asked = []
    elsewhere(monkeypatch, asked)
    ray = "--engine ray --threads 2 --address a.b:1 --tries 5 --patience 9".split()
    apply(*ray, *more)
    assert content(folder / "out") == expected(model, *more)
    options, facts = asked[0].args
    assert options == RayOptions("a.b:1", cpus=2, tries=5, patience=9)
    made_with = json.loads((folder / "out/.preorder.json").read_text())
    assert facts() == {"version of onmt-preorder": __version__, "folder out": made_with}


def test_stanza_on_gpus_of_other_machines(folder, monkeypatch):
    asked = []
    elsewhere(monkeypatch, asked)
    fake_stanza.install(monkeypatch, ["1.9", []])
    command = "annotate --src in/*.en --out-dir out --lang en --stanza-dir . --engine ray".split()
    gpu = ["--stanza-device", "gpu"]
    for more, share in ([], 0), (gpu, 0.25), ([*gpu, "--gpu-share", "0.5"], 0.5):
        assert main([*command, *more]) == 0
        options, facts = asked.pop().args
        assert options == RayOptions(gpus=share)
        assert {"folder out", "Stanza"} < facts().keys()
    assert set(content(folder / "out")) == {"a.en", "b.en", "d.en"}


def test_annotate_by_stanza(folder, monkeypatch, run):
    """With a stand-in for Stanza; a shard is done once all of its outputs are there."""
    models = [["pos.pt", 100, 1]]
    fake_stanza.install(monkeypatch, ["1.9", models])
    line = f"annotate --src in/*.en --out-dir out --lang en --stanza-dir {folder} --trees dependency"
    run(line)
    before = content(folder / "out")
    assert set(before) == {f"{name}.en{suffix}" for name in "abd" for suffix in ("", ".conllu")}
    (folder / "out/d.en.conllu").unlink()
    assert "2 of 3 shards are there already" in run(line).err
    assert content(folder / "out") == before
    models[0] = ["pos.pt", 100, 2]  # of another time
    run(line)
    models[0] = ["pos.pt", 101, 2]
    assert "out was made with another Stanza ('" in run(line, 2).err
    assert "out was made with another --lang, " in run(f"{line} --lang de", 2).err
    (folder / "in/a.en.conllu").touch()
    clash = "in/a.en and in/a.en.conllu would both be written to new/a.en.conllu"
    assert clash in run(f"{line} --src in/* --out-dir new", 2).err
    assert not (folder / "new").exists()
