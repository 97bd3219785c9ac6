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


VARIED = [
    ("a b c", "DT NN VB", "0-2 1-0 2-1"),
    ("b a c", "NN DT VB", "0-0 1-2 2-1"),
    ("c d", "VB IN", "0-1 1-0"),
] * 20


@pytest.mark.parametrize("form", ["{}/名詞", "x-{}", "n|{}|y"])
@pytest.mark.parametrize("output", ["positions", "tree"])  # in blocks, and sentence by sentence
def test_of_two_tagsets_in_a_file_the_one_that_the_model_knows_is_read(form, output, tmp_path, capsys):
    """Also where only some tags, and late ones, are of two; a tag whose parts are all known stays unknown."""
    words, tags, links = zip(*VARIED, strict=True)
    preorder.train(words, links, tags=tags, iterations=4, classes=0).save(str(tmp_path / "model"))
    of_two = [" ".join(map(form.format, line.split())) for line in tags]
    orders = []
    for given in (tags, of_two, [*tags[:40], *of_two[40:]], ["NN/VB DT", *tags[1:]]):
        sources = [" ".join("?" * len(line.split())) for line in given]
        files = [
            f"--{name}={write(tmp_path / name, *lines)}" for name, lines in (("src", sources), ("pos", given))
        ]
        command = ["apply", "--model", str(tmp_path / "model"), *files, "--format", output]
        assert main([*command, "--out", str(tmp_path / "out")]) == 0
        orders.append((tmp_path / "out").read_text().splitlines())
    assert orders[0] == orders[1] == orders[2]
    assert len(set(orders[0])) > 2
    assert "another tagset" not in capsys.readouterr().err


@pytest.mark.parametrize("method", ["btg", "neural-btg"])
def test_which_tags_a_model_knows(method):
    if method == "neural-btg":
        pytest.importorskip("torch")
    model = preorder.train(WORDS, LINKS, method, tags=OWN, iterations=2)._model.preorderer
    assert [tag for tag in "DT NN VB IN DET NOUN".split() if model.knows_tag(tag)] == "DT NN VB IN".split()
    if method == "neural-btg":
        assert set(model.tag_names) == set("DT NN VB IN".split())
