"""Trainings and translations by OpenNMT-py, for tests."""

import copy
import functools
import importlib
import os
import random
import re
import subprocess
import sys
import unittest.mock
from collections import Counter
from pathlib import Path

import pytest
import torch
import yaml
from onmt import opts
from onmt.bin.build_vocab import _get_parser as vocabulary_parser
from onmt.bin.train import _get_parser as training_parser
from onmt.utils.parse import ArgumentParser

from tests.support.running import environment
from tests.support.texts import write


def start(folder, program, *arguments, **variables):
    """Start one of OpenNMT-py's console scripts, or Python itself, in a folder."""
    path = sys.executable if program == "python" else Path(sys.executable).parent / program
    return subprocess.Popen(
        [path, *map(str, arguments)],
        cwd=folder,
        env=environment(PYTHONWARNINGS="ignore", **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder, program, *arguments):
    """Run a command to its end; return what it printed."""
    process = start(folder, program, *arguments)
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, f"status {process.returncode}:\n{output[-3000:]}{errors[-3000:]}"
    return output + errors


def call(folder, program, *arguments):
    """Run the main function of one of OpenNMT-py's console scripts in this process: that takes no start."""
    module = importlib.import_module(f"onmt.bin.{program.removeprefix('onmt_')}")
    argv = [program, *map(str, arguments)]
    before = os.getcwd()
    os.chdir(folder)
    try:
        with unittest.mock.patch.object(sys, "argv", argv):
            module.main()
    finally:
        os.chdir(before)


def server_app(path):
    """Return the application of OpenNMT-py's translation server for the models of a file."""
    import onmt.bin.server

    apps = []
    with unittest.mock.patch.object(onmt.bin.server, "serve", lambda app, **_: apps.append(app)):
        onmt.bin.server.start(str(path), url_root="/t")
    return apps[0]


def outcome(capsys, folder, program, *arguments):
    """Call a command as Python does; return its exit status and its errors: no other lines of its log."""
    status = 0
    capsys.readouterr()
    try:
        call(folder, program, *arguments)
    except SystemExit as ended:
        status = ended.code
    except BaseException as error:
        try:
            sys.excepthook(type(error), error, error.__traceback__)
        except SystemExit as ended:
            status = ended.code
    lines = capsys.readouterr().err.splitlines()
    return status, [line for line in lines if not re.match(r"\[\d{4}-.* (INFO|WARNING)\]", line)]


def write_vocabularies(folder):
    """Count the tokens of the training text, as ``onmt_build_vocab`` does."""
    for side, name in (("src", "plain"), ("tgt", "tgt")):
        counts = Counter((folder / f"train.{name}").read_text(encoding="utf-8").split())
        write(folder / f"vocab.{side}", *(f"{token}\t{count}" for token, count in counts.most_common()))


def write_task(folder, name, count, seed):
    """Write sentences of random words, and as their targets the words in the order of the positions."""
    generator = random.Random(seed)
    sources, targets = [], []
    for _ in range(count):
        length = generator.randint(4, 8)
        words = [f"w{generator.randrange(20)}" for _ in range(length)]
        positions = generator.sample(range(length), length)
        sources.append(" ".join(f"{word}￨{p}" for word, p in zip(words, positions, strict=True)))
        targets.append(" ".join(words[positions.index(place)] for place in range(length)))
    write(folder / f"{name}.src", *sources)
    write(folder / f"{name}.tgt", *targets)


def write_training_task(folder, train, valid):
    """Write so many sentences to train on and to validate on, and their vocabularies."""
    write_task(folder, "train", train, seed=1)
    write_task(folder, "valid", valid, seed=2)
    for side in ("src", "tgt"):
        write(folder / f"vocab.{side}", *(f"w{number}\t{number + 1}" for number in range(20)))


TINY = {
    "encoder_type": "preorder_transformer",
    "decoder_type": "transformer",
    "preorder_encoding": ["relative"],
    "position_encoding": True,
    "n_src_feats": 1,
    "src_feats_defaults": "0",
    "layers": 1,
    "hidden_size": 64,
    "word_vec_size": 64,
    "transformer_ff": 128,
    "heads": 4,
    "add_qkvbias": True,
    "add_ffnbias": True,
    "dropout": [0],
    "attention_dropout": [0],
    "param_init": 0,
    "param_init_glorot": True,
    "optim": "adam",
    "learning_rate": 0.002,
    "batch_type": "tokens",
    "batch_size": 512,
    "valid_batch_size": 4096,
    "bucket_size": 500,
    "num_workers": 0,
    "seed": 1,
    "src_vocab": "vocab.src",
    "tgt_vocab": "vocab.tgt",
    "save_model": "model",
    "data": {
        "train": {"path_src": "train.src", "path_tgt": "train.tgt", "weight": 1},
        "valid": {"path_src": "valid.src", "path_tgt": "valid.tgt"},
    },
}


def train(folder, *arguments, **changes):
    """Train a model of TINY with changes by ``onmt_train``; return the path of its last checkpoint."""
    settings = {**TINY, **changes}
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    call(folder, "onmt_train", "-config", "config.yaml", *arguments)
    return folder / f"{settings['save_model']}_step_{settings['train_steps']}.pt"


BOTH_PARSERS = pytest.mark.parametrize("make_parser", [training_parser, vocabulary_parser])


@functools.cache
def _defaults():
    parser = ArgumentParser()
    opts.train_opts(parser)
    return parser.parse_args(["--data=", "--src_vocab="])


def make_opt(**changes):
    """Return the options that ``onmt_train`` would have, those of TINY with changes."""
    opt = copy.deepcopy(_defaults())
    for key, value in {**TINY, "data_task": "seq2seq", **changes}.items():
        assert hasattr(opt, key) or key == "data_task", key
        setattr(opt, key, value)
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    return opt


def rates_of_change(optimizer, model):
    """Make one step with gradients of 1; return how much each parameter has moved."""
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    return {name: (before[name] - parameter).max().item() for name, parameter in model.named_parameters()}
