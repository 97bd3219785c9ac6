"""``preorder train --method neural-btg``, end to end, on a language that puts its verbs last."""

import json

import pytest

from tests.support.texts import write

pytest.importorskip("torch")

TRAIN = "train --method neural-btg --src src --align align --classes 4 --model model --iterations 3"
TRAIN += " --minibatch 8 --hidden 12 --depth 1 --learning-rate 0.03"
ORDER = "apply --model model --src test --format order"


@pytest.fixture(autouse=True)
def description(tmp_path):
    """Write the files; give a function that reads ``model.json``."""
    write(tmp_path / "src", *(f"S{i % 7} V{i % 5} O{i % 3}" for i in range(120)))
    write(tmp_path / "align", *["0-0 1-2 2-1"] * 120)
    write(tmp_path / "test", "S1 V1 O1", "", "S3 V4 new", "S1")
    return lambda: json.loads((tmp_path / "model/model.json").read_text())


def test_learns_and_applies(run, description):
    run(TRAIN)
    written = description()
    assert written["method"] == "neural-btg"
    assert written["needs"] == ["classes"]
    assert all({"loss", "errors", "tau_nakagawa"} == one.keys() for one in written["training"]["history"])
    for threads in "12":
        assert run(f"{ORDER} --threads {threads}").out.splitlines() == ["0 2 1", "", "0 2 1", "0"]
    assert run(f"{ORDER} --format tree").out.splitlines()[0].count("<") == 1


def test_the_models_of_the_folds_vote(run, description):
    run(f"{TRAIN} --cross-fit 2 --cross-fit-out features --keep-folds --ensemble none")
    written = description()
    assert (len(written["state"]["members"]), written["training"]["folds"]) == (2, 2)
    assert run(ORDER).out.startswith("0 2 1\n")
