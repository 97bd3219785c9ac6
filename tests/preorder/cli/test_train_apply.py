"""``preorder train`` and ``preorder apply``, end to end, on a language that puts its verbs last."""

import itertools
import json
import random
import shutil
import subprocess
import sys

import pytest

import preorder
from preorder.cli import main
from preorder.data.formats import parse_features
from preorder.methods.perceptron_btg.learner import PerceptronLearner
from tests.support.running import environment
from tests.support.texts import content, write

WORDS = SUBJECTS, VERBS, OBJECTS = [[f"{kind}{i}" for i in range(8)] for kind in "SVO"]
FORMATS = ("features", "positions", "order", "text", "tree")
BTG = "train --method btg --iterations 3 --classes 6 --model model"
TRAIN = f"{BTG} --src src --align align"
PUZZLED = f"{BTG} --src src --align puzzle"  # of which no iteration learns all
APPLY = "apply --model model"


def sentences(size, seed=0):
    generator = random.Random(seed)
    return [[generator.choice(words) for words in WORDS] for _ in range(size)]


def lines(size, seed=0):
    return [" ".join(words) for words in sentences(size, seed)]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A text, whose target is subject, object, verb; a test set; and a model, ``known``."""
    folder, generator = tmp_path_factory.mktemp("data"), random.Random(3)
    write(folder / "src", *lines(200))
    write(folder / "pos", *["N V N"] * 200)
    write(folder / "align", *["0-0 1-2 2-1"] * 200)
    write(folder / "tgt", *(f"{s} {o} {v}".lower() for s, v, o in sentences(200)))
    write(folder / "annot", *(f"{line}\tN V N\t1 2 1" for line in lines(200)))
    doubtful = "0-0:0.2 1-1:0.20 2-2:0.2"
    write(folder / "doubtful", *["0-0 1-2:1 2-1", doubtful, doubtful] * 66, *["0-0 1-2 2-1"] * 2)
    orders = [generator.sample(range(3), 3) for _ in range(200)]
    write(folder / "puzzle", *(" ".join(f"{i}-{j}" for i, j in enumerate(order)) for order in orders))
    kinds = [f"{word}\t{name}" for name, words in enumerate(WORDS) for word in words]
    write(folder / "classes", *kinds, "new\t1")
    write(folder / "test", *lines(5, seed=9), "", "S1")
    files = (f"--{name} {folder}/{name}" for name in ("src", "align"))
    assert main([*BTG.split(), *" ".join(files).split(), "--model", str(folder / "known")]) == 0
    return folder


@pytest.fixture(autouse=True)
def folder(prepared, tmp_path):
    """Give a folder with a copy of these."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    return tmp_path


LEARNED = {
    "from links": ("--src src --align align", "--src test"),
    "from a bitext, aligned first": ("--src src --tgt tgt --lang xx", "--src test"),
    "with classes of a file": ("--src src --align align --classes classes", "--src test"),
    "from an annotated text": ("--annot annot --align align", "--annot test.annot"),
    "from links of which two of three are doubtful": ("--src src --align doubtful", "--src test"),
}


@pytest.mark.parametrize("case", LEARNED)
def test_learns_the_order(run, folder, case):
    verb = "new" if "classes" in case else "V2"
    write(folder / "test", *lines(5, seed=9), f"S1 {verb} O1", "", "S1")
    write(folder / "test.annot", *["x y z\tN V N\t1 2 1"] * 6, "", "x\tN\t1")
    trained, applied = LEARNED[case]
    run(f"{BTG} {trained}")
    assert (folder / "model/classes.txt").exists() == ("annotated" not in case)
    assert run(f"{APPLY} {applied} --format order").out.splitlines() == ["0 2 1"] * 6 + ["", "0"]
    if "--lang xx" in trained:
        said = run(f"{APPLY} --src test --lang yy", 2).err
        assert said.endswith("--lang yy: the model was trained on xx\n")


@pytest.mark.parametrize("more", ["", "--lowercase", "--init lower"])
def test_a_model_that_has_learned_from_no_capitals_reads_all_text_in_lower_case(run, folder, more):
    """What is written keeps its spelling, that of cross-fitted lines, too."""
    change = str.upper if more else str.lower
    train = "train --method btg --iterations 3 --src src --align align"
    write(folder / "src", *map(str.lower, lines(200)))
    run(f"{train} --model lower")
    write(folder / "src", *map(change, lines(200)))
    run(f"{train} --model model --cross-fit 2 --cross-fit-out features {more}")
    words = [" ".join(parse_features(line)[0]) for line in (folder / "features").read_text().splitlines()]
    assert words == list(map(change, lines(200)))
    for name in ("positions", "text", "tree", "features --n-best 2", "features"):
        written = {}
        for change in (str.upper, str.lower):
            write(folder / "test", *map(change, lines(5, seed=9)))
            written[change] = run(f"{APPLY} -q --src test --format {name}").out
        assert written[str.lower].upper() == written[str.upper]
        assert (written[str.lower] != written[str.upper]) == (name != "positions")
    in_python = preorder.load(str(folder / "model")).features(lines(5, seed=9))
    assert in_python == written[str.upper].splitlines()


def test_a_model_that_has_learned_from_capitals_heeds_them(run, folder):
    """Where words in capitals and in lower case stand in different orders."""
    train = "train --method btg --iterations 3 --src src --align align"
    write(folder / "src", *lines(100), *map(str.lower, lines(100)))
    write(folder / "align", *["0-0 1-2 2-1"] * 100, *["0-0 1-1 2-2"] * 100)
    run(f"{train} --model model")
    found = set()
    for change in (str.upper, str.lower):
        write(folder / "test", *map(change, lines(20, seed=9)))
        found.add(run(f"{APPLY} -q --src test --format positions").out)
    assert found == {"0 2 1\n" * 20, "0 1 2\n" * 20}
    assert "--init reads capitals" in run(f"{train} --init model --model other --lowercase", 2).err


@pytest.mark.parametrize("name", FORMATS)
def test_best_orders(run, name):
    """The first is that which is written alone; empty lines are kept."""
    line = f"apply --model known --src test --format {name} --threads 2"
    single = run(line).out.splitlines()
    found = [line.split(" ||| ") for line in run(f"{line} --n-best 4").out.splitlines()]
    assert [int(number) for number, _, _ in found] == [i for i in range(5) for _ in range(4)] + [5, 6]
    for i, line in enumerate(single):
        items = [item for number, item, _ in found if int(number) == i]
        scores = [float(score) for number, _, score in found if int(number) == i]
        assert items[0] == line
        assert len(set(items)) == len(items)
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("name", FORMATS)
def test_confidences(run, folder, name):
    line = f"apply --model known --src test --format {name}"
    plain = run(line).out
    assert run(f"{line} --confidence-out confidence").out == plain
    rows = [row.split("\t") for row in (folder / "confidence").read_text().splitlines()]
    found = preorder.load("known").confidences((folder / "test").read_text().splitlines())
    assert [(float(tau), list(map(float, tokens.split()))) for tau, tokens in rows] == [
        (pytest.approx(one.expected_tau, abs=1e-4), pytest.approx(one.tokens, abs=1e-4)) for one in found
    ]
    assert [len(one.tokens) for one in found] == [3] * 5 + [0, 1]
    assert rows[-2:] == [["1.0000", ""], ["1.0000", "1.0000"]]
    shown = json.loads(run("show --model known --src test --line 2 --json").out)["confidence"]
    assert shown == {"expected_tau": found[1].expected_tau, "tokens": list(found[1].tokens)}


def test_calibration(run, folder):
    line = "evaluate --align align --model known --src src"
    plain = json.loads(run(f"{line} --json").out)
    run("apply --model known --src src --format positions --out positions")
    assert plain == json.loads(run("evaluate --align align --positions positions --json").out)
    found = json.loads(run(f"{line} --calibration --json").out)
    calibration = found.pop("calibration")
    assert found == plain
    assert (calibration["sentences"], calibration["tau"], calibration["auc"]) == (200, 1, None)
    assert sum(one["pairs"] for one in calibration["bins"]) == 600
    confidences = preorder.load("known").confidences((folder / "src").open())
    mean = sum(one.expected_tau for one in confidences) / 200
    assert calibration["expected_tau"] == pytest.approx(mean)
    printed = run(f"{line} --calibration").out
    assert "probability of inversion" in printed
    assert "AUC for tau > 0.88" in printed


def test_the_text_chooses_the_method(run, folder):
    said = run("train --src src --align align --model model --classes 0").err
    assert "--method btg: source sentences have 3 tokens on average; tags (--pos) and hand-aligned" in said
    assert json.loads((folder / "model/model.json").read_text())["method"] == "btg"
    said = run("train --src src --pos pos --align align --model model --classes 0").err
    assert "on average; hand-aligned sentences" in said


def test_cross_fit_writes_every_line(run, folder):
    run(f"{TRAIN} --cross-fit 3 --cross-fit-out features --limit 150")
    expected = [f"{s}￨0 {v}￨2 {o}￨1" for s, v, o in sentences(200)]
    assert (folder / "features").read_text(encoding="utf-8").splitlines() == expected


def test_the_folder_in_which_one_is(run, folder, monkeypatch):
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    run("train --method btg --iterations 3 --src ../src --align ../align --model .")
    assert "model.json" in content(folder / "here")
    assert not list(folder.glob("*.checkpoint"))


@pytest.fixture
def interrupted(run, monkeypatch):
    """Give a function that trains until an iteration of a given number has begun, the n-th in the process."""
    monkeypatch.setattr("preorder.learning.checkpoint.INTERVAL", 0)
    monkeypatch.setattr("preorder.learning.checkpoint.SHARE", float("inf"))
    learn = PerceptronLearner.learn

    def train(line, last):
        count = itertools.count(1)

        def until(self, iteration, advance):
            if next(count) == last:
                raise KeyboardInterrupt
            return learn(self, iteration, advance)

        with monkeypatch.context() as patch:
            patch.setattr(PerceptronLearner, "learn", until)
            return run(line, 130).err

    return train


@pytest.mark.parametrize("last", [1, 3])
def test_interrupted_training_goes_on_to_the_same_model(run, interrupted, folder, last):
    run(f"{PUZZLED} --model expected")
    said = "the same command goes on from model.checkpoint"
    if last == 1:
        said = "there is no checkpoint yet: the same command starts anew"
    assert interrupted(PUZZLED, last).splitlines()[-2:] == [said, "interrupted"]
    assert not (folder / "model").exists()
    assert (folder / "model.checkpoint").exists() == (last > 1)
    assert (f"goes on after iteration {last - 1}\n" in run(f"{PUZZLED} --threads 2").err) == (last > 1)
    assert content(folder / "model") == content(folder / "expected")
    assert not (folder / "model.checkpoint").exists()


def test_interrupted_cross_fitting_goes_on(run, interrupted, folder):
    run(f"{PUZZLED} --cross-fit 2 --cross-fit-out features --model expected")
    again = f"{PUZZLED} --cross-fit 2 --cross-fit-out again"
    interrupted(again, 5)  # in the second fold
    interrupted(again, 3)  # in the model of all: the first two are not trained again
    run(f"{again} --threads 2")
    assert content(folder / "model") == content(folder / "expected")
    assert (folder / "again").read_bytes() == (folder / "features").read_bytes()


def test_checkpoint_of_another_training(run, interrupted, folder):
    interrupted(PUZZLED, 2)
    said = run(f"{PUZZLED} --cost 2", 2).err
    assert "all.safetensors: left by an interrupted training with other data or options" in said
    assert not (folder / "model").exists()
    run(f"{PUZZLED} --cost 2 --fresh")
    assert not (folder / "model.checkpoint").exists()


def test_annotated_text_comes_from_standard_input():
    command = [sys.executable, "-m", "preorder", "apply", "--model", "en-verb-final", "--annot", "-"]
    line = "i like the pen\tP V D N\t1 2 3 4\n"
    ended = subprocess.run(command, input=line, capture_output=True, text=True, check=True)
    words, positions = zip(*(token.split("￨") for token in ended.stdout.split()), strict=True)
    assert (words, sorted(positions)) == (("i", "like", "the", "pen"), list("0123"))


@pytest.mark.parametrize("more", ["", "--n-best 1"])
def test_plain_text_is_split_as_its_tokens_are_written(run, tmp_path, more):
    """In one way or the other; the tokenizer is named, and a tab in the first line is still no text."""
    pytest.importorskip("sacremoses")
    for name, line in (("tokens", "I like the pen ."), ("raw", "I like the pen."), ("table", "a\tb")):
        write(tmp_path / name, line)
    line = f"apply --model en-verb-final --format text {more}"
    found = run(f"{line} --src raw --tokenize en")
    assert found.out == run(f"{line} --src tokens").out != ""
    assert "tokenize: en by sacremoses" in found.err
    assert "table:1: a tab in the line" in run(f"{line} --src table --tokenize en", 2).err
    run(f"{line} --annot tokens --tokenize en", 2)


@pytest.mark.parametrize("more", [[], ["--n-best", "1", "--tokenize", "en"]])
def test_a_co_process_is_answered_line_by_line(more):
    """Each answer comes before the next line is sent, and the answers are those to a file."""
    pytest.importorskip("sacremoses")
    lines = ["I like the pen .", "", "she read a book about birds ."]
    command = ["apply", "--model", "en-verb-final", "--line-by-line", "--format", "text", *more]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    program = [sys.executable, "-m", "preorder", *command]
    with subprocess.Popen(program, **pipes, env=environment()) as process:
        answers = []
        for line in lines:
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            answers.append(process.stdout.readline().decode().rstrip("\n"))
        process.stdin.close()
        assert (process.stdout.read(), process.wait(60)) == (b"", 0)
    expected = preorder.LineModel("en-verb-final", "text")(lines)
    assert [line.split(" ||| ")[1] for line in answers] == expected if more else answers == expected
