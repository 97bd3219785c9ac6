"""Checkpoints: reading, what is in them, resuming, and the best of a training."""

import copy
import math
import os
import re
import signal
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from onmt.train_single import _get_model_opts
from onmt.trainer import Trainer
from onmt.utils.optimizers import Optimizer
from onmt.utils.parse import ArgumentParser
from safetensors.torch import save_file

from onmt_preorder.cli import main
from onmt_preorder.opennmt import corpora
from onmt_preorder.opennmt.checkpoints import best, read_options
from preorder.errors import DataError, UsageError
from tests.support import opennmt
from tests.support.distortion_models import make_model
from tests.support.opennmt import make_opt, write_training_task
from tests.support.texts import write
from tests.support.transformers import OPENNMT


def test_options_are_read_whatever_torch_allows(tmp_path):
    torch.save({"opt": Namespace(layers=3)}, tmp_path / "model.pt")
    torch.serialization.clear_safe_globals()
    assert read_options(str(tmp_path / "model.pt")).layers == 3


@pytest.mark.parametrize(
    ("trained", "built", "message"),
    [
        ({}, {"distortion": "hidden"}, "Missing key in checkpoint: decoder.jumps"),
        ({"distortion": "hidden"}, {}, "Extra keys in model"),
        ({}, {"hidden_size": 8}, "do not fit the model: "),
    ],
)
def test_the_weights_of_another_model(trained, built, message):
    """As after ``train_from`` with ``override_opts``."""
    given, model = make_model(**trained), make_model(**built)
    weights = {key: value for key, value in given.state_dict().items() if not key.startswith("generator")}
    checkpoint = {"model": weights, "generator": given.generator.state_dict()}
    with pytest.raises(UsageError, match=message):
        model.load_state_dict(checkpoint)


def test_the_state_of_another_optimizer():
    one, other = (Optimizer.from_opt(make_model(distortion=each), make_opt()) for each in ("none", "hidden"))
    with pytest.raises(UsageError, match="train_from has the state of another optimizer$"):
        other.load_state_dict(one.state_dict())


def test_weights_in_a_file_of_their_own(tmp_path):
    model = make_model()
    path = str(tmp_path / "model")
    with pytest.raises(DataError, match=r"model\.pt: no weights: they are neither in it nor in a file"):
        model.load_safe_state_dict(path)
    write(tmp_path / "model.safetensors", "no weights")
    with pytest.raises(DataError, match=r"model\.safetensors: not safetensors: "):
        model.load_safe_state_dict(path)
    weights = {name: torch.full_like(weight, torch.nan) for name, weight in model.state_dict().items()}
    save_file(weights, f"{path}.safetensors")
    with pytest.raises(DataError, match=r"model\.safetensors: the weights are not finite: "):
        model.load_safe_state_dict(path)


# --- resuming ---


@pytest.mark.parametrize(
    ("then", "now", "message"),
    [
        (
            {},
            OPENNMT,
            r"^encoder_type is 'transformer', but in the model of train_from, .*\.pt, 'preorder_transformer'",
        ),
        (OPENNMT, {}, "^encoder_type is 'preorder_transformer', but in the model of train_from"),
        ({}, {"preorder_encoding": ["absolute"]}, r"^preorder_encoding is \['absolute'\], .*\['relative'\]$"),
        ({}, {"source_max_relative": 8}, "^source_max_relative is 8, .* 4$"),
        ({"n_src_feats": 0, "preorder_encoding": []}, {"n_src_feats": 1}, "^n_src_feats is 1, .* 0$"),
    ],
)
def test_model_options_must_be_those_of_the_checkpoint(tmp_path, then, now, message):
    opt = make_opt(**now, train_from=str(tmp_path / "model.pt"))
    torch.save({"opt": make_opt(**then), "model": {}, "generator": {}}, opt.train_from)
    with pytest.raises(UsageError, match=message):
        ArgumentParser.validate_train_opts(opt)
    opt.override_opts = True
    ArgumentParser.validate_train_opts(opt)


def test_a_model_that_read_positions_from_files_goes_on_with_a_preorderer(tmp_path):
    opt = make_opt(preorder_model="dir", train_from=str(tmp_path / "model.pt"))
    opt.n_src_feats = 0  # as a configuration leaves it
    torch.save({"opt": make_opt(), "model": {}, "generator": {}}, opt.train_from)
    ArgumentParser.validate_train_opts(opt)
    assert opt.n_src_feats == 1


def test_the_new_checkpoint_tells_of_the_new_text():
    trained = make_opt(transforms=["bpe"], src_subword_model="old", dropout=[0.1])
    now = copy.deepcopy(trained)
    now.__dict__.update(transforms=["preorder"], preorder_model="dir", src_subword_model="new", dropout=[0.9])
    now.__dict__.update(data={"train": {}}, _all_transform={"preorder"}, n_src_feats=1)
    kept = _get_model_opts(now, {"opt": trained})
    assert (kept.transforms, kept.preorder_model, kept.src_subword_model) == (["preorder"], "dir", "new")
    assert kept.dropout == [0.1]
    assert kept.data == {"train": {}}
    assert kept.learning_rate == trained.learning_rate
    for reset, rate in (("all", 7.0), ("keep_states", 7.0), ("none", trained.learning_rate)):
        now.__dict__.update(learning_rate=7.0, reset_optim=reset)
        assert _get_model_opts(now, {"opt": trained}).learning_rate == rate, reset
    plain = make_opt(**OPENNMT, transforms=["bpe"])
    now.__dict__.update(vars(make_opt(**OPENNMT, transforms=[])))
    assert _get_model_opts(now, {"opt": plain}).transforms == ["bpe"]
    assert isinstance(_get_model_opts(now), Namespace)


# --- the best ---

STEPS = {"train_steps": 4, "valid_steps": 1, "save_checkpoint_steps": 1, "bucket_size": 60}


@pytest.fixture
def train(tmp_path, caplog):
    """Return a function that trains for some steps and returns the lines of the log."""
    write_training_task(tmp_path, 30, 10)

    def run(**changes):
        caplog.clear()
        with caplog.at_level("INFO", logger="onmt"):
            opennmt.train(tmp_path, **STEPS | changes)
        return list(caplog.messages)

    return run


def in_the_log(lines):
    """Return the validation perplexities that OpenNMT-py itself reports."""
    return [float(line.split()[-1]) for line in lines if "Validation perplexity" in line]


def test_a_training_that_gets_worse(train, tmp_path, capsys, monkeypatch):
    """A rate far too high from the third step on: the best is not the last."""
    rate = {"learning_rate": 0.01, "learning_rate_decay": 8, "start_decay_steps": 2, "decay_steps": 1}
    lines = train(**rate, log_file="run.log")
    assert (tmp_path / "run.log").read_text().rstrip("\n").endswith(lines[-1])
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


TOO_SHORT = {"transforms": ["filtertoolong"], "src_seq_length": 2}


def test_a_bucket_of_which_nothing_is_left(train, tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "MOST_LOST", 2)  # one after another
    long, short = "a￨0 a￨1 a￨2", "a￨0"
    write(tmp_path / "train.src", *[long, short] * 15)
    write(tmp_path / "valid.src", short, *[long] * 9)
    assert len(in_the_log(train(**TOO_SHORT, bucket_size=1, valid_batch_size=1))) == 4


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("train", "the transforms leave none of 100[0-9][0-9] training lines in a row"),
        ("valid", "validation: no sentence pair is left by the transforms"),
    ],
)
def test_transforms_that_leave_nothing(train, tmp_path, part, message):
    for name, count in (("train", 30), ("valid", 10)):
        line = "a￨0 a￨1 a￨2" if name == part else "a￨0"
        write(tmp_path / f"{name}.src", *[line] * count)
    with pytest.raises(DataError, match=message):
        train(**TOO_SHORT)


@pytest.mark.parametrize("folder", [".", "nowhere"])
def test_no_checkpoints(tmp_path, folder, capsys):
    for name in ("model.pt", "other_step_1.pt", "model_step_x.pt"):
        write(tmp_path / name)
    assert main(["best", str(tmp_path / folder / "model")]) == 2
    message = "model_step_N.pt: there is no such checkpoint, for any step N\n"
    assert capsys.readouterr().err.endswith(message)


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


def test_a_training_that_is_ended_stops_at_once(train, monkeypatch):
    """While ``SIGTERM`` raises nothing outside of it."""
    steps, accumulate = [], Trainer._gradient_accumulation

    def learn(self, *batches):
        steps.append(self.optim.training_step)
        os.kill(os.getpid(), signal.SIGTERM)
        accumulate(self, *batches)

    monkeypatch.setattr(Trainer, "_gradient_accumulation", learn)
    with pytest.raises(KeyboardInterrupt):
        train()
    assert steps == [1]
