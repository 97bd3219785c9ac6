"""A text with tags of another tagset than a model has learned from gets one warning, at every door."""

import pytest

import preorder
from preorder.cli import main
from tests.support.texts import write

WORDS = ["a b c d"] * 30
LINKS = ["0-0 1-2 2-1 3-3"] * 30
OWN, OTHER = ["DT NN VB IN"] * 30, ["DET NOUN VERB ADP"] * 30
WARNING = "text's POS tags (DET, NOUN, VERB) are of another tagset"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("tags") / "model")
    preorder.train(WORDS, LINKS, tags=OWN, iterations=2).save(path)
    return path


def apply(folder, directory, tags, *more):
    files = [f"--{name}={write(folder / name, *lines)}" for name, lines in (("src", WORDS), ("pos", tags))]
    assert main(["apply", "--model", directory, *files, *more, "--out", str(folder / "out")]) == 0


DOORS = {
    "apply": apply,
    "apply, sentence by sentence": lambda *given: apply(*given, "--format", "tree"),
    "API": lambda _, directory, tags: preorder.load(directory).positions(WORDS, tags=tags),
    "LineModel": lambda _, directory, tags: preorder.LineModel(directory, fields=2)(
        [f"{words}\t{line}" for words, line in zip(WORDS, tags, strict=True)]
    ),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("tags", [OWN, OTHER])
def test_another_tagset_gets_one_warning(door, tags, directory, tmp_path, caplog, capsys):
    preorder.api._orderer.cache_clear()
    DOORS[door](tmp_path, directory, tags)
    said = capsys.readouterr().err if "apply" in door else caplog.text
    assert said.count("another tagset") == said.count(WARNING) == (tags is OTHER)


@pytest.mark.parametrize("method", ["btg", "neural-btg"])
def test_which_tags_a_model_knows(method):
    if method == "neural-btg":
        pytest.importorskip("torch")
    model = preorder.train(WORDS, LINKS, method, tags=OWN, iterations=2)._model.preorderer
    assert [tag for tag in "DT NN VB IN DET NOUN".split() if model.knows_tag(tag)] == "DT NN VB IN".split()
    if method == "neural-btg":
        assert set(model.tag_names) == set("DT NN VB IN".split())
