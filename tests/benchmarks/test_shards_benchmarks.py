"""The benchmarks of shards on next to nothing; without Ray, which is tested elsewhere."""

import contextlib
import json

import pytest

from benchmarks import driver, on_paper, shards
from benchmarks.process import Cost
from preorder.cli import main
from preorder.shards.run import in_threads
from tests.support.tiny_model import train_tiny


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Give a function that runs the benchmark, whose commands run here, without Ray; ``after`` each."""
    train_tiny(tmp_path, classes=0)
    commands = []

    def bench(after=lambda: None):
        def run(command):
            commands.append(" ".join(command[3:]))
            assert main(commands[-1].partition(" --engine")[0].split()) == 0
            after()
            return Cost(0.5, 2.0, 1_000_000)

        monkeypatch.setattr(shards, "run", run)
        monkeypatch.setattr(shards, "_cluster", lambda *_: contextlib.nullcontext("there:1"))
        given = f"--text {tmp_path}/src --model {tmp_path}/model --folder {tmp_path} --lines 100 --shards 7"
        assert shards.main([*given.split(), "--json"]) == 0
        return commands

    return bench


def test_shards(bench, capsys):
    commands = bench()
    results = json.loads(capsys.readouterr().out)["results"]
    assert [(result["same"], result["start"]) for result in results] == [(True, 2.0)] * 4 + [(True, None)]
    assert [command.partition("--engine ")[2] for command in commands[-3:]] == [
        "ray",
        "ray",
        "ray --address there:1",
    ]
    assert shards.Result(**results[0]).row() == ("one process", "2.0", "2.0", "50", "1", "yes")


def test_other_bytes_are_told(bench, tmp_path, capsys):
    def spoil():
        for path in tmp_path.glob("*/out/000003"):
            path.write_text("")

    bench(spoil)
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["same"] for result in results] == [True, True, False, False, False]
    assert shards.Result(**results[-1]).row()[-1] == "NO"


def test_shards_without_a_text(tmp_path, capsys):
    (tmp_path / "empty").touch()
    for name, reason in ("none", "cannot be read: No such file or directory"), ("empty", "the file is empty"):
        assert shards.main(f"--text {tmp_path}/{name} --model {tmp_path}/model".split()) == 2
        assert capsys.readouterr().err == f"{tmp_path}/{name}: {reason}\n"


def test_the_driver(monkeypatch, capsys):
    monkeypatch.setattr(driver, "on_ray", lambda options, facts, *run: in_threads(1, *run))
    assert driver.main(["--shards", "30", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["run"].startswith("30 shards, ")
    assert [result["step"].split()[0] for result in printed["results"]] == ["find", "look", "hand"]
    assert driver.Result("x", 1.4, 2000.0).row() == ("x", "1", "2,000")


def test_on_paper(capsys):
    """By hand: 10⁹ lines of 36 µs are 10 hours, and 1,000 shards of 7.2 s more are 2."""
    given = "--line 36 --overhead 7200 --read 10 --written 20 --driver 500 --cores 1"
    assert on_paper.main([*given.split(), "--json"]) == 0
    first, _, last = json.loads(capsys.readouterr().out)["results"]
    assert first.pop("bytes_a_second") == pytest.approx(30e9 / 86400)
    assert first == {
        "lines": 10**9,
        "shards": 1000,
        "core_hours": 12.0,
        "machines": 1,
        "read": 1e10,
        "written": 2e10,
        "driver": 0.5,
    }
    assert (last["shards"], last["machines"]) == (100_000, 50)
    assert on_paper.main([]) == 0
    assert "100,000,000,000" in capsys.readouterr().out
