"""``preorder analyse``, end to end: every figure against the same sentences scored by themselves."""

import json

import pytest
from sacrebleu.metrics import BLEU, CHRF

from preorder.cli import main
from tests.preorder.cli.test_errors import FILES
from tests.support.texts import write

SOURCE, REFERENCE, BASE, OURS = (FILES[name] for name in ("src", "ref", "base", "ours"))


@pytest.fixture
def files(tmp_path):
    names = ("src", "ref", "base", "ours", "align", "positions")
    return {name: write(tmp_path / name, *FILES[name]) for name in names}


@pytest.fixture
def systems(files):
    systems = [f"{name}={files[name]}" for name in ("base", "ours")]
    return ["--ref", files["ref"], "--hyp", *systems, "--tokenize", "none"]


def analyse(capsys, *options):
    assert main(["analyse", *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def bleu(text, lines):
    reference = [REFERENCE[i] for i in lines]
    return BLEU(tokenize="none", force=True).corpus_score([text[i] for i in lines], [reference]).score


def test_length(files, systems, capsys):
    options = ["--src", files["src"], "--align", files["align"], "--positions", f"ours={files['positions']}"]
    options += ["--width", "3", "--last", "7", *systems]
    found = analyse(capsys, "length", *options)
    assert set(found) == {"kind", "axis", "groups", "measures", "skipped", "signature"}
    assert (found["kind"], found["skipped"]) == ("length", 1)
    lines = {"1–3": [0, 1], "4–6": [2, 3], "7+": [5]}
    assert found["groups"] == [{"label": label, "sentences": len(group)} for label, group in lines.items()]
    assert list(found["measures"]) == ["bleu", "ribes", "tau"] == list(found["signature"])
    for name, text in (("base", BASE), ("ours", OURS)):
        for estimate, group in zip(found["measures"]["bleu"][name], lines.values(), strict=True):
            assert estimate["score"] == pytest.approx(bleu(text, group))
            assert estimate["interval"][0] <= estimate["score"] + 1e-9
    one = found["measures"]["bleu"]["base"][2]
    assert one["interval"] == pytest.approx([one["score"]] * 2)  # one sentence: every resample is the same
    taus = found["measures"]["tau"]
    assert [estimate and estimate["score"] for estimate in taus["unreordered"]] == pytest.approx(
        [((-1) + (1 / 3)) / 2, (1 + -1) / 2, None]
    )
    assert [estimate and estimate["score"] for estimate in taus["ours"]] == pytest.approx(
        [1, (2 / 3 + 1) / 2, None]
    )
    assert analyse(capsys, "length", *options) == found


def test_gain(files, systems, capsys):
    options = ["--align", files["align"], "--positions", files["positions"], *systems]
    found = analyse(capsys, "gain", *options, "--metrics", "bleu")
    assert found["kind"] == "gain"
    # Gains: 2, 2/3, -1/3, 2, 0 (an empty line), and one that cannot be sorted.
    lines = {"−0.5 to 0": [2], "0": [4], "0.5 to 1": [1], "1.5 to 2": [0, 3]}
    assert found["groups"] == [{"label": label, "sentences": len(group)} for label, group in lines.items()]
    assert found["skipped"] == 1
    for name, text in (("base", BASE), ("ours", OURS)):
        scores = [estimate["score"] for estimate in found["measures"]["bleu"][name]]
        assert scores == pytest.approx([bleu(text, group) for group in lines.values()])
    wide = analyse(capsys, "gain", *options, "--width", "2")
    assert [group["label"] for group in wide["groups"]] == ["−2 to 0", "0", "0 to 2"]


def test_precision(systems, capsys):
    found = analyse(capsys, "precision", *systems)
    assert set(found) == {"kind", "systems", "significance", "signature"}
    for name, text in (("base", BASE), ("ours", OURS)):
        expected = BLEU(tokenize="none", force=True).corpus_score(text, [REFERENCE]).precisions
        measures = [found["systems"][name][f"precision_{n}"] for n in range(1, 5)]
        assert [measure["score"] for measure in measures] == pytest.approx(expected)
        for measure in measures:
            low, high = measure["interval"]
            assert low <= measure["score"] <= high
    assert list(found["significance"]) == ["ours"]
    for name, comparison in found["significance"]["ours"].items():
        scores = [found["systems"][system][name]["score"] for system in ("ours", "base")]
        assert comparison["difference"] == pytest.approx(scores[0] - scores[1])
    turned = analyse(capsys, "precision", *systems, "--baseline", "ours")
    assert list(turned["significance"]) == ["base"]


def test_generation(tmp_path, capsys):
    """Worked by hand: words missing are deletions, words too many insertions."""
    reference = write(tmp_path / "ref", "a b c d e", "a b c d e", "a b c d e")
    short = write(tmp_path / "short", "a b e", "a b c d", "x b c d e")
    long = write(tmp_path / "long", "a b c d e f g", "d e a b c", "a b c d e")
    found = analyse(capsys, "generation", "--ref", reference, "--hyp", f"short={short}", f"long={long}")
    scores = {
        name: [
            figures[f"ter_{kind}"]["score"] for kind in ("deletions", "insertions", "substitutions", "shifts")
        ]
        for name, figures in found["systems"].items()
    }
    assert scores["short"] == pytest.approx([1, 0, 1 / 3, 0])
    assert scores["long"] == pytest.approx([0, 2 / 3, 0, 1 / 3])
    assert found["significance"]["long"]["ter_deletions"]["difference"] == pytest.approx(-1)
    assert list(found["systems"]["short"]) == list(found["significance"]["long"])


def test_a_system_of_several_runs(files, systems, capsys):
    """Scores are means of runs."""
    twice = [*systems[:4], "--hyp", f"both={files['base']}", f"both={files['ours']}"]
    options = ["length", "--src", files["src"], "--width", "3", "--last", "7"]
    single, both = (analyse(capsys, *options, *line)["measures"]["bleu"] for line in (systems, twice))
    means = [(a["score"] + b["score"]) / 2 for a, b in zip(single["base"], single["ours"], strict=True)]
    assert [estimate["score"] for estimate in both["both"]] == pytest.approx(means)
    single, both = (analyse(capsys, "precision", *line)["systems"] for line in (systems, twice))
    scores = [single[name]["precision_2"]["score"] for name in ("base", "ours")]
    assert both["both"]["precision_2"]["score"] == pytest.approx(sum(scores) / 2)


def test_examples(files, systems, capsys):
    options = ["--src", files["src"], "--positions", f"btg={files['positions']}", *systems, "--count", "2"]
    found = analyse(capsys, "examples", *options)
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
    by_edits = analyse(
        capsys, "examples", *options, "--metric", "ter", "--baseline", "ours", "--system", "base"
    )
    assert by_edits["better"][0]["line"] == 1  # fewer edits are better
    assert all(example["difference"] > 0 for example in by_edits["worse"])


def test_robustness(tmp_path, files, capsys):
    for percent, text in ((0, OURS), (50, BASE)):
        write(tmp_path / f"one.{percent}", *text)
        write(tmp_path / f"two.{percent}", *BASE)
    patterns = [f"{name}={tmp_path}/{name}.{{}}" for name in ("one", "two")]
    options = ["--ref", files["ref"], "--tokenize", "none", "--percent", "0,50", "--hyp", *patterns]
    found = analyse(capsys, "robustness", *options)
    assert found["groups"] == [{"label": label, "sentences": 6} for label in ("0", "50")]
    every = range(6)
    for name, texts in (("one", (OURS, BASE)), ("two", (BASE, BASE))):
        scores = [estimate["score"] for estimate in found["measures"]["bleu"][name]]
        assert scores == pytest.approx([bleu(text, every) for text in texts])
    assert found["measures"]["bleu"]["one"][1] == found["measures"]["bleu"]["two"][1]


def test_tables_for_people(files, systems, capsys):
    assert main(["analyse", "examples", "--src", files["src"], *systems, "--count", "1"]) == 0
    out = capsys.readouterr().out
    assert "ours worse than base, by chrF" in out
    assert "  source       a b\n  reference    x y .\n  base 100.00  x y .\n" in out
    assert main(["analyse", "length", "--src", files["src"], "--align", files["align"], *systems]) == 0
    out = capsys.readouterr().out
    assert "BLEU (0 to 100) by source length (tokens), with 95 % intervals; sentences in no" in out
    assert "Kendall's tau (−1 to 1)" in out
    assert main(["analyse", "precision", *systems]) == 0
    out = capsys.readouterr().out
    assert "In brackets the difference from base." in out
    assert "n-gram precision (%)" in out


@pytest.mark.parametrize("kind", ["length", "precision"])
def test_pictures(tmp_path, files, systems, capsys, kind):
    pytest.importorskip("matplotlib")
    path = tmp_path / "picture.svg"
    source = ["--src", files["src"]] if kind == "length" else []
    assert analyse(capsys, kind, *source, *systems, "--out", str(path))["kind"] == kind
    assert "base, ours</title>" in path.read_text(encoding="utf-8")
