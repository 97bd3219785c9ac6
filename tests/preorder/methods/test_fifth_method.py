"""A method is a row of the registry and a folder: a toy one goes through all commands."""

import sys
from dataclasses import dataclass
from typing import Annotated

import pytest

import preorder
from preorder import methods
from preorder.errors import UsageError
from preorder.learning.options import options_of
from preorder.methods.registry import METHODS, Method, all_options
from tests.support.running import run_command

MODEL = '''
"""Turns all sentences around, if most pairs of links in the training text cross."""

import numpy as np

from preorder.methods.base import Preorderer


class Reverser(Preorderer):
    method = "toy"
    layers = frozenset()

    def __init__(self, share, threshold):
        self.share, self.threshold = share, threshold

    @classmethod
    def fit(cls, training):
        bitext, options, _, _, initial = training
        found = [
            (i - k) * (j - m) < 0
            for alignment in bitext.alignments
            for i, j in alignment.links
            for k, m in alignment.links
            if i < k
        ]
        share = (sum(found) + (initial.share if initial else 0)) / (len(found) + (initial is not None))
        return cls(share, options.threshold), {"options": {"threshold": options.threshold}, "weights": 1}

    @classmethod
    def together(cls, models):
        return cls(sum(model.share for model in models) / len(models), models[0].threshold)

    def _nodes(self, sentence, label):
        n = len(sentence)
        return np.array([(i, i + 1, n, label, 0) for i in range(n)], np.int32).reshape(n, 5)

    def parse(self, sentences, threads):
        inverts = self.share >= self.threshold
        nodes = [self._nodes(one, int(inverts)) for one in sentences]
        positions = [np.arange(len(one), dtype=np.int32)[:: -1 if inverts else 1] for one in sentences]
        return np.concatenate(nodes), np.concatenate(positions)

    def kbest(self, sentences, k, threads):
        likely = int(self.share >= self.threshold)
        both = (likely, self.share), (1 - likely, 1 - self.share)
        return [
            [(score, self._nodes(one, label)[:-1]) for label, score in both[: k if len(one) > 1 else 1]]
            for one in sentences
        ]

    def state(self):
        return {"threshold": self.threshold}, {"share": np.array([self.share])}

    def fixed_options(self):
        return {"threshold": self.threshold}

    @classmethod
    def from_state(cls, values, arrays):
        return cls(float(arrays["share"][0]), values["threshold"])
'''


@dataclass(frozen=True)
class ToyOptions:
    threshold: Annotated[float, "share of crossing pairs from which sentences are turned around", 1.0, 0] = (
        0.5
    )
    seed: int = 1
    threads: int = 1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a folder with the method and texts whose translations are turned around."""
    (tmp_path / "code/toy").mkdir(parents=True)
    (tmp_path / "code/toy/__init__.py").touch()
    (tmp_path / "code/toy/model.py").write_text(MODEL)
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path / "code")])
    row = Method(ToyOptions, "toy.model:Reverser", "turn sentences around", averages=True, keeps_folds=True)
    monkeypatch.setitem(METHODS, "toy", row)
    for name in ("toy", "toy.model"):
        monkeypatch.delitem(sys.modules, f"preorder.methods.{name}", raising=False)
    for name, line in (("src", "a b c\n\nd e\n"), ("align", "0-2 1-1 2-0\n\n0-1 1-0\n")):
        (tmp_path / name).write_text(line * 10)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """Give a function that runs a command, and returns its output, or what it says where it ends with 2."""

    def run(line, status=0):
        said = run_command(capsys, line, status)
        return said.err if status else said.out

    return run


TRAIN = "train -q --method toy --src src --align align --model"


@pytest.mark.parametrize(
    "more",
    [
        "",
        "--threshold 1 --seed 3 --lowercase",
        "--members 2",
        "--cross-fit 2 --cross-fit-out crossed",
        "--cross-fit 2 --cross-fit-out crossed --keep-folds",
        "--classes 2 --held-out 3",
    ],
)
def test_training(run, folder, more):
    run(f"{TRAIN} model {more}")
    assert preorder.load("model").positions(["x y z", ""]) == [(2, 1, 0), ()]
    if "crossed" in more:
        assert (folder / "crossed").read_text() == "a￨2 b￨1 c￨0\n\nd￨1 e￨0\n" * 10


def test_what_its_models_do(run, folder):
    run(f"{TRAIN} first")
    run(f"{TRAIN} model --init first")
    apply = "apply -q --model model --src src"
    expected = {
        "features": "a￨2 b￨1 c￨0\n\nd￨1 e￨0\n",
        "positions": "2 1 0\n\n1 0\n",
        "order": "2 1 0\n\n1 0\n",
        "text": "c b a\n\ne d\n",
        "tree": "<a <b c>>\n\n<d e>\n",
    }
    for name, lines in expected.items():
        assert run(f"{apply} --format {name} --threads 2") == lines * 10
        assert preorder.LineModel("model", name)(["a b c", "", "d e"]) == lines.split("\n")[:-1]
    best = run(f"{apply} --n-best 3 --format order").splitlines()[:4]
    assert best == ["0 ||| 2 1 0 ||| 1.000000", "0 ||| 0 1 2 ||| 0.000000", "1 |||  ||| 1.000000", best[3]]
    run("apply -q --model model --src src --out-dir shards")
    assert (folder / "shards/src").read_text() == expected["features"] * 10
    assert " 1.0000" in run("evaluate --align align --model model --src src")
    assert "preordered  c b a" in run("show --model model --src src")
    assert '"positions": [\n' in run("show --json --model model --src src --lines 1,3")
    model = preorder.train(["a b c"] * 9, ["0-2 1-1 2-0"] * 9, "toy", threshold=0.9)
    assert repr(model) == "<PreorderModel: toy, trained on 9 lines>"
    assert [order for _, order in model.n_best(["p q"], 2)[0]] == [(1, 0), (0, 1)]
    assert model.trees(["p q"])[0].nodes[0].inverted


def test_what_it_cannot_do_is_said(run):
    run(f"{TRAIN} model")
    assert run(f"{TRAIN} other --init model --threshold 0", 2).endswith("the model of --init has 0.5\n")
    assert run(f"{TRAIN} other --depth 2", 2) == "--depth is no option of --method toy\n"
    alone = "of method btg and neural-btg alone, not toy\n"
    assert run("apply --model model --src src --confidence-out c", 2) == f"--confidence-out: {alone}"
    assert run("evaluate --model model --src src --align align --calibration", 2) == f"--calibration: {alone}"
    with pytest.raises(UsageError, match="confidences`: of method btg and neural-btg alone, not toy"):
        preorder.load("model").confidences(["a b"])
    with pytest.raises(UsageError, match="depth is no option of method toy"):
        preorder.train(["a b"], ["0-0"], "toy", depth=2)


def test_help_knows_it(run):
    text = " ".join(run("train --help").split())
    assert "toy: turn sentences around" in text
    assert "options of --method toy: --threshold N share of crossing pairs" in text
    assert options_of(all_options())["threshold"].defaults == {"toy": 0.5}
