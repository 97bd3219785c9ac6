"""``preorder annotate``, and Stanza in ``train`` and ``apply``: with a stand-in, then with Stanza itself."""

import json

import pytest

from preorder.annotate import stanza
from preorder.data.formats import read_annotated
from preorder.data.sentence import Sentence
from preorder.syntax.read import TreeFile, add_trees
from tests.support import fake_stanza, hard_sentences
from tests.support.texts import content, write

LINES = ("the dog barks", "", "a ( b )", "many cats sleep", "")
KINDS = pytest.mark.parametrize(("kind", "suffix"), [("constituency", "trees"), ("dependency", "conllu")])
TRAIN = "train --src src --align align --classes 0 --held-out 0 --model model"
BTG = f"{TRAIN} --method btg --iterations 2"
ORDER = "apply --model model --format order"
FAKE = "--lang en --stanza-dir models"


@pytest.fixture
def folder(tmp_path):
    """Give a folder with a text, its tags and its links."""
    write(tmp_path / "src", *LINES)
    write(tmp_path / "pos", "D N V", "", "A B C D", "A N V", "")
    write(tmp_path / "align", "0-2 1-1 2-0", "", "0-0", "0-2 1-1 2-0", "")
    return tmp_path


@pytest.fixture
def models(folder, monkeypatch):
    """Let a stand-in for Stanza run, on chunks of a few tokens; give the folder of its models."""
    monkeypatch.setattr(stanza, "CHUNK", 4)
    fake_stanza.install(monkeypatch)
    (folder / "models").mkdir()
    return folder / "models"


def chunks_done(models):
    """Return the chunks that the stand-in has done, and forget them."""
    done = list(models.glob("done-*"))
    for path in done:
        path.unlink()
    return [path.name.removeprefix("done-") for path in done]


def test_tags(run, folder, models):
    run(f"annotate --src src {FAKE} --out annot --pos-out tags")
    tags = ["xTHE xDOG xBARKS", "", "xA x( xB x)", "xMANY xCATS xSLEEP", ""]
    assert (folder / "tags").read_text().split("\n") == [*tags, ""]
    lines = [f"{line}\t{tag}" if line else "" for line, tag in zip(LINES, tags, strict=True)]
    assert (folder / "annot").read_text().split("\n") == [*lines, ""]
    assert [sentence.classes for sentence in read_annotated("annot")] == [None] * 5
    assert not (folder / "annot.checkpoint").exists()
    run(f"annotate --src src {FAKE} --classes 00 --out none")
    assert not (folder / "none.classes").exists()
    with (folder / "open").open("w") as file:
        run(f"annotate --src src {FAKE} --out /dev/fd/{file.fileno()}")  # which no checkpoint lies beside
    assert (folder / "open").read_text() == (folder / "annot").read_text()


@pytest.mark.parametrize("tagset", ["xpos", "upos"])
@KINDS
def test_what_is_written_is_read_again(run, folder, models, kind, suffix, tagset):
    """Trees alone give the words and the tags of the annotated text, without further options."""
    write(folder / "src", *hard_sentences.LINES)
    run(f"annotate --src src {FAKE} --trees {kind} --tagset {tagset} --out annot.gz --workers 2")
    trees = f"annot.{suffix}.gz"
    plain = [Sentence(words) for words in hard_sentences.TOKENS]
    read = list(add_trees("src", plain, TreeFile(trees)))
    assert [sentence.words for sentence in read] == list(hard_sentences.TOKENS)
    assert [sentence.tags for sentence in read] == [s.tags for s in read_annotated("annot.gz")]
    assert None not in [getattr(sentence, kind) for sentence in read]
    run(f"annotate --src src --trees {trees} --out again")
    assert list(read_annotated("again")) == list(read_annotated("annot.gz"))


def test_interrupted(run, folder, models):
    write(folder / "src", *LINES, "interrupt", *LINES)
    line = f"annotate --src src {FAKE} --trees dependency --out"
    run(f"{line} annot", 130)
    assert not {"annot", "annot.conllu"} & set(content(folder))
    checkpoint = folder / "annot.checkpoint"
    first, *_ = checkpoint.iterdir()
    good = first.read_bytes()
    first.write_bytes(b"damaged")
    assert "not a checkpoint; --fresh starts anew" in run(f"{line} annot", 2).err
    first.write_bytes(good)
    kept = " ".join(path.name for path in checkpoint.iterdir())  # later ones may have been begun
    chunks_done(models)
    run(f"{line} annot")
    again = chunks_done(models)
    assert again
    assert not [key for key in again if key in kept]
    assert not checkpoint.exists()
    run(f"{line} other --workers 2")
    for suffix in ("", ".conllu"):
        assert (folder / f"other{suffix}").read_bytes() == (folder / f"annot{suffix}").read_bytes()


def test_tags_of_a_file_of_trees(run, folder):
    write(folder / "src", "a (", "", "b")
    trees = ("(S (X a) (-LRB- -LRB-))", "", "(S (Y b))")
    write(folder / "trees", *trees)
    assert run("annotate --src src --trees trees").out == "a (\tX -LRB-\n\nb\tY\n"
    write(folder / "trees", *trees[:2], "(S (Y c))")
    said = run("annotate --src src --trees trees", 2).err
    assert said == "trees:3: token 1 of the tree is 'c', of the sentence 'b'\n"


def test_given_tags_reach_the_parser(run, folder, models):
    run(f"annotate --src src --pos pos {FAKE} --trees constituency --out annot")
    assert (folder / "annot.trees").read_text().startswith("(ROOT (D the) (N dog) (V barks))\n")
    assert next(read_annotated("annot")).tags == ("D", "N", "V")


def test_train_and_apply_tag_raw_tokens(run, folder, models, refuses):
    run(f"{BTG} --pos stanza {FAKE}")
    remembered = {"trees": None, "tagset": "xpos", "tagged": False, "folder": str(models)}
    assert json.loads((folder / "model/model.json").read_text())["stanza"] == remembered
    expected = run(f"{ORDER} --src src").out
    assert len(expected.splitlines()) == len(LINES)
    run(f"annotate --src src {FAKE} --out annot")
    chunks_done(models)
    assert run(f"{ORDER} --annot annot").out == expected
    assert not chunks_done(models)  # tags are there: no Stanza
    run(f"{BTG} --model given --annot annot".replace("--src src ", ""))
    given, expected_weights = (content(folder / name)["weights.safetensors"] for name in ("given", "model"))
    assert given == expected_weights
    assert json.loads((folder / "given/model.json").read_text())["stanza"] is None
    order = f"{ORDER} --model given --src src"
    refuses(order, "the model needs POS tags (--pos), and none are given\n")
    assert run(f"{order} --pos stanza {FAKE}").out == expected


def test_training_tags_only_what_it_needs(run, models):
    run(f"{BTG} --pos stanza {FAKE} --limit 1")
    assert len(chunks_done(models)) == 1
    run(f"{BTG} --pos stanza {FAKE} --cross-fit 2 --cross-fit-out features")
    assert len(chunks_done(models)) > 1


def test_model_that_needs_trees_made_from_given_tags(run, models, refuses):
    run(f"{BTG} --pos pos --trees dependency {FAKE}")
    reason = "the model's trees are made from given POS tags (--pos), and none are given\n"
    refuses(f"{ORDER} --src src --stanza-dir models", reason)
    run(f"{ORDER} --src src --pos pos --stanza-dir models")


@KINDS
def test_models_of_trees_parse_raw_tokens(run, models, kind, suffix):
    run(f"{TRAIN} --method rvnn --trees {kind} {FAKE}")
    expected = run(f"{ORDER} --src src --stanza-dir models").out
    assert [len(line.split()) for line in expected.splitlines()] == [len(line.split()) for line in LINES]
    run(f"annotate --src src {FAKE} --trees {kind} --out annot")
    assert run(f"{ORDER} --annot annot --trees annot.{suffix}").out == expected


def test_a_remembered_folder_that_is_gone(run, folder, models):
    run(f"{BTG} --pos stanza {FAKE}")
    models.rename(folder / "moved")
    assert "folder of Stanza" not in run(f"{ORDER} --src src --stanza-dir moved").err
    write(folder / "src")
    assert run(f"{ORDER} --src src").err == (
        f"{models}: the folder of Stanza's models that the model was trained with is not there: "
        "Stanza's own folder is used; --stanza-dir names another\n"
    )
