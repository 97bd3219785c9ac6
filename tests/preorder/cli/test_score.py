"""``preorder score``, end to end."""

import io
import json
import re
import shutil
import sys

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from preorder.cli import main
from tests.support.texts import write

REFERENCE = ("the cat sat on the mat .", "", "it is cold , isn't it ?", "a b c d e f")
GOOD = ("the cat sat on a mat .", "", "it is cold , isn't it ?", "a b c f d e")
KEYS = {"systems", "signature", "runs", "intervals", "significance", "pairwise", "best"}
BAD = ("on the mat sat a cat .", "x", "", "f e d c b a")


@pytest.fixture
def files(tmp_path):
    return {
        name: write(tmp_path / name, *lines)
        for name, lines in (("ref", REFERENCE), ("good", GOOD), ("bad", BAD))
    }


def score(capsys, *options):
    assert main(["score", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_holds_what_sacrebleu_says(files, capsys):
    result = score(capsys, "--ref", files["ref"], "--hyp", f"good={files['good']}", files["bad"])
    assert set(result) == KEYS
    assert list(result["systems"]) == ["good", files["bad"]]  # a system without a name is called as its file
    assert result["significance"] == {}
    assert list(result["signature"]) == ["bleu", "chrf", "ter", "ribes"]
    assert "tok:13a" in result["signature"]["bleu"]
    assert "version:1.03.1" in result["signature"]["ribes"]
    for figures, hypotheses in zip(result["systems"].values(), (GOOD, BAD), strict=True):
        for name, metric in (("bleu", BLEU()), ("chrf", CHRF()), ("ter", TER())):
            assert figures[name] == pytest.approx(metric.corpus_score(hypotheses, [REFERENCE]).score)
        precisions = BLEU().corpus_score(hypotheses, [REFERENCE]).precisions
        assert figures["bleu_precisions"] == pytest.approx(precisions)
    good, bad = result["systems"].values()
    assert 0 <= bad["ribes"] < good["ribes"] <= 1


def test_several_references(files, capsys):
    options = ["--ref", files["bad"], "--ref", files["ref"], "--hyp", f"same={files['ref']}"]
    result = score(capsys, *options, "--metrics", "ribes,bleu")
    assert list(result["signature"]) == ["ribes", "bleu"]
    assert "nrefs:2" in result["signature"]["bleu"]
    assert result["systems"]["same"]["bleu"] == pytest.approx(100)
    # The empty line of this hypothesis has a reference, "x", and so counts: it scores 0.
    assert result["systems"]["same"]["ribes"] == pytest.approx(0.75)
    assert "chrf" not in result["systems"]["same"]


def test_significance_against_a_baseline(files, capsys):
    options = ["--ref", files["ref"], "--hyp", f"base={files['bad']}", f"ours={files['good']}"]
    options += ["--hyp", f"twin={files['bad']}", "--baseline", "base"]
    result = score(capsys, *options)
    assert list(result["significance"]) == ["ours", "twin"]
    for metric, figures in result["significance"]["ours"].items():
        assert set(figures) == {"difference", "interval", "p_value", "sign_test_p_value"}
        systems = result["systems"]
        assert figures["difference"] == pytest.approx(systems["ours"][metric] - systems["base"][metric])
    assert {figures["p_value"] for figures in result["significance"]["twin"].values()} == {1}
    assert score(capsys, *options) == result
    assert score(capsys, *options, "--seed", "2") != result


def test_runs_of_one_name_are_one_system(files, capsys):
    options = ["--ref", files["ref"], "--hyp", f"a={files['good']}", f"a={files['bad']}", f"b={files['bad']}"]
    result = score(capsys, *options)
    alone = score(capsys, "--ref", files["ref"], "--hyp", f"a={files['good']}", f"b={files['bad']}")
    values = [alone["systems"][name]["bleu"] for name in ("a", "b")]
    assert list(result["systems"]) == ["a", "b"]
    assert result["runs"]["a"]["bleu"]["values"] == pytest.approx(values)
    assert result["systems"]["a"]["bleu"] == pytest.approx(sum(values) / 2)
    assert result["runs"]["a"]["bleu"]["deviation"] == pytest.approx(abs(values[0] - values[1]) / 2**0.5)
    assert result["runs"]["b"]["bleu"]["deviation"] is None
    assert main(["score", *options]) == 0
    assert "standard deviation over the runs" in capsys.readouterr().out


def test_paths_with_an_equals_sign(files, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lang=en").mkdir()
    shutil.copy(files["good"], "lang=en/hyp")
    named = ["./lang=en/hyp", f"{tmp_path}/lang=en/hyp", "a=lang=en/hyp"]
    result = score(capsys, "--ref", files["ref"], "--hyp", *named, "--metrics", "ribes")
    assert list(result["systems"]) == [*named[:2], "a"]


def test_every_pair(files, capsys):
    options = ["--ref", files["ref"], "--hyp", f"base={files['bad']}", f"ours={files['good']}"]
    result = score(capsys, *options)
    one, other = result["pairwise"]["ours"]["base"], result["pairwise"]["base"]["ours"]
    assert set(one) == set(other) == set(result["best"]) == set(result["intervals"]["ours"])
    assert one["bleu"]["difference"] == -other["bleu"]["difference"]
    assert result["best"]["bleu"]["system"] == "ours"
    assert "ours" in result["best"]["ter"]["not_worse"]
    assert main(["score", *options, "--pairwise", "--metrics", "ribes"]) == 0
    captured = capsys.readouterr().out
    assert "RIBES: row less column" in captured
    difference = result["pairwise"]["base"]["ours"]["ribes"]["difference"]
    assert f"{difference:+.4f}" in captured


def test_orders_beside_translations(files, tmp_path, capsys):
    """Sentences of 2, 0, 3 and 3 tokens; the third's alignment cannot be sorted."""
    texts = {"align": ("0-1 1-0", "", "0-0 0-2 1-1", "0-0 1-2 2-1"), "order": ("1 0", "", "0 1 2", "2 0 1")}
    texts["positions"] = ("1 0", "", "0 1 2", "0 2 1")
    orders = {name: write(tmp_path / name, *lines) for name, lines in texts.items()}
    options = ["--ref", files["ref"], "--hyp", f"base={files['bad']}", f"ours={files['good']}"]
    options += [f"odd={files['bad']}", "--align", orders["align"], "--positions"]
    options += [f"ours={orders['positions']}", "--order", f"odd={orders['order']}", "--baseline", "base"]
    result = score(capsys, *options)
    tau = {name: found["tau"] for name, found in result["systems"].items()}
    assert tau == pytest.approx({"base": (-1 + 1 + 1 / 3) / 3, "ours": 1, "odd": (1 + 1 + 1 / 3) / 3})
    assert result["signature"]["preordering"] == "sentences:3|skipped:1"
    assert result["systems"]["ours"]["complete_match"] == 1
    assert "frs" in result["significance"]["ours"]
    assert main(["score", *options]) == 0
    captured = capsys.readouterr().out
    for cell in ("Kendall's tau", "complete match", "preordering  sentences:3|skipped:1"):
        assert cell in captured


def test_table_for_people(files, capsys):
    options = ["--ref", files["ref"], "--hyp", f"[b]={files['bad']}", f"ours={files['good']}"]
    assert main(["score", *options, "--baseline", "[b]"]) == 0
    captured = capsys.readouterr()
    for cell in (*"BLEU chrF TER RIBES [b] ours 4-gram |tok:13a|".split(), "less is better: TER, "):
        assert cell in captured.out
    assert "↑ ↓ significantly better, worse than [b]" in captured.out
    assert main(["score", *options, "--metrics", "ribes"]) == 0
    assert not re.search(r"BLEU|precisions|worse than \[b\]", capsys.readouterr().out)


def test_tokenised_text_is_noticed(tmp_path, capsys):
    ref = write(tmp_path / "ref", "Yes , it is .")
    hint = "the reference looks tokenised: --tokenize none scores it as it is\n"
    for options, expected in (([], hint), (["--tokenize", "none"], ""), (["--metrics", "ter"], "")):
        assert main(["score", "--ref", ref, "--hyp", ref, "--json", *options]) == 0
        assert capsys.readouterr().err == expected


def test_standard_input(files, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(REFERENCE).encode())))
    result = score(capsys, "--ref", files["ref"], "--hyp", "-", "--metrics", "chrf")
    assert result["systems"]["-"]["chrf"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("reference", "hypothesis", "options", "expected"),
    [
        ("a b.", "a b .", [], {"ter": 100, "ribes": 0}),
        ("a b.", "a b .", ["--words", "13a"], {"ter": 0, "ribes": 1}),
        ("A b", "a b", [], {"ter": 0, "ribes": 1}),
        ("A b", "a b", ["--case-sensitive"], {"ter": 50}),
        ("", "", [], {"bleu": 0, "chrf": 0, "ter": 0, "ribes": 0}),
        ("", "a", [], {"bleu": 0, "chrf": 0, "ter": 100, "ribes": 0}),
    ],
)
def test_words_case_and_empty_references(tmp_path, capsys, reference, hypothesis, options, expected):
    texts = write(tmp_path / "ref", *[reference] * 2), write(tmp_path / "hyp", *[hypothesis] * 2)
    found = score(capsys, "--ref", texts[0], "--hyp", f"x={texts[1]}", *options)["systems"]["x"]
    assert {name: found[name] for name in expected} == expected
