"""``preorder train --method neural-btg``, end to end, on a language that puts its verbs last."""

import json

import pytest

pytest.importorskip("torch")

from preorder.cli import main

SIZE = ["--iterations", "3", "--minibatch", "8", "--hidden", "12", "--depth", "1", "--learning-rate", "0.03"]


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    lines = [f"S{i % 7} V{i % 5} O{i % 3}" for i in range(120)]
    (folder / "src").write_text("".join(f"{line}\n" for line in lines))
    (folder / "align").write_text("0-0 1-2 2-1\n" * len(lines))
    files = ["--src", str(folder / "src"), "--align", str(folder / "align"), "--classes", "4"]
    return ["train", "--method", "neural-btg", *files, *SIZE]


def test_learns_and_applies(arguments, tmp_path, capsys):
    expected = tmp_path / "expected"
    assert main([*arguments, "--model", str(expected)]) == 0
    description = json.loads((expected / "model.json").read_text())
    assert description["method"] == "neural-btg"
    assert description["needs"] == ["classes"]
    assert all({"loss", "errors", "tau_nakagawa"} == one.keys() for one in description["training"]["history"])

    source = tmp_path / "test"
    source.write_text("S1 V1 O1\n\nS3 V4 new\nS1\n")
    for threads in "12":
        command = ["apply", "--model", str(expected), "--src", str(source), "--threads", threads]
        assert main([*command, "--format", "order"]) == 0
        assert capsys.readouterr().out.splitlines() == ["0 2 1", "", "0 2 1", "0"]
    assert main(["apply", "--model", str(expected), "--src", str(source), "--format", "tree"]) == 0
    assert capsys.readouterr().out.splitlines()[0].count("<") == 1


def test_the_models_of_the_folds_vote(arguments, tmp_path, capsys):
    model, out = tmp_path / "model", tmp_path / "features"
    folds = ["--cross-fit", "2", "--cross-fit-out", str(out), "--keep-folds"]
    assert main([*arguments, "--model", str(model), *folds, "--ensemble", "none"]) == 0
    state = json.loads((model / "model.json").read_text())
    assert (len(state["state"]["members"]), state["training"]["folds"]) == (2, 2)
    (tmp_path / "test").write_text("S1 V1 O1\n")
    capsys.readouterr()
    assert main(["apply", "--model", str(model), "--src", str(tmp_path / "test"), "--format", "order"]) == 0
    assert capsys.readouterr().out == "0 2 1\n"
