"""The best checkpoint: noted, said at the end of the log, and printed by ``onmt_preorder best``."""

import math
import os
import re
import signal
from pathlib import Path

import pytest
import torch
import yaml
from onmt.trainer import Trainer

from onmt_preorder.cli import main
from onmt_preorder.opennmt.checkpoints import best, read_options
from preorder.errors import DataError
from tests.support.opennmt import TINY, call, make_opt, write_task, write_vocabularies

STEPS = {"train_steps": 4, "valid_steps": 1, "save_checkpoint_steps": 1, "bucket_size": 60}


@pytest.fixture
def train(tmp_path, caplog):
    """Return a function that trains for some steps and returns the lines of the log."""

    def run(**changes):
        caplog.clear()
        with caplog.at_level("INFO", logger="onmt"):
            _train(tmp_path, changes)
        return list(caplog.messages)

    return run


def _train(folder, changes):
    if not (folder / "train.src").exists():
        write_task(folder, "train", 30, seed=1)
        write_task(folder, "valid", 10, seed=2)
        plain = re.sub(r"￨\d+", "", (folder / "train.src").read_text(encoding="utf-8"))
        (folder / "train.plain").write_text(plain, encoding="utf-8")
        write_vocabularies(folder)
    (folder / "run.yaml").write_text(yaml.safe_dump({**TINY, **STEPS, **changes}))
    call(folder, "onmt_train", "-config", "run.yaml")


def in_the_log(lines):
    """Return the validation perplexities that OpenNMT-py itself reports."""
    return [float(line.split()[-1]) for line in lines if "Validation perplexity" in line]


def test_a_training_that_gets_worse(train, tmp_path, capsys, monkeypatch):
    """A rate far too high from the third step on: the best is not the last."""
    lines = train(learning_rate=0.01, learning_rate_decay=8, start_decay_steps=2, decay_steps=1)
    reported = in_the_log(lines)
    step = reported.index(min(reported)) + 1
    assert (len(reported), step < 4) == (4, True)
    noted = [read_options(str(tmp_path / f"model_step_{n}.pt")).validation_perplexity for n in range(1, 5)]
    assert noted == pytest.approx(reported, rel=1e-4)
    said = re.search(r"Best checkpoint: step (\d+), validation perplexity (\S+): (\S+)$", lines[-1])
    assert (int(said[1]), Path(said[3]).name) == (step, f"model_step_{step}.pt")
    assert float(said[2]) == pytest.approx(min(reported), rel=1e-4)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert main(["best", "model"]) == 0
    assert capsys.readouterr().out == f"model_step_{step}.pt\n"
    (tmp_path / f"model_step_{step}.pt").unlink()  # as keep_checkpoint does
    second = reported.index(sorted(reported)[1]) + 1
    assert best(str(tmp_path / "model"))[:2] == (tmp_path / f"model_step_{second}.pt", second)


def test_checkpoints_without_a_validation_of_their_own(train, tmp_path, capsys):
    lines = train(valid_steps=3, save_checkpoint_steps=2, train_steps=4)
    assert "no checkpoint of ours was saved right after a validation" in lines[-1]
    assert main(["best", str(tmp_path / "model")]) == 2
    assert "save_checkpoint_steps has to be a multiple of valid_steps" in capsys.readouterr().err
    train(valid_steps=2, save_checkpoint_steps=1, train_steps=3)
    assert best(str(tmp_path / "model"))[1] == 2
    # A checkpoint of a training that goes on does not keep the note of the one that it begins from.
    train(train_from="model_step_2.pt", save_model="more", valid_steps=2, train_steps=3)
    assert read_options(str(tmp_path / "more_step_3.pt")).validation_perplexity is None


def test_other_models_stay_as_they_are(train, tmp_path):
    lines = train(
        encoder_type="transformer",
        preorder_encoding=[],
        n_src_feats=0,
        src_feats_defaults=None,
        train_steps=1,
        data={name: {"path_src": "train.plain", "path_tgt": "train.tgt"} for name in ("train", "valid")},
    )
    assert in_the_log(lines)
    assert not any("Best checkpoint" in line for line in lines)
    assert not hasattr(read_options(str(tmp_path / "model_step_1.pt")), "validation_perplexity")


TOO_SHORT = {"transforms": ["filtertoolong"], "src_seq_length": 2}


def test_a_bucket_of_which_nothing_is_left(train, tmp_path):
    train()  # writes the texts
    long, short = "a￨0 a￨1 a￨2", "a￨0"
    (tmp_path / "train.src").write_text("\n".join([long, short] * 15) + "\n")
    (tmp_path / "valid.src").write_text("\n".join([short] + [long] * 9) + "\n")
    assert len(in_the_log(train(**TOO_SHORT, bucket_size=1, valid_batch_size=1))) == 4


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("train", "the transforms leave none of 100[0-9][0-9] training lines in a row"),
        ("valid", "validation: no sentence pair is left by the transforms"),
    ],
)
def test_transforms_that_leave_nothing(train, tmp_path, part, message):
    train()
    for name in ("train", "valid"):
        count = len((tmp_path / f"{name}.src").read_text().splitlines())
        line = "a￨0 a￨1 a￨2" if name == part else "a￨0"
        (tmp_path / f"{name}.src").write_text(f"{line}\n" * count)
    with pytest.raises(DataError, match=message):
        train(**TOO_SHORT)


@pytest.mark.parametrize("folder", [".", "nowhere"])
def test_no_checkpoints(tmp_path, folder, capsys):
    (tmp_path / "model.pt").write_text("")
    (tmp_path / "other_step_1.pt").write_text("")
    (tmp_path / "model_step_x.pt").write_text("")
    assert main(["best", str(tmp_path / folder / "model")]) == 2
    assert capsys.readouterr().err.endswith(
        "model: there is no checkpoint MODEL_step_N.pt of this training\n"
    )


def test_the_first_of_equals_and_no_perplexity_that_is_no_number(tmp_path):
    for step, perplexity in ((9, 4.0), (10, 3.0), (11, 3.0), (12, None)):
        opt = make_opt()
        opt.validation_perplexity = perplexity
        torch.save({"opt": opt}, tmp_path / f"a[b]_step_{step}.pt")
    assert best(str(tmp_path / "a[b]"))[1:] == (10, 3.0)
    (tmp_path / "a[b]_step_13.pt").write_text("no checkpoint")
    with pytest.raises(DataError, match=r"step_13.pt: not a checkpoint of OpenNMT-py"):
        best(str(tmp_path / "a[b]"))


def test_a_perplexity_that_is_no_number_is_not_noted(train, monkeypatch):
    monkeypatch.setattr("onmt.utils.statistics.Statistics.ppl", lambda self: math.nan)
    assert "that gave a number" in train(train_steps=1)[-1]


def test_a_log_file_goes_on_to_the_end(train, tmp_path):
    lines = train(log_file="run.log")
    assert (tmp_path / "run.log").read_text().rstrip("\n").endswith(lines[-1])


@pytest.mark.parametrize(
    ("step", "found"), [(1, "no checkpoint has been saved"), (3, "the last checkpoint is of step 2")]
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_training_that_is_ended_says_what_it_leaves(train, caplog, monkeypatch, step, found, number):
    accumulate = Trainer._gradient_accumulation

    def learn(self, *batches):
        if self.optim.training_step == step:
            os.kill(os.getpid(), number)
        accumulate(self, *batches)

    monkeypatch.setattr(Trainer, "_gradient_accumulation", learn)
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        train()
    assert caplog.messages[-1] == f"interrupted in step {step}: {found}"
    assert signal.getsignal(number) == before
