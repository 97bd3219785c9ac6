"""The benchmark on next to nothing, alone and beside a stand-in for the other program."""

import json
import stat
import sys

import pytest

from benchmarks.btg import Result, main

PEER = """#!{python}
import sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
if "-output_model" in options:
    open(options["-output_model"], "w").write("x" * 1000)
else:
    with open(options["-input_annot"]) as lines, open(options["-output_result"], "w") as orders:
        for line in lines:
            print(*range(len(line.split("\\t")[0].split())), file=orders)
"""


@pytest.fixture
def data(tmp_path):
    """Write lines of ten tokens that are to be reversed."""
    words = [" ".join(f"w{(i * j) % 7}" for j in range(10)) for i in range(60)]
    for part in ("train", "held"):
        (tmp_path / f"xxyy.{part}.annot").write_text("".join(f"{w}\t{w}\t{w}\n" for w in words))
        links = " ".join(f"{i}-{9 - i}" for i in range(10))
        (tmp_path / f"xxyy.{part}.align").write_text(f"10-10 ||| {links}\n" * 60)
    return tmp_path


@pytest.fixture
def peer(tmp_path):
    path = tmp_path / "peer"
    path.write_text(PEER.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


FEW = ("--pairs", "xxyy", "--lines", "40", "--apply-lines", "150", "--threads", "2", "--repeat", "1")


@pytest.mark.slow
def test_both_programs(data, peer, capsys):
    peers = ("--topdown-btg-train", peer, "--topdown-btg-parse", peer)
    assert main([str(data), *FEW, *peers, "--json"]) == 0
    results = {r["name"]: r for r in json.loads(capsys.readouterr().out)["results"]}
    assert results["held-out tau_nakagawa"]["ours"] == 1
    assert results["held-out tau_nakagawa"]["theirs"] == 0
    assert results["the same model with one thread and more"]["ours"] == 1
    assert results["model"]["theirs"] == 0.001
    for name, result in results.items():
        assert result["ours"] > 0, name
        if result["theirs"] is not None and result["ratio"] is not None:
            assert result["ratio"] == pytest.approx(result["theirs"] / result["ours"])
    assert Result("xxyy", "model", "MB", 0.5, 2.0, 4.0).row() == (
        "xxyy",
        "model",
        "0.5000 MB",
        "2 MB",
        "4.0×",
    )
