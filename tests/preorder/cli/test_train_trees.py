"""``preorder train`` and ``apply`` with syntax trees, end to end, on a language that puts its verbs last."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from preorder.cli import main

NETWORK = ["--iterations", "4", "--minibatch", "8", "--size", "12", "--learning-rate", "0.03"]
SIZES = {"rvnn": NETWORK, "swap-lstm": NETWORK}


def bracketing(words):
    s, v, o = words.split()
    return f"(ROOT (S (NP (N {s})) (VP (V {v}) (NP (N {o})))))"


def conllu(words):
    rows = zip(words.split(), "NVN", (2, 0, 2), ("nsubj", "root", "obj"), strict=True)
    lines = [f"{i}\t{w}\t_\t{t}\t_\t_\t{h}\t{r}\t_\t_" for i, (w, t, h, r) in enumerate(rows, 1)]
    return "\n".join(["# text = " + words, *lines, ""])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    lines = [f"S{i % 7} V{i % 5} O{i % 3}" for i in range(120)]
    contents = {
        "src": lines,
        "align": ["0-0 1-2 2-1"] * len(lines),
        "constituency": map(bracketing, lines),
        "dependency": map(conllu, lines),
        "test": ["S1 V1 O1", "", "S3 V4 new", "S1"],
        "test.constituency": [bracketing("S1 V1 O1"), "", bracketing("S3 V4 new"), "(ROOT (N S1))"],
        "test.dependency": [conllu("S1 V1 O1"), "", conllu("S3 V4 new"), "1\tS1\t_\tN\t_\t_\t0\troot\t_\t_"],
    }
    for name, content in contents.items():
        (folder / name).write_text("".join(f"{line}\n" for line in content))
    return {name: str(folder / name) for name in contents}


def train(files, method, kind, model, *more):
    common = ["--src", files["src"], "--align", files["align"], "--classes", "0", "--model", str(model)]
    trees = [] if kind is None else ["--trees", files[kind]]
    return main(["train", "--method", method, *common, *trees, *SIZES[method], *more])


def apply(files, model, kind, *more):
    trees = [] if kind is None else ["--trees", files[f"test.{kind}"]]
    return main(["apply", "--model", str(model), "--src", files["test"], *trees, *more])


@pytest.mark.parametrize("kind", ["constituency", "dependency"])
@pytest.mark.parametrize("method", SIZES)
def test_learns_and_applies(files, tmp_path, capsys, method, kind):
    model = tmp_path / "model"
    assert train(files, method, kind, model) == 0
    assert "trees allow has a tau_nakagawa of 1.0000 over aligned tokens" in capsys.readouterr().err
    description = json.loads((model / "model.json").read_text())
    assert description["needs"] == sorted(["tags", kind])
    assert {path.name for path in model.iterdir()} == {"model.json", "weights.safetensors"}
    assert apply(files, model, kind, "--format", "order") == 0
    assert capsys.readouterr().out.splitlines() == ["0 2 1", "", "0 2 1", "0"]
    assert apply(files, model, kind, "--format", "tree") == 0
    assert capsys.readouterr().out.splitlines() == ["[S1 <V1 O1>]", "", "[S3 <V4 new>]", "S1"]

    other = {"constituency": "dependency", "dependency": "constituency"}[kind]
    for given in (other, None):
        assert apply(files, model, given) == 2
        expected = f"the model needs {kind} trees (--trees), and none are given\n"
        assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("first", "option", "tagset"),
    [
        ("", [], "upos"),
        ("# tagset = xpos\n", [], "xpos"),
        ("# tagset = xpos\n", ["--tagset", "upos"], "upos"),
    ],
)
def test_a_model_knows_which_tags_it_reads(files, tmp_path, capsys, first, option, tagset):
    """Each file to apply it to has one sound column, and names none, or the other."""
    trees, model = tmp_path / "trees", tmp_path / "model"
    trees.write_text(first + Path(files["dependency"]).read_text())
    assert train(files | {"trees": str(trees)}, "rvnn", "trees", model, *option) == 0
    assert json.loads((model / "model.json").read_text())["tagset"] == tagset
    for row, other in (("N\tno tag", "xpos"), ("no tag\tN", "upos")):
        for statement in ("", f"# tagset = {other}\n"):
            (tmp_path / "one").write_text(f"{statement}1\tS1\t_\t{row}\t_\t0\troot\t_\t_\n")
            argv = ["--src", str(tmp_path / "text"), "--trees", str(tmp_path / "one")]
            (tmp_path / "text").write_text("S1\n")
            assert (main(["apply", "--model", str(model), *argv]) == 0) == (other != tagset)


def test_cross_fitting(files, tmp_path, capsys):
    model, features = tmp_path / "model", tmp_path / "features"
    folds = ["--cross-fit", "2", "--cross-fit-out", str(features)]
    assert train(files, "rvnn", "constituency", model, *folds) == 0
    assert features.read_text().splitlines() == [f"S{i % 7}￨0 V{i % 5}￨2 O{i % 3}￨1" for i in range(120)]
