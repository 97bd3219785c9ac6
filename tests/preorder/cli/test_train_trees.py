"""``preorder train`` and ``apply`` with syntax trees, end to end, on a language that puts its verbs last."""

import json

import pytest

from tests.support.texts import write

pytest.importorskip("torch")

TRAIN = "train --src src --align align --classes 0 --model model --iterations 4 --minibatch 8 --size 12"
TRAIN += " --learning-rate 0.03 --method"
APPLY = "apply --model model --src test"


def bracketing(words):
    s, v, o = words.split()
    return f"(ROOT (S (NP (N {s})) (VP (V {v}) (NP (N {o})))))"


def conllu(words):
    rows = zip(words.split(), "NVN", (2, 0, 2), ("nsubj", "root", "obj"), strict=True)
    lines = [f"{i}\t{w}\t_\t{t}\t_\t_\t{h}\t{r}\t_\t_" for i, (w, t, h, r) in enumerate(rows, 1)]
    return "\n".join(["# text = " + words, *lines, ""])


@pytest.fixture(autouse=True)
def description(tmp_path):
    """Write the files; give a function that reads ``model.json``."""
    lines = [f"S{i % 7} V{i % 5} O{i % 3}" for i in range(120)]
    contents = {
        "src": lines,
        "align": ["0-0 1-2 2-1"] * len(lines),
        "train.constituency": map(bracketing, lines),
        "train.dependency": map(conllu, lines),
        "test": ["S1 V1 O1", "", "S3 V4 new", "S1"],
        "test.constituency": [bracketing("S1 V1 O1"), "", bracketing("S3 V4 new"), "(ROOT (N S1))"],
        "test.dependency": [conllu("S1 V1 O1"), "", conllu("S3 V4 new"), "1\tS1\t_\tN\t_\t_\t0\troot\t_\t_"],
    }
    for name, content in contents.items():
        write(tmp_path / name, *content)
    return lambda: json.loads((tmp_path / "model/model.json").read_text())


def test_confidences_are_not_of_this_method(run, refuses):
    run(f"{TRAIN} rvnn --trees train.constituency --iterations 1")
    trees = "--trees test.constituency"
    reason = "of method btg and neural-btg alone, not rvnn"
    refuses(f"{APPLY} {trees} --confidence-out out", f"--confidence-out: {reason}")
    refuses(
        "evaluate --model model --src src --trees train.constituency --align align --calibration",
        f"--calibration: {reason}",
    )
    assert json.loads(run(f"show -q --model model --src test {trees} --json").out)["confidence"] is None


@pytest.mark.parametrize(("kind", "other"), [("constituency", "dependency"), ("dependency", "constituency")])
@pytest.mark.parametrize("method", ["rvnn", "swap-lstm"])
def test_learns_and_applies(run, tmp_path, description, method, kind, other):
    said = run(f"{TRAIN} {method} --trees train.{kind}").err
    assert "trees allow has a tau_nakagawa of 1.0000 over aligned tokens" in said
    assert description()["needs"] == sorted(["tags", kind])
    assert {path.name for path in (tmp_path / "model").iterdir()} == {"model.json", "weights.safetensors"}
    line = f"{APPLY} --trees test.{kind} --format"
    assert run(f"{line} order").out.splitlines() == ["0 2 1", "", "0 2 1", "0"]
    assert run(f"{line} tree").out.splitlines() == ["[S1 <V1 O1>]", "", "[S3 <V4 new>]", "S1"]
    for given in (f"--trees test.{other}", ""):
        expected = f"the model needs {kind} trees (--trees), and none are given\n"
        assert run(f"{APPLY} {given}", 2).err == expected


@pytest.mark.parametrize(
    ("first", "option", "tagset"),
    [
        ("", "", "upos"),
        ("# tagset = xpos\n", "", "xpos"),
        ("# tagset = xpos\n", "--tagset upos", "upos"),
    ],
)
def test_a_model_knows_which_tags_it_reads(run, tmp_path, description, first, option, tagset):
    """Each file to apply it to has one sound column, and names none, or the other."""
    (tmp_path / "trees").write_text(first + (tmp_path / "train.dependency").read_text())
    write(tmp_path / "test", "S1")
    run(f"{TRAIN} rvnn --trees trees {option}")
    assert description()["tagset"] == tagset
    for row, other in (("N\tno tag", "xpos"), ("no tag\tN", "upos")):
        for statement in ("", f"# tagset = {other}\n"):
            (tmp_path / "one").write_text(f"{statement}1\tS1\t_\t{row}\t_\t0\troot\t_\t_\n")
            run(f"{APPLY} --trees one", 0 if other != tagset else 2)
