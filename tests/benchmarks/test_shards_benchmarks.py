"""The benchmarks of shards on next to nothing; without Ray, which is tested elsewhere."""

import json

import pytest

from benchmarks import shards
from benchmarks.common import Cost
from preorder.cli import main
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
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        given = f"--text {tmp_path}/src --model {tmp_path}/model --lines 100 --shards 7"
        assert shards.main([*given.split(), "--json"]) == 0
        return commands

    return bench


def test_shards_and_other_bytes_are_told(bench, tmp_path, capsys):
    commands = bench()
    results = json.loads(capsys.readouterr().out)["results"]
    assert [(result["same"], result["start"]) for result in results] == [(True, 2.0)] * 4
    assert [command.partition("--engine ")[2] for command in commands[-2:]] == ["ray", "ray"]
    assert shards.Result(**results[0]).row() == ("one process", "2.0", "2.0", "50", "1", "yes")
    bench(lambda: [path.write_text("") for path in tmp_path.glob("*/out/000003")])
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["same"] for result in results] == [True, True, False, False]
    assert shards.Result(**results[-1]).row()[-1] == "NO"
