"""OpenNMT-py's own commands with the distortion models: the target is the source, word for word."""

import json
import math
import random
import re

import pytest
import torch

from preorder.data.formats import parse_alignment
from preorder_recipes import jumps
from tests.support.opennmt import write_vocabularies
from tests.support.texts import write
from tests.support.trainings import DISTORTION, train
from tests.support.trainings import translate as translate_by

pytestmark = pytest.mark.slow

JUMPING = {
    "distortion": "hidden",
    "train_from": "none_step_120.pt",
    "reset_optim": "all",
    "override_opts": True,
}


def write_copies(folder, name, count, seed):
    generator = random.Random(seed)
    lines = [
        " ".join(f"w{generator.randrange(12)}" for _ in range(generator.randint(3, 7))) for _ in range(count)
    ]
    write(folder / f"{name}.src", *lines)
    write(folder / f"{name}.tgt", *[line.replace("w", "v") for line in lines])
    return lines


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """Return the folder of an RNNsearch* and of an H-Distortion that began from it."""
    folder = tmp_path_factory.mktemp("task")
    write_copies(folder, "train", 3000, seed=1)
    write_copies(folder, "valid", 50, seed=2)
    write_vocabularies(folder, source="train.src")
    train(folder, DISTORTION, "none")
    train(folder, DISTORTION, "hidden", **JUMPING)
    return folder


def translate(folder, lines, *models, beam=4, options=()):
    search = ("-beam_size", beam, "-length_penalty", "avg", "-align_output", "test.align")
    outputs, _ = translate_by(folder, lines, " ".join(models), *search, *options)
    return outputs, (folder / "test.align").read_text(encoding="utf-8").split("\n")[:-1]


def share(found, expected):
    return sum(a == b for a, b in zip(found, expected, strict=True)) / len(expected)


def test_training_translating_and_aligning(task):
    options = torch.load(task / "hidden_step_120.pt", weights_only=True)["opt"]
    assert (options.distortion, options.distortion_window) == ("hidden", 3)
    lines = ["", *write_copies(task, "new", 40, seed=3)]
    solution = [line.replace("w", "v") for line in lines]
    outputs, alignments = translate(task, lines, "hidden_step_120.pt")
    assert outputs[0] == alignments[0] == ""
    assert share(outputs, solution) > 0.8
    diagonal = [{(i, i) for i in range(len(line.split()))} for line in lines]
    found = [parse_alignment(alignment).links for alignment in alignments]
    shared = sum(len(links & gold) for links, gold in zip(found, diagonal, strict=True))
    assert shared > 0.8 * sum(map(len, diagonal))


def test_the_alignment_of_a_given_target(task):
    lines = write_copies(task, "new", 10, seed=4)
    options = ("-gold_align", "-tgt", "new.tgt", "-attention_output", "test.attention")
    _, alignments = translate(task, lines, "hidden_step_120.pt", beam=1, options=options)
    attention = map(json.loads, (task / "test.attention").read_text().splitlines())
    for line, alignment, rows in zip(lines, alignments, attention, strict=True):
        length = len(line.split())
        targets = sorted(target for _, target in parse_alignment(alignment).links)
        assert targets == list(range(length))
        assert {len(row) for row in rows} == {length}
        assert all(0.49 < sum(row) < 1.01 for row in rows)


def test_what_jumps_have_learnt(task, capsys):
    given = [f"--src={task}/valid.src", f"--tgt={task}/valid.tgt"]
    assert jumps.main([f"--model={task}/hidden_step_120.pt", *given]) == 0
    entropy, probabilities, lost = capsys.readouterr().out.splitlines()[-3:]
    found = dict(zip(range(3, -4, -1), map(float, re.findall(r"0\.\d+", probabilities)), strict=True))
    assert sum(found.values()) == pytest.approx(1, abs=5e-3)
    assert max(found, key=found.get) == 1  # the target is the source
    spread = -sum(share * math.log(share) for share in found.values())
    measured, most = map(float, re.findall(r"\d\.\d+", entropy))
    assert 0 < measured <= spread + 5e-3  # entropy is concave: its mean is not above that of the mean
    assert most == pytest.approx(math.log(7), abs=1e-3)
    assert 0 <= float(lost.split()[-1]) < 0.3


def test_jumps_that_cannot_be_measured(task, capsys):
    given = ["--src", f"{task}/valid.src", "--tgt"]
    assert jumps.main(["--model", f"{task}/none_step_120.pt", *given, f"{task}/valid.tgt"]) == 2
    assert "none_step_120.pt: the model has no jumps" in capsys.readouterr().err
    assert jumps.main(["--model", f"{task}/hidden_step_120.pt", *given, f"{task}/train.tgt"]) == 2
    assert "valid.src:51: the file ends after 50 lines" in capsys.readouterr().err
