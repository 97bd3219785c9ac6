"""``preorder score``, end to end."""

import io
import json
import os
import re
import shutil
import sys
from math import prod
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from preorder.cli import main
from tests.support.texts import write

REFERENCE = ("the cat sat on the mat .", "", "it is cold , isn't it ?", "a b c d e f")
GOOD = ("the cat sat on a mat .", "", "it is cold , isn't it ?", "a b c f d e")
KEYS = {"systems", "signature", "runs", "intervals", "significance", "pairwise", "best", "equal_length"}
BAD = ("on the mat sat a cat .", "x", "", "f e d c b a")


@pytest.fixture
def score(run, tmp_path):
    """Give a function that scores by options, with texts in the folder: the JSON."""
    for name, lines in (("ref", REFERENCE), ("good", GOOD), ("bad", BAD)):
        write(tmp_path / name, *lines)
    return lambda options: json.loads(run(f"score --json {options}").out)


def test_json_holds_what_sacrebleu_says(score):
    result = score("--ref ref --hyp good=good bad")
    assert set(result) == KEYS
    assert list(result["systems"]) == ["good", "bad"]  # a system without a name is called as its file
    assert result["significance"] == {}
    assert list(result["signature"]) == ["bleu", "chrf", "ter", "ribes"]
    assert "tok:13a" in result["signature"]["bleu"]
    assert "version:1.03.1" in result["signature"]["ribes"]
    for figures, hypotheses in zip(result["systems"].values(), (GOOD, BAD), strict=True):
        for name, metric in (("bleu", BLEU()), ("chrf", CHRF()), ("ter", TER())):
            assert figures[name] == pytest.approx(metric.corpus_score(hypotheses, [REFERENCE]).score)
        bleu = BLEU().corpus_score(hypotheses, [REFERENCE])
        assert figures["bleu_precisions"] == pytest.approx(bleu.precisions)
        assert figures["bleu_brevity_penalty"] == pytest.approx(bleu.bp)
        assert figures["bleu_precision"] == pytest.approx(prod(bleu.precisions) ** 0.25)
    good, bad = result["systems"].values()
    assert 0 <= bad["ribes"] < good["ribes"] <= 1


def test_several_references(score):
    result = score("--ref bad --ref ref --hyp same=ref --metrics ribes,bleu")
    assert list(result["signature"]) == ["ribes", "bleu"]
    assert "nrefs:2" in result["signature"]["bleu"]
    assert result["systems"]["same"]["bleu"] == pytest.approx(100)
    # The empty line of this hypothesis has a reference, "x", and so counts: it scores 0.
    assert result["systems"]["same"]["ribes"] == pytest.approx(0.75)
    assert "chrf" not in result["systems"]["same"]


def test_significance_against_a_baseline(score):
    options = "--ref ref --hyp base=bad ours=good --hyp twin=bad --baseline base"
    result = score(options)
    assert list(result["significance"]) == ["ours", "twin"]
    assert {figures["p_value"] for figures in result["significance"]["twin"].values()} == {1}
    assert score(options) == result
    assert score(f"{options} --seed 2") != result
    assert result["equal_length"]["ours"]["sentences"] == [2]  # in the others, one of them says nothing
    assert result["equal_length"]["ours"]["length_ratio"] == 1


def test_runs_of_one_name_are_one_system(run, score):
    options = "--ref ref --hyp a=good a=bad b=bad"
    result, alone = score(options), score("--ref ref --hyp a=good b=bad")
    values = [alone["systems"][name]["bleu"] for name in ("a", "b")]
    assert list(result["systems"]) == ["a", "b"]
    assert result["runs"]["a"]["bleu"]["values"] == pytest.approx(values)
    assert result["systems"]["a"]["bleu"] == pytest.approx(sum(values) / 2)
    a, b = (alone["systems"][name]["bleu_precisions"] for name in ("a", "b"))
    precisions = [(one + other) / 2 for one, other in zip(a, b, strict=True)]
    assert result["systems"]["a"]["bleu_precisions"] == pytest.approx(precisions)
    assert "standard deviation over the runs" in run(f"score {options}").out


def test_paths_with_an_equals_sign(score, tmp_path):
    (tmp_path / "lang=en").mkdir()
    shutil.copy("good", "lang=en/hyp")
    named = ["./lang=en/hyp", f"{tmp_path}/lang=en/hyp"]
    result = score(f"--ref ref --hyp {' '.join(named)} a=lang=en/hyp --metrics ribes")
    assert list(result["systems"]) == [*named, "a"]


def test_every_pair(run, score):
    options = "--ref ref --hyp base=bad ours=good"
    result = score(options)
    one, other = result["pairwise"]["ours"]["base"], result["pairwise"]["base"]["ours"]
    assert set(one) == set(other) == set(result["best"]) == set(result["intervals"]["ours"])
    assert one["bleu"]["difference"] == -other["bleu"]["difference"]
    assert result["best"]["bleu"]["system"] == "ours"
    assert "ours" in result["best"]["ter"]["not_worse"]
    printed = run(f"score {options} --pairwise --metrics ribes").out
    assert "RIBES: row less column" in printed
    table = printed.partition("RIBES: row less column")[2]
    for name, compared in (("base", other), ("ours", one)):
        assert re.search(rf"\b{name}\W+{re.escape(format(compared['ribes']['difference'], '+.4f'))}", table)


def test_orders_beside_translations(run, score, tmp_path):
    """Sentences of 2, 0, 3 and 3 tokens; the third's alignment cannot be sorted."""
    write(tmp_path / "align", "0-1 1-0", "", "0-0 0-2 1-1", "0-0 1-2 2-1")
    write(tmp_path / "order", "1 0", "", "0 1 2", "2 0 1")
    write(tmp_path / "positions", "1 0", "", "0 1 2", "0 2 1")
    options = "--ref ref --hyp base=bad ours=good odd=bad --baseline base"
    options += " --align align --positions ours=positions --order odd=order"
    result = score(options)
    tau = {name: found["tau"] for name, found in result["systems"].items()}
    assert tau == pytest.approx({"base": (-1 + 1 + 1 / 3) / 3, "ours": 1, "odd": (1 + 1 + 1 / 3) / 3})
    assert result["signature"]["preordering"] == "sentences:3|skipped:1"
    assert result["systems"]["ours"]["complete_match"] == 1
    assert "frs" in result["significance"]["ours"]
    printed = run(f"score {options}").out
    for cell in ("Kendall's tau", "complete match", "preordering  sentences:3|skipped:1"):
        assert cell in printed


def test_table_for_people(run, score):
    line = "score --ref ref --hyp [b]=bad ours=good --baseline [b]"
    printed = run(line).out
    for cell in (*"BLEU chrF TER RIBES [b] ours 4-gram |tok:13a|".split(), "less is better: TER, "):
        assert cell in printed
    assert "↑ ↓ significantly better, worse than [b]" in printed
    found = json.loads(run(f"{line} --json").out)["significance"]["ours"]["ribes"]
    assert f"p {found['p_value']:.3f}, {found['sign_test_p_value']:.3f}" in printed
    assert "*" not in run("score --ref ref --hyp good").out  # there is no other system
    printed = run("score --ref ref --hyp [b]=bad ours=good --metrics ribes").out
    assert not re.search(r"BLEU|precisions|worse than \[b\]", printed)


def test_a_gain_of_length_is_announced(run, tmp_path):
    write(tmp_path / "ref", *["a b c d e f g h"] * 9)
    write(tmp_path / "short", *["a b c d e"] * 9)
    write(tmp_path / "long", *["a b c d e f x x"] * 9)
    options = "score --ref ref --hyp short long --baseline short --tokenize none --metrics bleu"
    for more in ("", " --json"):
        said = run(options + more).err
        assert re.match(r"long: BLEU \+[\d.]+ \(p 0.001\) comes from length, not from precision, -", said)
        assert "at equal length" not in said  # there is no sentence to compare
    write(tmp_path / "long", *["a b c d e"] * 8, "a b c d e f g h")
    printed = run(options)
    assert printed.err == ""
    assert re.search(r"BLEU at equal length.*\+0\.00.*p 1\.000.*8 sentences", printed.out, re.S)


@pytest.mark.parametrize(("more", "warns"), [("", 1), ("--tokenize none", 0), ("--metrics ter", 0)])
def test_tokenised_text_is_noticed(run, tmp_path, more, warns):
    write(tmp_path / "ref", "Yes , it is .")
    said = run(f"score --ref ref --hyp ref {more}").err
    assert said == "the reference looks tokenised: --tokenize none scores it as it is\n" * warns


def test_standard_input(score, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(REFERENCE).encode())))
    result = score("--ref ref --hyp - --metrics chrf")
    assert result["systems"]["-"]["chrf"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("reference", "hypothesis", "options", "expected"),
    [
        ("a b.", "a b .", "", {"ter": 100, "ribes": 0}),
        ("a b.", "a b .", "--words 13a", {"ter": 0, "ribes": 1}),
        ("A b", "a b", "", {"ter": 0, "ribes": 1}),
        ("A b", "a b", "--case-sensitive", {"ter": 50}),
        ("", "", "", {"bleu": 0, "chrf": 0, "ter": 0, "ribes": 0}),
        ("", "a", "", {"bleu": 0, "chrf": 0, "ter": 100, "ribes": 0}),
    ],
)
def test_words_case_and_empty_references(score, tmp_path, reference, hypothesis, options, expected):
    write(tmp_path / "ref", *[reference] * 2)
    write(tmp_path / "good", *[hypothesis] * 2)
    found = score(f"--ref ref --hyp x=good {options}")["systems"]["x"]
    assert {name: found[name] for name in expected} == expected


def test_a_name_that_is_no_utf_8_and_text_without_spaces(tmp_path, capsys):
    names = [os.fsdecode(f"{tmp_path}/".encode() + name) for name in (b"ref", b"\xff")]
    for name in names:
        Path(name).write_text("猫がいる。\n犬もいる。\n", encoding="utf-8")
    assert main(["score", "--ref", names[0], "--hyp", names[1], "--json"]) == 0
    printed = capsys.readouterr()
    assert list(json.loads(printed.out)["systems"]) == [f"{tmp_path}/\\udcff"]
    assert "the reference has no spaces: --tokenize ja-mecab" in printed.err
    split = ["score", "--ref", names[0], "--hyp", names[1], "--tokenize", "char"]
    assert main(split) == 0
    assert capsys.readouterr().err.startswith("the reference has no spaces: --words ja-mecab")
    assert main([*split, "--words", "char"]) == 0
    assert "no spaces" not in capsys.readouterr().err
