"""``preorder analyse``, end to end: every figure against the same sentences scored by themselves."""

import json

import pytest
from sacrebleu.metrics import BLEU, CHRF

from tests.support.command_files import FILES
from tests.support.texts import write

SOURCE, REFERENCE, BASE, OURS = (FILES[name] for name in ("src", "ref", "base", "ours"))
SYSTEMS = "--ref ref --hyp base=base ours=ours --tokenize none"


@pytest.fixture
def analyse(run, tmp_path):
    """Give a function that analyses files in the folder: the JSON."""
    for name, lines in FILES.items():
        write(tmp_path / name, *lines)
    return lambda options: json.loads(run(f"analyse {options} --json").out)


def bleu(text, lines):
    reference = [REFERENCE[i] for i in lines]
    return BLEU(tokenize="none", force=True).corpus_score([text[i] for i in lines], [reference]).score


def labelled(lines):
    return [{"label": label, "sentences": len(group)} for label, group in lines.items()]


def scores_of(estimates):
    return [estimate and estimate["score"] for estimate in estimates]


def test_length(analyse):
    options = f"length {SYSTEMS} --src src --align align --positions ours=positions --width 3 --last 7"
    found = analyse(options)
    assert set(found) == {"kind", "axis", "groups", "measures", "skipped", "signature"}
    assert (found["kind"], found["skipped"]) == ("length", 1)
    lines = {"1–3": [0, 1], "4–6": [2, 3], "7+": [5]}
    assert found["groups"] == labelled(lines)
    measures = ["bleu", "ribes", "tau", "tau_nakagawa", "complete_match"]
    assert list(found["measures"]) == measures == list(found["signature"])
    for name, text in (("base", BASE), ("ours", OURS)):
        for estimate, group in zip(found["measures"]["bleu"][name], lines.values(), strict=True):
            assert estimate["score"] == pytest.approx(bleu(text, group))
            assert estimate["interval"][0] <= estimate["score"] + 1e-9
    one = found["measures"]["bleu"]["base"][2]
    assert one["interval"] == pytest.approx([one["score"]] * 2)  # one sentence: every resample is the same
    taus = found["measures"]["tau"]
    assert scores_of(taus["unreordered"]) == pytest.approx([((-1) + (1 / 3)) / 2, (1 + -1) / 2, None])
    assert scores_of(taus["ours"]) == pytest.approx([1, (2 / 3 + 1) / 2, None])
    assert analyse(options) == found


def test_gain(analyse):
    options = f"gain {SYSTEMS} --align align --positions positions"
    found = analyse(f"{options} --metrics bleu")
    assert found["kind"] == "gain"
    # Gains: 2, 2/3, -1/3, 2, 0 (an empty line), and one that cannot be sorted.
    lines = {"-0.5 to 0": [2], "0": [4], "0.5 to 1": [1], "1.5 to 2": [0, 3]}
    assert found["groups"] == labelled(lines)
    assert found["skipped"] == 1
    for name, text in (("base", BASE), ("ours", OURS)):
        expected = [bleu(text, group) for group in lines.values()]
        assert scores_of(found["measures"]["bleu"][name]) == pytest.approx(expected)
    wide = analyse(f"{options} --width 2")
    assert [group["label"] for group in wide["groups"]] == ["-2 to 0", "0", "0 to 2"]


def test_precision(analyse):
    found = analyse(f"precision {SYSTEMS}")
    assert set(found) == {"kind", "systems", "significance", "signature"}
    for name, text in (("base", BASE), ("ours", OURS)):
        expected = BLEU(tokenize="none", force=True).corpus_score(text, [REFERENCE]).precisions
        measures = [found["systems"][name][f"precision_{n}"] for n in range(1, 5)]
        assert scores_of(measures) == pytest.approx(expected)
        for measure in measures:
            low, high = measure["interval"]
            assert low <= measure["score"] <= high
    assert list(found["significance"]) == ["ours"]
    for name, comparison in found["significance"]["ours"].items():
        scores = [found["systems"][system][name]["score"] for system in ("ours", "base")]
        assert comparison["difference"] == pytest.approx(scores[0] - scores[1])
    assert list(analyse(f"precision {SYSTEMS} --baseline ours")["significance"]) == ["base"]


def test_generation(analyse, tmp_path):
    """Worked by hand: words missing are deletions, words too many insertions."""
    write(tmp_path / "ref", "a b c d e", "a b c d e", "a b c d e")
    write(tmp_path / "base", "a b e", "a b c d", "x b c d e")
    write(tmp_path / "ours", "a b c d e f g", "d e a b c", "a b c d e")
    found = analyse(f"generation {SYSTEMS}")
    kinds = [f"ter_{kind}" for kind in ("deletions", "insertions", "substitutions", "shifts")]
    for name, expected in (("base", [1, 0, 1 / 3, 0]), ("ours", [0, 2 / 3, 0, 1 / 3])):
        measures = [found["systems"][name][kind] for kind in kinds]
        assert scores_of(measures) == pytest.approx(expected)
    assert found["significance"]["ours"]["ter_deletions"]["difference"] == pytest.approx(-1)
    assert list(found["systems"]["base"]) == list(found["significance"]["ours"])


def test_examples(analyse):
    options = f"examples {SYSTEMS} --src src --positions btg=positions --count 2"
    found = analyse(options)
    assert (found["measure"], found["baseline"], found["system"]) == ("chrf", "base", "ours")
    scores = [
        [CHRF().sentence_score(text[i], [REFERENCE[i]]).score for i in range(6)] for text in (BASE, OURS)
    ]
    merits = {i + 1: ours - base for i, (base, ours) in enumerate(zip(*scores, strict=True))}
    order = sorted(merits, key=lambda line: -merits[line])
    assert [example["line"] for example in found["better"]] == order[:2]
    assert [example["line"] for example in found["worse"]] == [1]  # the only one
    for example in found["better"] + found["worse"]:
        i = example["line"] - 1
        assert example["difference"] == pytest.approx(merits[i + 1])
        assert example["scores"] == pytest.approx({"base": scores[0][i], "ours": scores[1][i]})
        assert (example["source"], example["references"]) == (SOURCE[i], [REFERENCE[i]])
        assert example["systems"] == {"base": BASE[i], "ours": OURS[i]}
    assert found["worse"][0]["reordered"] == {"btg": "b a"}
    more = options.replace("ours=ours", "other=base ours=ours ours=base")  # the last system's first run
    assert analyse(more)["better"][0]["scores"]["ours"] == found["better"][0]["scores"]["ours"]
    assert analyse(more)["better"][0]["systems"]["ours"] == OURS[order[0] - 1]
    by_edits = analyse(f"{options} --metric ter --baseline ours --system base")
    assert by_edits["better"][0]["line"] == 1  # fewer edits are better
    assert all(example["difference"] > 0 for example in by_edits["worse"])


def test_robustness(analyse, tmp_path):
    for percent, text in ((0, OURS), (50, BASE)):
        write(tmp_path / f"one.{percent}", *text)
        write(tmp_path / f"two.{percent}", *BASE)
    found = analyse("robustness --ref ref --tokenize none --percent 0,50 --hyp one=one.{} two=two.{}")
    assert found["groups"] == [{"label": label, "sentences": 6} for label in ("0", "50")]
    for name, texts in (("one", (OURS, BASE)), ("two", (BASE, BASE))):
        expected = [bleu(text, range(6)) for text in texts]
        assert scores_of(found["measures"]["bleu"][name]) == pytest.approx(expected)
    assert found["measures"]["bleu"]["one"][1] == found["measures"]["bleu"]["two"][1]


def test_robustness_names_the_text_that_has_subwords(run, analyse, tmp_path):
    write(tmp_path / "one.50", *["a@@ b"] * len(REFERENCE))
    assert (
        "one, 50% has subwords, as @@ says"
        in run("analyse robustness --ref ref --percent 50 --hyp one=one.{}").err
    )


def test_tables_for_people(analyse, run):
    printed = run(f"analyse examples --src src --count 1 {SYSTEMS}").out
    assert "ours worse than base, by chrF" in printed
    assert "  source       a b\n  reference    x y .\n  base 100.00  x y .\n" in printed
    printed = run(f"analyse length --src src --align align {SYSTEMS}").out
    assert "BLEU (0 to 100) by source length (tokens), with 95% intervals; sentences in no" in printed
    assert "Kendall's tau (−1 to 1)" in printed
    printed = run(f"analyse precision {SYSTEMS}").out
    assert "In brackets the difference from base." in printed
    assert "In brackets" not in run("analyse precision --ref ref --hyp base").out
    assert "n-gram precision (%)" in printed


@pytest.mark.parametrize("kind", ["length --src src", "precision"])
def test_pictures(analyse, tmp_path, kind):
    pytest.importorskip("matplotlib")
    assert analyse(f"{kind} {SYSTEMS} --out picture.svg")["kind"] == kind.split()[0]
    assert "base, ours</title>" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
