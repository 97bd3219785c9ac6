"""A method is a row of the registry and a folder: a toy one goes through all commands."""

import sys
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import pytest

import preorder
from preorder import methods
from preorder.learning.options import options_of
from preorder.methods.registry import METHODS, Method, all_options
from tests.support.running import run_command
from tests.support.texts import write

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
        found = [
            (i - k) * (j - m) < 0
            for alignment in training.bitext.alignments
            for i, j in alignment.links
            for k, m in alignment.links
            if i < k
        ]
        options = {"threshold": training.options.threshold}
        return cls(sum(found) / len(found), **options), {"options": options, "weights": 1}

    @classmethod
    def together(cls, models):
        return cls(sum(model.share for model in models) / len(models), models[0].threshold)

    def parse(self, sentences, threads):
        inverts = self.share > self.threshold
        nodes = [(i, i + 1, len(one), inverts, 0) for one in sentences for i in range(len(one))]
        positions = [np.arange(len(one), dtype=np.int32)[:: -1 if inverts else 1] for one in sentences]
        return np.array(nodes, np.int32), np.concatenate(positions)

    def kbest(self, sentences, k, threads):
        raise NotImplementedError

    def state(self):
        return {"threshold": self.threshold}, {"share": np.array([self.share])}

    @classmethod
    def from_state(cls, values, arrays):
        return cls(float(arrays["share"][0]), values["threshold"])
'''


@dataclass(frozen=True)
class ToyOptions:
    threshold: Annotated[float, "share of crossing pairs above which it turns around", 1.0, 0] = 0.5
    seed: int = 1
    threads: int = 1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a folder with the method and a text of which each other translation is turned around."""
    (tmp_path / "code/toy").mkdir(parents=True)
    (tmp_path / "code/toy/__init__.py").touch()
    (tmp_path / "code/toy/model.py").write_text(MODEL)
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path / "code")])
    row = Method(ToyOptions, "toy.model:Reverser", "turn sentences around", averages=True, keeps_folds=True)
    monkeypatch.setitem(METHODS, "toy", row)
    for name in ("toy", "toy.model"):
        monkeypatch.delitem(sys.modules, f"preorder.methods.{name}", raising=False)
    for name, line in (("src", "a b c\nd e\n"), ("align", "0-2 1-1 2-0\n0-0 1-1\n")):
        (tmp_path / name).write_text(line * 10)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    return partial(run_command, capsys)


TRAIN = "train -q --method toy --src src --align align --model"


FORMATS = {
    "features": ["a￨2 b￨1 c￨0", "", "d￨1 e￨0"],
    "positions": ["2 1 0", "", "1 0"],
    "order": ["2 1 0", "", "1 0"],
    "text": ["c b a", "", "e d"],
    "tree": ["<a <b c>>", "", "<d e>"],
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats(run, folder, name):
    run(f"{TRAIN} model")
    lines = ["a b c", "", "d e"]
    write(folder / "lines", *lines)
    expected = FORMATS[name]
    assert run(f"apply -q --model model --src lines --format {name}").out.splitlines() == expected
    assert preorder.LineModel("model", name)(lines) == expected


@pytest.mark.parametrize(("threshold", "positions"), [(0.49, (2, 1, 0)), (0.51, (0, 1, 2))])
def test_cross_fitting_and_the_mean_of_its_models(run, folder, threshold, positions):
    """A fold is of the lines that are turned around, or of the others: the mean's share is a half."""
    run(f"{TRAIN} model --cross-fit 2 --cross-fit-out crossed --keep-folds --threshold {threshold}")
    assert (folder / "crossed").read_text() == "a￨0 b￨1 c￨2\nd￨1 e￨0\n" * 10
    assert preorder.load("model").positions(["x y z"]) == [positions]


def test_what_it_cannot_do_is_said(run):
    run(f"{TRAIN} model")
    assert run(f"{TRAIN} other --depth 2", 2).err == "--depth is no option of --method toy\n"
    alone = "of method btg and neural-btg alone, not toy\n"
    assert run("apply --model model --src src --confidence-out c", 2).err == f"--confidence-out: {alone}"


def test_help_knows_it(run):
    text = " ".join(run("train --help").out.split())
    assert "toy: turn sentences around" in text
    assert "options of --method toy: --threshold N share of crossing pairs" in text
    assert options_of(all_options())["threshold"].defaults == {"toy": 0.5}
