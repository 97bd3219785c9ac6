"""``preorder annotate``, and Stanza in ``train`` and ``apply``: with a stand-in, then with Stanza itself."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from preorder.annotate import stanza
from preorder.cli import main
from preorder.data.formats import read_annotated
from preorder.data.sentence import Sentence
from preorder.syntax.read import TreeFile, add_trees
from tests.support import fake_stanza, hard_sentences
from tests.support.texts import write

LINES = ("the dog barks", "", "a ( b )", "many cats sleep", "")


@pytest.fixture
def src(tmp_path):
    return write(tmp_path / "src", *LINES)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Give the options that make a stand-in for Stanza run, on chunks of a few tokens."""
    monkeypatch.setattr(stanza, "CHUNK", 4)
    monkeypatch.setattr(stanza, "_work", fake_stanza.work)
    monkeypatch.setattr(stanza, "prepare", lambda options: [])
    folder = tmp_path / "models"
    folder.mkdir()
    return ["--lang", "en", "--stanza-dir", str(folder)]


def annotate(*argv):
    return main(["annotate", *argv])


def test_tags(src, fake, tmp_path):
    out = tmp_path / "annot"
    assert annotate("--src", src, *fake, "--out", str(out), "--pos-out", str(tmp_path / "pos")) == 0
    tags = ["xTHE xDOG xBARKS", "", "xA x( xB x)", "xMANY xCATS xSLEEP", ""]
    assert (tmp_path / "pos").read_text().split("\n") == [*tags, ""]
    lines = [f"{line}\t{tag}" if line else "" for line, tag in zip(LINES, tags, strict=True)]
    assert out.read_text().split("\n") == [*lines, ""]
    assert [sentence.classes for sentence in read_annotated(str(out))] == [None] * 5
    assert not (tmp_path / "annot.checkpoint").exists()


@pytest.mark.parametrize("tagset", ["xpos", "upos"])
@pytest.mark.parametrize(("kind", "suffix"), [("constituency", "trees"), ("dependency", "conllu")])
def test_what_is_written_is_read_again(fake, tmp_path, kind, suffix, tagset):
    """Trees alone give the words and the tags of the annotated text, without further options."""
    src, out = write(tmp_path / "src", *hard_sentences.LINES), str(tmp_path / "annot.gz")
    argv = ("--src", src, *fake, "--trees", kind, "--tagset", tagset, "--out", out)
    assert annotate(*argv, "--workers", "2") == 0
    trees = str(tmp_path / f"annot.{suffix}.gz")
    plain = [Sentence(words) for words in hard_sentences.TOKENS]
    read = list(add_trees(src, plain, TreeFile(trees)))
    assert [sentence.words for sentence in read] == list(hard_sentences.TOKENS)
    assert [sentence.tags for sentence in read] == [s.tags for s in read_annotated(out)]
    assert None not in [getattr(sentence, kind) for sentence in read]
    again = str(tmp_path / "again")
    assert annotate("--src", src, "--trees", trees, "--out", again) == 0
    assert list(read_annotated(again)) == list(read_annotated(out))


def test_interrupted(fake, tmp_path, capsys):
    src = write(tmp_path / "src", *LINES, "interrupt", *LINES)
    argv = ["--src", src, *fake, "--trees", "dependency", "--out", str(tmp_path / "annot")]
    assert annotate(*argv) == 130
    assert not (tmp_path / "annot").exists()
    assert not (tmp_path / "annot.conllu").exists()
    checkpoint = tmp_path / "annot.checkpoint"
    first, *_ = checkpoint.iterdir()
    good = first.read_bytes()
    first.write_bytes(b"damaged")
    assert annotate(*argv) == 2
    assert "not a checkpoint; --fresh starts anew" in capsys.readouterr().err
    first.write_bytes(good)
    kept = " ".join(path.name for path in checkpoint.iterdir())  # later ones may have been begun
    for path in (tmp_path / "models").glob("done-*"):
        path.unlink()
    assert annotate(*argv) == 0
    again = [path.name.removeprefix("done-") for path in (tmp_path / "models").glob("done-*")]
    assert again
    assert not [key for key in again if key in kept]
    assert not checkpoint.exists()
    other = tmp_path / "other"
    assert annotate(*argv[:-1], str(other), "--workers", "2") == 0
    assert other.read_bytes() == (tmp_path / "annot").read_bytes()
    assert (tmp_path / "other.conllu").read_bytes() == (tmp_path / "annot.conllu").read_bytes()


def test_tags_of_a_file_of_trees(tmp_path, capsys):
    src = write(tmp_path / "src", "a (", "", "b")
    trees = write(tmp_path / "trees", "(S (X a) (-LRB- -LRB-))", "", "(S (Y b))")
    assert annotate("--src", src, "--trees", trees) == 0
    assert capsys.readouterr().out == "a (\tX -LRB-\n\nb\tY\n"
    write(tmp_path / "trees", "(S (X a) (-LRB- -LRB-))", "", "(S (Y c))")
    assert annotate("--src", src, "--trees", trees) == 2
    assert capsys.readouterr().err.endswith("trees:3: token 1 of the tree is 'c', of the sentence 'b'\n")


def test_given_tags_reach_the_parser(src, fake, tmp_path):
    pos = write(tmp_path / "pos", "D N V", "", "A B C D", "A N V", "")
    out = str(tmp_path / "annot")
    assert annotate("--src", src, "--pos", pos, *fake, "--trees", "constituency", "--out", out) == 0
    first, *_ = (tmp_path / "annot.trees").read_text().split("\n")
    assert first == "(ROOT (D the) (N dog) (V barks))"
    assert next(read_annotated(out)).tags == ("D", "N", "V")


TRAIN = ["train", "--method", "btg", "--iterations", "2", "--classes", "0", "--held-out", "0"]


@pytest.fixture
def bitext(src, tmp_path):
    return ["--src", src, "--align", write(tmp_path / "align", "0-2 1-1 2-0", "", "0-0", "0-2 1-1 2-0", "")]


def order(model, *argv):
    return main(["apply", "--model", str(model), "--format", "order", *argv])


def test_train_and_apply_tag_raw_tokens(src, bitext, fake, tmp_path, capsys):
    model = tmp_path / "model"
    assert main([*TRAIN, *bitext, "--pos", "stanza", *fake, "--model", str(model)]) == 0
    assert json.loads((model / "model.json").read_text())["stanza"] == {
        "trees": None,
        "tagset": "xpos",
        "tagged": False,
        "folder": fake[-1],
    }
    assert order(model, "--src", src) == 0
    expected = capsys.readouterr().out
    assert len(expected.splitlines()) == len(LINES)
    out = str(tmp_path / "annot")
    assert annotate("--src", src, *fake, "--out", out) == 0
    for path in (tmp_path / "models").iterdir():
        path.unlink()
    assert order(model, "--annot", out) == 0
    assert capsys.readouterr().out == expected
    assert not list((tmp_path / "models").iterdir())  # tags are there: no Stanza
    given = tmp_path / "given"
    assert main([*TRAIN, "--annot", out, *bitext[2:], "--model", str(given)]) == 0
    assert (given / "weights.safetensors").read_bytes() == (model / "weights.safetensors").read_bytes()
    assert json.loads((given / "model.json").read_text())["stanza"] is None
    capsys.readouterr()
    assert order(given, "--src", src) == 2
    assert capsys.readouterr().err == "the model needs POS tags (--pos), and none are given\n"
    assert order(given, "--src", src, "--pos", "stanza", *fake) == 0
    assert capsys.readouterr().out == expected


def test_training_tags_only_what_it_needs(bitext, fake, tmp_path):
    argv = [*TRAIN, *bitext, "--pos", "stanza", *fake, "--model", str(tmp_path / "model")]
    assert main([*argv, "--limit", "1"]) == 0
    assert len(list((tmp_path / "models").glob("done-*"))) == 1
    assert main([*argv, "--cross-fit", "2", "--cross-fit-out", str(tmp_path / "features")]) == 0
    assert len(list((tmp_path / "models").glob("done-*"))) > 1


def test_model_that_needs_trees_made_from_given_tags(src, bitext, tmp_path, fake, capsys):
    model = tmp_path / "model"
    pos = write(tmp_path / "pos", "D N V", "", "A B C D", "A N V", "")
    assert main([*TRAIN, *bitext, "--pos", pos, "--trees", "dependency", *fake, "--model", str(model)]) == 0
    capsys.readouterr()
    assert order(model, "--src", src, *fake[2:]) == 2
    assert capsys.readouterr().err == (
        "the model's trees are made from given POS tags (--pos), and none are given\n"
    )
    assert order(model, "--src", src, "--pos", pos, *fake[2:]) == 0


@pytest.mark.parametrize(("kind", "suffix"), [("constituency", "trees"), ("dependency", "conllu")])
def test_models_of_trees_parse_raw_tokens(src, bitext, fake, tmp_path, capsys, kind, suffix):
    model = tmp_path / "model"
    argv = ["--classes", "0", "--held-out", "0", *bitext, "--trees", kind, *fake, "--model", str(model)]
    assert main(["train", "--method", "rvnn", *argv]) == 0
    capsys.readouterr()
    assert order(model, "--src", src, *fake[2:]) == 0
    expected = capsys.readouterr().out
    assert [len(line.split()) for line in expected.splitlines()] == [len(line.split()) for line in LINES]
    out = str(tmp_path / "annot")
    assert annotate("--src", src, *fake, "--trees", kind, "--out", out) == 0
    assert order(model, "--annot", out, "--trees", f"{out}.{suffix}") == 0
    assert capsys.readouterr().out == expected


@pytest.mark.slow
def test_the_folder_in_the_environment(shared, src, tmp_path):
    """Its models are used as those of ``--stanza-dir`` are, also as a flat folder; no network is asked."""
    pytest.importorskip("stanza", reason="needs Stanza: pip install 'onmt-preorder[stanza]'")
    models = str(shared("models/stanza"))
    places = {"STANZA_RESOURCES_DIR": models, "https_proxy": "http://127.0.0.1:9"}
    program = [sys.executable, "-m", "preorder"]
    command = [*program, "annotate", "--src", src, "--lang", "en", "-q"]
    environment = {**os.environ, **places, "PYTHONPATH": str(Path(__file__).parents[3])}
    run = partial(subprocess.run, env=environment, capture_output=True, text=True)
    found = run(command)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("the dog barks\tDT NN ")
    assert run([*command, "--stanza-dir", str(tmp_path)]).returncode == 2


def test_a_remembered_folder_that_is_gone(src, bitext, fake, tmp_path, capsys, monkeypatch):
    model, folder = tmp_path / "model", tmp_path / "models"
    assert main([*TRAIN, *bitext, "--pos", "stanza", *fake, "--model", str(model)]) == 0
    moved = folder.rename(tmp_path / "moved")
    capsys.readouterr()
    assert order(model, "--src", src, "--stanza-dir", str(moved)) == 0
    assert "folder of Stanza" not in capsys.readouterr().err
    assert order(model, "--src", write(tmp_path / "nothing")) == 0
    assert capsys.readouterr().err == (
        f"{folder}: the folder of Stanza's models that the model was trained with is not there: "
        "Stanza's own folder is used; --stanza-dir names another\n"
    )
