"""A preorderer with attachment: in use, on disk, and on the command line."""

import json

import pytest

from preorder.cli import main
from preorder.data.errors import DataError
from preorder.data.types import Sentence
from preorder.methods.model_directory import load_model

LINE = "S1 the V1 S2 the"  # articles have no link; the verb goes last


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    lines = [f"S{i % 7} the V{i % 5} S{i % 3} the" for i in range(120)]
    for name, text in (("src", lines), ("align", ["0-0 2-2 3-1"] * len(lines))):
        (folder / name).write_text("".join(f"{line}\n" for line in text))
    return folder


@pytest.fixture(scope="module")
def model(data):
    path = str(data / "model")
    train = ["train", "--method", "btg", "--src", str(data / "src"), "--align", str(data / "align")]
    options = ["--model", path, "--classes", "0", "--attach"]
    fold = ["--cross-fit", "2", "--cross-fit-out", str(data / "crossed")]
    assert main([*train, *options, *fold]) == 0
    return path


def test_tokens_without_links_stay_beside_their_neighbours(model):
    preorderer = load_model(model).preorderer
    sentences = [Sentence(tuple(LINE.split())), Sentence(()), Sentence(("S1",))] * 3
    orders = preorderer.order(sentences, threads=2)
    assert orders[0].apply(sentences[0].words) == tuple("S1 the S2 the V1".split())
    assert orders == preorderer.order(sentences)
    assert [tree.permutation for tree in preorderer.trees(sentences)] == orders


def test_cross_fitted_lines_are_attached_too(data, model):  # the model's training wrote them
    assert (data / "crossed").read_text().splitlines()[0] == "S0￨0 the￨1 V0￨4 S0￨2 the￨3"


def test_evaluates_over_all_tokens(data, model, capsys):
    positions = str(data / "positions")
    src, align = str(data / "src"), str(data / "align")
    assert main(["apply", "--model", model, "--src", src, "--format", "positions", "--out", positions]) == 0
    assert main(["evaluate", "--align", align, "--positions", positions, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["all_tokens"]["tau"] == 1


def test_damaged_weights(model, monkeypatch):
    monkeypatch.setattr("preorder.methods.unaligned.links.BITS", 3)
    with pytest.raises(DataError, match="not the weights of a predictor of links"):
        load_model(model)


def test_no_n_best(data, model, capsys):
    assert main(["apply", "--model", model, "--src", str(data / "src"), "--n-best", "2"]) == 2
    assert capsys.readouterr().err.endswith("it finds one order only, no n-best\n")
