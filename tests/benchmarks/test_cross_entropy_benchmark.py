"""The benchmark of the loss runs, and its ratio is that of its figures."""

import json

import pytest

pytest.importorskip("onmt", reason="OpenNMT-py is not installed: see the README")

import torch

from benchmarks import cross_entropy

SMALL = ("--tokens", "9", "--size", "4", "--words", "7", "--rounds", "1")


@pytest.fixture(autouse=True)
def _threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_both_precisions(capsys):
    assert cross_entropy.main([*SMALL, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["precision"] for result in results] == ["float32", "bfloat16"]
    for result in results:
        assert result["ratio"] == pytest.approx(result["ours"] / result["torch"])


def test_prints_a_table(capsys):
    assert cross_entropy.main(SMALL) == 0
    table = " ".join(capsys.readouterr().out.split())
    assert "9 tokens of 4, 7 words, one thread" in table
    assert "bfloat16" in table


def test_bad_numbers(capsys):
    with pytest.raises(SystemExit, match="2"):
        cross_entropy.main(["--tokens", "0"])
    assert "--tokens: not a whole number from 1" in capsys.readouterr().err
