"""OpenNMT-py's own commands, on a task that only positions can solve.

The target is the source in the order of the given positions (4 to 8 random words).
"""

import re

import pytest
import yaml

from preorder.data.formats import parse_features
from tests.support.opennmt import TINY, finish, run, start, write_task
from tests.support.texts import write

pytestmark = pytest.mark.slow

STEPS = 500


def write_config(path, **changes):
    path.write_text(yaml.safe_dump({**TINY, **changes}, sort_keys=False), encoding="utf-8")


def accuracy(printed):
    return float(re.findall(r"Validation accuracy: ([0-9.]+)", printed)[-1])


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """Return the folder of two finished trainings, and what each printed."""
    folder = tmp_path_factory.mktemp("task")
    write_task(folder, "train", 20000, seed=1)
    write_task(folder, "valid", 500, seed=2)
    steps = {"train_steps": STEPS, "valid_steps": STEPS}
    write_config(folder / "vocabulary.yaml", n_sample=2000, save_data="data", **steps)
    run(folder, "onmt_build_vocab", "-config", "vocabulary.yaml")
    write_config(folder / "relative.yaml", **steps)
    write_config(folder / "none.yaml", **steps, preorder_encoding=[], save_model="none")
    runs = {name: start(folder, "onmt_train", "-config", f"{name}.yaml") for name in ("relative", "none")}
    return folder, {name: finish(process) for name, process in runs.items()}


def translate(folder, lines, *models):
    write(folder / "test.src", *lines)
    printed = run(
        folder,
        *("onmt_translate", "-model", *models, "-src", "test.src", "-output", "test.out"),
        *("-beam_size", 3, "-batch_size", 16),
    )
    assert f"NB SENTENCES: {len(lines)}" in printed
    return (folder / "test.out").read_text(encoding="utf-8").split("\n")[:-1]


def solution(line):
    words, permutation = parse_features(line)
    return " ".join(permutation.apply(words))


def share_solved(lines, outputs):
    solved = [output == solution(line) for line, output in zip(lines, outputs, strict=True)]
    return sum(solved) / len(solved)


@pytest.fixture(scope="module")
def test_lines(tmp_path_factory):
    folder = tmp_path_factory.mktemp("test")
    write_task(folder, "test", 60, seed=3)
    return (folder / "test.src").read_text(encoding="utf-8").splitlines()


def test_relative_encoding_solves_the_task_and_nothing_else_does(task):
    printed = task[1]
    assert accuracy(printed["relative"]) >= 95
    assert accuracy(printed["none"]) < 60


def test_translation(task, test_lines):
    special = [
        "w1￨0 w2￨1 w3￨2 w4￨3",
        "w1￨3 w2￨2 w3￨1 w4￨0",  # the same words in another order, in the same batch
        "",
        "w1 w2  w3 w4",
        "w1￨3 w2 w3￨2 w4￨0",
    ]
    outputs = translate(task[0], [*special, *test_lines], f"model_step_{STEPS}.pt")
    assert outputs[: len(special)] == ["w1 w2 w3 w4", "w4 w3 w2 w1", "", "w1 w2 w3 w4", "w4 w2 w3 w1"]
    assert share_solved(test_lines, outputs[len(special) :]) > 0.8


def test_bad_data_ends_the_training_from_a_worker_too(task):
    write(task[0] / "cut.tgt", "w1")
    data = {"train": {"path_src": "train.src", "path_tgt": "cut.tgt", "weight": 1}}
    write_config(task[0] / "cut.yaml", data=data, num_workers=1)
    printed = run(task[0], "onmt_train", "-config", "cut.yaml", status=2)
    assert printed.endswith("cut.tgt:2: the file ends after 1 lines, train.src goes on\n")
    assert "Traceback" not in printed
