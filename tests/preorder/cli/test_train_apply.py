"""``preorder train`` and ``preorder apply``, end to end, on a language that puts its verbs last."""

import itertools
import json
import random
import shutil

import pytest

from preorder.cli import main
from preorder.data.formats import parse_features, parse_order, parse_positions
from preorder.methods.perceptron.learner import Learner
from tests.support.texts import write

SUBJECTS, VERBS, OBJECTS = ([f"{kind}{i}" for i in range(8)] for kind in "SVO")


def sentences(size, seed=0):
    generator = random.Random(seed)
    return [[generator.choice(words) for words in (SUBJECTS, VERBS, OBJECTS)] for _ in range(size)]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Source, POS tags and alignment: the target is subject, object, verb."""
    folder = tmp_path_factory.mktemp("data")
    lines = sentences(200)
    return {
        "src": write(folder / "src", *(" ".join(words) for words in lines)),
        "pos": write(folder / "pos", *["N V N"] * len(lines)),
        "align": write(folder / "align", *["0-0 1-2 2-1"] * len(lines)),
        "tgt": write(folder / "tgt", *(" ".join((s, o, v)).lower() for s, v, o in lines)),
        "annot": write(folder / "annot", *(" ".join(words) + "\tN V N\t1 2 1" for words in lines)),
    }


def options(data, *names):
    return [part for name in names for part in (f"--{name}", data[name])]


COMMON = ["train", "--method", "btg", "--iterations", "3", "--classes", "6"]


@pytest.fixture(scope="module")
def model(data, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("model") / "model")
    assert main([*COMMON, *options(data, "src", "align"), "--model", path]) == 0
    return path


@pytest.fixture
def source_file(tmp_path):
    return write(tmp_path / "test", *(" ".join(words) for words in sentences(5, seed=9)), "", "S1")


LEARNED = {
    "from links": ("--src src --align align", "--src test"),
    "from a bitext, aligned first": ("--src src --tgt tgt --lang xx", "--src test"),
    "with POS tags of a file": ("--src src --pos pos --align align", "--src test --pos test.pos"),
    "with classes of a file": ("--src src --align align --classes classes", "--src test"),
    "from an annotated text": ("--annot annot --align align", "--annot test.annot"),
    "from links of which two of three are doubtful": ("--src src --align doubtful", "--src test"),
}


@pytest.mark.parametrize("case", LEARNED)
def test_learns_the_order(data, tmp_path, monkeypatch, capsys, case):
    monkeypatch.chdir(tmp_path)
    for name, path in data.items():
        shutil.copy(path, name)
    kinds = [f"{word}\t{name}" for name, words in enumerate((SUBJECTS, VERBS, OBJECTS)) for word in words]
    write(tmp_path / "classes", *kinds, "new\t1")
    doubtful = "0-0:0.2 1-1:0.20 2-2:0.2"
    write(tmp_path / "doubtful", *["0-0 1-2:1 2-1", doubtful, doubtful] * 66, *["0-0 1-2 2-1"] * 2)
    verb = "new" if "classes" in case else "V2"
    write(tmp_path / "test", *(" ".join(words) for words in sentences(5, seed=9)), f"S1 {verb} O1", "", "S1")
    write(tmp_path / "test.pos", *["N V N"] * 6, "", "N")
    write(tmp_path / "test.annot", *["x y z\tN V N\t1 2 1"] * 6, "", "x\tN\t1")
    trained, applied = (options.split() for options in LEARNED[case])
    assert main([*COMMON, *trained, "--model", "model"]) == 0
    assert (tmp_path / "model/classes.txt").exists() == ("annotated" not in case)
    assert main(["apply", "--model", "model", *applied, "--format", "order"]) == 0
    assert capsys.readouterr().out.splitlines() == ["0 2 1"] * 6 + ["", "0"]
    if "POS" in case:
        assert main(["apply", "--model", "model", "--src", "test"]) == 2
        assert capsys.readouterr().err.endswith("the model needs POS tags (--pos), and none are given\n")


LOWERCASED = "the model was trained on lowercased text: {!r} is unknown to it (--lowercase)\n"


@pytest.mark.parametrize("more", [[], ["--n-best", "2"]])
@pytest.mark.parametrize("lower", [True, False])
def test_a_lowercased_model_warns_of_capitals(data, tmp_path, capsys, lower, more):
    """Not of capitals among the tags; and only once."""
    lines = [" ".join(words).lower() for words in sentences(60)] + ["S1 v1 o1"] * (not lower)
    annot = write(tmp_path / "annot", *(f"{line}\tN V N" for line in lines))
    align, model = write(tmp_path / "align", *["0-0 1-2 2-1"] * len(lines)), str(tmp_path / "model")
    assert main([*COMMON, "--annot", annot, "--align", align, "--model", model]) == 0
    for test, capital in (("s1 v1 o1", None), ("s1 É V2", "É")):
        path = write(tmp_path / "test", *[f"{test}\tN V N"] * 3)
        capsys.readouterr()
        assert main(["apply", "-q", "--model", model, "--annot", path, *more]) == 0
        said = capsys.readouterr().err
        assert said == (LOWERCASED.format(capital) if lower and capital else "")


@pytest.mark.parametrize("name", ["features", "text", "tree"])
def test_lowercase_keeps_the_spelling(data, tmp_path, capsys, name):
    """Of training, whose lines of cross-fitting are the output, and of application; all lines are lowered."""
    model, features, align = str(tmp_path / "model"), tmp_path / "features", options(data, "align")
    crossed = ["--cross-fit", "2", "--cross-fit-out", str(features), "--lowercase"]
    assert main([*COMMON, *options(data, "src"), *align, "--model", model, *crossed]) == 0
    words = [" ".join(parse_features(line)[0]) for line in features.read_text().splitlines()]
    assert words == (tmp_path / data["src"]).read_text().splitlines()
    written = {}
    for change in (str.upper, str.lower):
        path = write(tmp_path / "test", *(change(" ".join(words)) for words in sentences(5, seed=9)))
        capsys.readouterr()
        more = ["--lowercase"] * (change is str.upper)
        assert main(["apply", "-q", "--model", model, "--src", path, "--format", name, *more]) == 0
        written[change] = capsys.readouterr()
    assert written[str.lower].out.upper() == written[str.upper].out != written[str.lower].out
    assert written[str.upper].err == ""


@pytest.mark.parametrize("name", ["features", "positions", "order", "text", "tree"])
def test_best_orders(model, source_file, capsys, name):
    """The first is that which is written alone; empty lines are kept."""
    argv = ["apply", "--model", model, "--src", source_file, "--format", name, "--threads", "2"]
    assert main(argv) == 0
    single = capsys.readouterr().out.splitlines()
    assert main([*argv, "--n-best", "4"]) == 0
    found = [line.split(" ||| ") for line in capsys.readouterr().out.splitlines()]
    assert [int(number) for number, _, _ in found] == [i for i in range(5) for _ in range(4)] + [5, 6]
    for i, line in enumerate(single):
        items = [item for number, item, _ in found if int(number) == i]
        scores = [float(score) for number, _, score in found if int(number) == i]
        assert items[0] == line
        assert len(set(items)) == len(items)
        assert scores == sorted(scores, reverse=True)


def test_formats_agree(model, source_file, capsys):
    lines = {}
    for name in ("features", "positions", "order", "text", "tree"):
        assert main(["apply", "--model", model, "--src", source_file, "--format", name]) == 0
        lines[name] = capsys.readouterr().out.splitlines()
    for features, positions, order, text, tree in zip(*lines.values(), strict=True):
        words, permutation = parse_features(features)
        assert parse_positions(positions) == parse_order(order) == permutation
        assert text.split() == list(permutation.apply(words))
        assert [leaf.strip("[]<>") for leaf in tree.split()] == list(words)
    assert lines["tree"][0].count("<") == 1


def test_the_text_chooses_the_method(data, tmp_path, capsys):
    argv = ["train", *options(data, "src", "align"), "--model", str(tmp_path / "model")]
    assert main([*argv, "--classes", "0"]) == 0
    assert "--method btg: sentences have 3 tokens on average" in capsys.readouterr().err
    assert json.loads((tmp_path / "model/model.json").read_text())["method"] == "btg"


def test_cross_fit_writes_every_line(data, tmp_path):
    out = tmp_path / "features"
    argv = [*COMMON, *options(data, "src", "align"), "--model", str(tmp_path / "model")]
    assert main([*argv, "--cross-fit", "3", "--cross-fit-out", str(out), "--limit", "150"]) == 0
    expected = [f"{s}￨0 {v}￨2 {o}￨1" for s, v, o in sentences(200)]
    assert out.read_text(encoding="utf-8").splitlines() == expected


@pytest.fixture
def puzzling(data, tmp_path_factory):
    """Options that name data of which no iteration learns all: alignments drawn at random."""
    generator = random.Random(3)
    lines = [" ".join(f"{i}-{j}" for i, j in enumerate(generator.sample(range(3), 3))) for _ in range(200)]
    return [*options(data, "src"), "--align", write(tmp_path_factory.mktemp("puzzling") / "align", *lines)]


@pytest.fixture
def interrupted(monkeypatch):
    """Give a function that trains until an iteration of a given number has begun, the n-th in the process."""
    monkeypatch.setattr("preorder.learning.checkpoint.INTERVAL", 0)
    monkeypatch.setattr("preorder.learning.checkpoint.SHARE", float("inf"))
    learn = Learner.learn

    def train(argv, last):
        count = itertools.count(1)

        def until(self, iteration, advance):
            if next(count) == last:
                raise KeyboardInterrupt
            return learn(self, iteration, advance)

        with monkeypatch.context() as patch:
            patch.setattr(Learner, "learn", until)
            assert main(argv) == 130

    return train


def content(*paths):
    """Return what is in some files and folders."""
    files = [file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.parametrize("last", [1, 3])
def test_interrupted_training_goes_on_to_the_same_model(puzzling, interrupted, tmp_path, capsys, last):
    expected, path = tmp_path / "expected", tmp_path / "model"
    argv = [*COMMON, *puzzling]
    assert main([*argv, "--model", str(expected)]) == 0
    interrupted([*argv, "--model", str(path)], last)
    said = f"the same command goes on from {path}.checkpoint"
    kept = {"model.checkpoint"}
    if last == 1:
        said, kept = "there is no checkpoint yet: the same command starts anew", set()
    assert {file.name for file in tmp_path.iterdir()} == {"expected"} | kept
    assert capsys.readouterr().err.splitlines()[-2:] == [said, "interrupted"]
    assert main([*argv, "--model", str(path), "--threads", "2"]) == 0
    assert (f"goes on after iteration {last - 1}\n" in capsys.readouterr().err) == bool(kept)
    assert content(path) == content(expected)
    assert not (tmp_path / "model.checkpoint").exists()


def test_interrupted_cross_fitting_goes_on(puzzling, interrupted, tmp_path):
    argv = [*COMMON, *puzzling, "--cross-fit", "2", "--cross-fit-out"]
    expected, path = tmp_path / "expected", tmp_path / "model"
    assert main([*argv, str(tmp_path / "features"), "--model", str(expected)]) == 0
    again = [*argv, str(tmp_path / "again"), "--model", str(path)]
    interrupted(again, 5)  # in the second fold
    interrupted(again, 3)  # in the model of all: the first two are not trained again
    assert main([*again, "--threads", "2"]) == 0
    assert content(path) == content(expected)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "features").read_bytes()


def test_checkpoint_of_another_training(puzzling, interrupted, tmp_path, capsys):
    path = tmp_path / "model"
    argv = [*COMMON, *puzzling, "--model", str(path)]
    interrupted(argv, 2)
    capsys.readouterr()
    assert main([*argv, "--cost", "2"]) == 2
    assert (
        "all.safetensors: left by an interrupted training with other data or options"
        in capsys.readouterr().err
    )
    assert not path.exists()
    assert main([*argv, "--cost", "2", "--fresh"]) == 0
    assert {file.name for file in tmp_path.iterdir()} == {"model"}


def test_history_of_training(puzzling, tmp_path):
    path = tmp_path / "model"
    argv = [*COMMON, *puzzling, "--model", str(path)]
    assert main([*argv, "--held-out", "20"]) == 0
    training = json.loads((path / "model.json").read_text())["training"]
    assert training["trained"] + training["held_out"] == training["sentences"] == 200
    assert all(one.keys() == {"errors", "updates", "tau_nakagawa"} for one in training["history"])
    assert training["iteration"] == len(training["history"])
    assert main([*argv, "--held-out", "200"]) == 2
