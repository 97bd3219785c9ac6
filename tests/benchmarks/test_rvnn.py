"""The benchmark runs, and what it compares is the same."""

import re

import pytest

pytest.importorskip("torch")

from benchmarks.rvnn import main


def test_compares_and_times(tmp_path, capsys):
    lines = ["(S (NP (NN a) (NN b)) (VP (VB c) (NP (NN d))))", "(S (NN a) (VP (VB b) (NN c)))"] * 8
    (tmp_path / "trees").write_text("".join(f"{line}\n" for line in lines))
    main([str(tmp_path / "trees"), "--size", "8"])
    out = capsys.readouterr().out
    assert "a minibatch of 8 sentences with 24 nodes" in out
    assert "16 sentences, one thread" in out
    assert re.search(r"labels and gradients +│ +[\d.]+ ms │ +[\d.]+ ms │ +\d+×", out)
