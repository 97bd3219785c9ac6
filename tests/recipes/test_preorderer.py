"""The main job with a preorderer that is there: as it is, without links, and trained further."""

import json
from dataclasses import replace

import pytest

from preorder.api import train
from preorder_recipes import run
from preorder_recipes.configuration import read_system
from preorder_recipes.pipeline.job import Job
from preorder_recipes.pipeline.prepare import needs_links, prepare
from preorder_recipes.synthetic import generate
from tests.recipes.test_run import command

PARTS = ("train", "dev", "test")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bitext") / "data"
    generate.main(["--out", str(folder), "--pairs", "60", "--held", "8"])
    return folder


@pytest.fixture(scope="module")
def model(data, tmp_path_factory):
    """A small preorderer that has learned from other pairs of the language."""
    folder = tmp_path_factory.mktemp("other")
    generate.main(["--out", str(folder / "data"), "--pairs", "200", "--held", "1", "--seed", "7"])
    sources, links = ((folder / f"data/train.{end}").read_text().splitlines() for end in ("svo", "align"))
    train(sources, links, "btg", classes=10, iterations=3).save(str(folder / "model"))
    return folder / "model"


@pytest.fixture
def no_aligner(tmp_path, monkeypatch):
    """Let the programs of a run find an eflomal that has no program."""
    (tmp_path / "fake/eflomal").mkdir(parents=True)
    (tmp_path / "fake/eflomal/__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "fake"))


def programs(folder):
    """Return the first two words of each command of a run."""
    lines = (folder / "commands.sh").read_text().split('cd "$(dirname "$0")"\n')[1].splitlines()
    return [" ".join(line.split()[:2]) for line in lines]


@pytest.mark.parametrize(
    ("system", "changes", "expected"),
    [
        ("plain", {}, False),
        ("preorder_relative", {}, False),
        ("plain_predicted_text", {}, False),
        ("exgre_predicted", {}, False),
        ("gold", {}, True),
        ("preorder_gold_trained", {}, True),
        ("exgre", {}, True),
        ("preorder_relative", {"lambda_align": 0.1}, True),
    ],
)
def test_which_systems_need_links(tmp_path, model, system, changes, expected):
    systems = (read_system(system, "tiny"),)
    job = Job(tmp_path, "svo", "sov", "tiny", systems, (1,), "cpu", changes=changes, preorderer=str(model))
    assert needs_links(job) == expected
    assert needs_links(replace(job, adapt=True))
    assert needs_links(replace(job, preorderer=None))
    if not expected:
        steps = prepare(replace(job, has_links=False), None, 5, ())
        made = [step for phase in steps for chain in phase for step in chain]
        words = [word for step in made for word in step.command]
        assert not {"align", "gold", "evaluate", "train"} & {*words}
        assert all(str(model) in step.reads for step in made if "apply" in step.command)
        assert not any(word.endswith(".align") for word in words)


def test_a_given_order_without_an_aligner(one_thread, data, model, no_aligner, tmp_path, capsys):
    line = command(data, tmp_path / "run", "--stage", "prepare")
    assert run.main(line) == 2
    assert "eflomal" in capsys.readouterr().err  # as it cannot be run
    line = command(data, tmp_path / "given", "--stage", "prepare", "--preorderer", str(model))
    assert run.main(line) == 0
    assert "nothing is aligned, and no order is evaluated" in capsys.readouterr().err
    assert programs(tmp_path / "given") == ["python -m", *["preorder apply"] * 3]
    for part in PARTS:
        features = (tmp_path / f"given/data/{part}.svo.predicted.features").read_text().splitlines()
        words = [" ".join(token.partition("￨")[0] for token in line.split()) for line in features]
        assert words == (tmp_path / f"given/data/{part}.svo").read_text().splitlines()
    assert run.main(line) == 0
    assert programs(tmp_path / "given")[4:] == []  # nothing is done again


@pytest.mark.slow
def test_from_end_to_end_without_links(one_thread, data, model, no_aligner, tmp_path, capsys):
    line = command(data, tmp_path, "--preorderer", str(model))
    assert run.main(line) == 0
    printed = capsys.readouterr().out
    results = json.loads((tmp_path / "results.json").read_text())
    assert list(results["systems"]) == ["baseline_absolute_relative", "preorder_relative"]
    assert results["preorderer"] == {"model": str(model), "adapted": False}
    assert all("tau" not in figures for figures in results["systems"].values())
    page = (tmp_path / "results.md").read_text()
    for text in (page, printed):
        assert "tau" not in text
        assert "predicted orders: by the preorderer model, not trained on this text" in " ".join(text.split())
    assert "preorder_relative" in (tmp_path / "report.html").read_text()
    assert not [*tmp_path.rglob("*.align"), *(tmp_path / "scores").glob("predicted*")]
    script = (tmp_path / "commands.sh").read_text()
    assert run.main([*line, "--stage", "score"]) == run.main(line) == 0  # nothing is done again
    assert (tmp_path / "commands.sh").read_text() == script


@pytest.mark.slow
def test_adapted_on_the_links_of_the_pair(one_thread, data, model, tmp_path, capsys):
    line = command(data, tmp_path, "--given-alignment", "--systems", "preorder_relative", "--cross-fit", "2")
    line += ["--stage", "prepare", "--preorderer", str(model), "--adapt", "--preorder", "--iterations", "2"]
    assert run.main(line) == 0
    script = (tmp_path / "commands.sh").read_text()
    assert f"preorder train --init {model} --lang svo --model preorderer" in script
    assert "--cross-fit 2" in script
    description = json.loads((tmp_path / "preorderer/model.json").read_text())
    assert description["training"]["init"]["training"]["trained"] > 0
    assert description["training"]["options"]["iterations"] == 2
    evaluated = json.loads((tmp_path / "scores/predicted.json").read_text())
    assert evaluated["tau"] > evaluated["monotone"]["tau"]
    assert len((tmp_path / "data/train.svo.predicted.features").read_text().splitlines()) == 60
