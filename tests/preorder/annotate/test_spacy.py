"""Trees by spaCy: a small parser made here."""

import shutil
from types import SimpleNamespace

import pytest

import preorder
from preorder.annotate import spacy
from preorder.annotate.options import AnnotatorOptions
from preorder.annotate.stanza import add_layers
from preorder.cli import main
from preorder.data import Sentence
from tests.support.running import annotate_here
from tests.support.texts import write

ON_GPU = ["--lang", "xx", "--stanza-device", "gpu"]
LINES = ["a cat sees the dog", "", "dogs run", "the old cat sleeps here"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model that has learned nothing: its trees are odd, but trees."""
    library = pytest.importorskip("spacy")
    from spacy.training import Example

    nlp = library.blank("xx")
    nlp.add_pipe("morphologizer")
    nlp.add_pipe("parser")
    words = "the cat sees the dog".split()
    given = {"words": words, "pos": ["DET", "NOUN", "VERB", "DET", "NOUN"], "heads": [1, 2, 2, 4, 2]}
    given["deps"] = ["det", "nsubj", "ROOT", "det", "obj"]
    example = Example.from_dict(nlp.make_doc(" ".join(words)), given)
    nlp.initialize(lambda: [example])
    folder = tmp_path_factory.mktemp("spacy") / "xx_small"
    nlp.to_disk(folder)
    return folder


def test_words_keep_their_place_and_every_tree_has_one_root(folder):
    sentences = [Sentence(tuple(line.split())) for line in LINES]
    options = AnnotatorOptions("xx", "dependency", "upos", spacy=str(folder))
    layered = list(add_layers(sentences, options, workers=0))
    assert [one.words for one in layered] == [one.words for one in sentences]
    assert [len(one.tags) for one in layered] == [5, 0, 2, 5]
    assert [list(one.tree.heads).count(-1) for one in layered] == [1, 0, 1, 1]
    alone = [next(add_layers([one], options, workers=0)) for one in sentences]
    assert layered == alone


def test_a_model_is_the_same_wherever_it_is_installed(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "elsewhere", copy_function=shutil.copyfile)
    assert spacy.checksum(str(copy)) == spacy.checksum(str(folder))
    (copy / "meta.json").write_text("{}")
    assert spacy.checksum(str(copy)) != spacy.checksum(str(folder))


def test_of_several_roots_the_last_is_the_root():
    heads = [1, 1, 3, 3, 3]
    tokens = [SimpleNamespace(i=i, text=f"w{i}", dep_="obj", pos_="X", tag_="", morph="") for i in range(5)]
    for token, head in zip(tokens, heads, strict=True):
        token.head = tokens[head]
    words = spacy._words(tokens)
    assert [word.head for word in words] == [2, 4, 4, 0, 4]
    assert [word.deprel for word in words] == ["obj", "parataxis", "obj", "root", "obj"]


def test_a_model_parses_again_what_it_was_trained_with(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "src", *LINES)
    write(tmp_path / "links", "0-0 1-1 2-4 3-2 4-3", "", "0-1 1-0", "0-0 1-1 2-2 3-4 4-3")
    shutil.copytree(folder, "xx_here")
    line = ["--src", "src", "--trees", "dependency", "--spacy-model", "./xx_here/"]
    train = ["train", "--align", "links", "--held-out", "0", "--iterations", "1"]
    with monkeypatch.context() as patch:
        annotate_here(patch)
        assert main(["annotate", *line, "--out", "annot"]) == 0
        assert main([*train, *line, "--model", "model"]) == 0
    assert "# tagset = upos" in (tmp_path / "annot.conllu").read_text()
    assert preorder.load("model")._model.preorderer.method == "rvnn"  # trees are to come, or are in a file
    assert main([*train, "--src", "src", "--trees", "annot.conllu", "--model", "other"]) == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert main(["apply", "--model", "../model", "--src", "../src", "--out", "../one"]) == 0
    monkeypatch.chdir(tmp_path)
    line = ["--src", "src", "--trees", "annot.conllu"]
    assert main(["apply", "--model", "other", *line, "--out", "two"]) == 0
    assert (tmp_path / "one").read_text() == (tmp_path / "two").read_text()
    assert [len(text.split()) for text in (tmp_path / "one").read_text().splitlines()] == [5, 0, 2, 5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--trees", "constituency", "--spacy-model", "{}"], "spaCy has no constituency trees"),
        (["--trees", "dependency", "--spacy-model", "json"], "json: neither a folder of a spaCy model"),
        (["--trees", "dependency", "--spacy-model", "./none"], "none: neither a folder of a spaCy model"),
        (["--trees", "dependency", "--spacy-model", "{}/../1.0"], "give --lang, such as en or zh-hans"),
        (["--trees", "dependency", "--spacy-model", "{}/../damaged"], "spaCy cannot load"),
        (["--trees", "dependency", "--spacy-model", "{}/../no_parser"], "the model has no parser"),
        (["--trees", "dependency", "--spacy-model", "{}", *ON_GPU], "Cannot use GPU, CuPy is not installed"),
    ],
)
def test_models_that_cannot_be_used(folder, tmp_path, capsys, monkeypatch, options, message):
    import spacy as library

    annotate_here(monkeypatch)
    write(tmp_path / "src", "a b")
    library.blank("xx").to_disk(folder.parent / "no_parser")
    (folder.parent / "damaged").mkdir(exist_ok=True)
    write(folder.parent / "damaged/config.cfg", "[nlp]", 'lang = "xx"', 'pipeline = ["parser"]')
    options = [option.format(folder) for option in options]
    assert main(["annotate", "--src", f"{tmp_path}/src", *options, "--out", f"{tmp_path}/annot"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
