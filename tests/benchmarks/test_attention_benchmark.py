"""The benchmark of attention runs, and its ratios are those of its figures."""

import json

import pytest
import torch

from benchmarks.attention import kept_bytes, main

SMALL = ("--lengths", "3", "5", "--tokens", "20", "--size", "8", "--heads", "2", "--repeat", "1")


def test_every_way_at_every_length(capsys):
    assert main([*SMALL, "--rounds", "1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["run"].startswith("20 tokens of 8 in 2 heads, k 4, fp32")
    results = printed["results"]
    ways = {result["way"] for result in results}
    assert {"ours", "torch, no relative term", "OpenNMT-py, one part"} < ways
    assert [result["n"] for result in results] == [3] * len(ways) + [5] * len(ways)
    for result in results:
        (without,) = (r for r in results if r["n"] == result["n"] and r["way"] == "torch, no relative term")
        assert result["slower"] == pytest.approx(result["seconds"] / without["seconds"])
        assert result["larger"] == pytest.approx(result["memory"] / without["memory"])


def test_heads_share_a_state(capsys):
    assert main([*SMALL, "--heads", "3"]) == 2
    assert "--size 8 is no multiple of --heads 3" in capsys.readouterr().err


def test_counts_what_autograd_keeps_once():
    x = torch.ones(10, requires_grad=True)
    assert kept_bytes(lambda: (x * x) * (x * 1.0)) == 3 * 40
