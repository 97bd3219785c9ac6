"""OpenNMT-py's commands with our models: nothing lost, mistakes in one line."""

import logging
import math
import os
import re
import shlex
import sys
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
from onmt import opts
from onmt.modules.embeddings import PositionalEncoding
from onmt.transforms import AVAILABLE_TRANSFORMS
from onmt.utils.distributed import ErrorHandler
from onmt.utils.parse import ArgumentParser
from torch._utils import ExceptionWrapper

from onmt_preorder.cli import main as onmt_preorder
from onmt_preorder.opennmt.repairs import numbers
from preorder.errors import DataError, MissingExtraError, NotFiniteError, PreorderError, UsageError
from preorder.io.files import read_lines
from tests.support.opennmt import call, make_opt, outcome, train, write_training_task
from tests.support.texts import content, rows, write

MODEL = "model_step_1.pt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with texts, vocabularies and a model that has made one step."""
    folder = tmp_path_factory.mktemp("opennmt")
    write_training_task(folder, 20, 20)
    train(folder, train_steps=1, save_checkpoint_steps=1)
    (folder / "text.pt").write_text("no model\n" * 100)
    (folder / "list.pt").write_text("a model\n")  # to pickle, an operation on a list
    (folder / "memo.pt").write_text("have a model\n")
    (folder / "empty.pt").write_text("")
    torch.save({"weights": torch.zeros(3)}, folder / "other.pt")
    (folder / "half.pt").write_bytes((folder / MODEL).read_bytes()[:5000])
    (folder / "directory").mkdir()
    for name, (change, _) in SPOILT.items():
        checkpoint = torch.load(folder / MODEL)
        change(checkpoint)
        torch.save(checkpoint, folder / f"{name}.pt")
    return folder


WEIGHT = "encoder.embeddings.make_embedding.emb_luts.0.weight"
NONE = "not a checkpoint of OpenNMT-py: no '{}' in it"
NOT_FINITE = "the weights are not finite: "
NO_FIT = "the weights of the checkpoint do not fit the model: "
SMALL = {"weight": torch.ones(3, 64), "bias": torch.ones(3)}
SPOILT = {
    "nan": (lambda saved: saved["model"][WEIGHT].fill_(math.nan), f"nan.pt: {NOT_FINITE}{WEIGHT}: take an"),
    "one_infinity": (lambda saved: saved["generator"]["bias"][3].fill_(math.inf), f"{NOT_FINITE}bias: "),
    "without_vocab": (lambda saved: saved.pop("vocab"), NONE.format("vocab")),
    "without_tgt": (lambda saved: saved["vocab"].pop("tgt"), NONE.format("tgt")),
    "no_words": (lambda saved: saved["vocab"]["src"].clear(), "checkpoint of OpenNMT-py: 'src' is empty"),
    "other_options": (lambda saved: saved.update(opt=3), NONE.format("opt")),
    "without_weights": (lambda saved: saved.pop("model"), "no weights: they are neither in it nor in"),
    "empty_weight": (lambda saved: saved["model"].update({WEIGHT: torch.empty(0)}), NO_FIT),
    "without_generator": (lambda saved: saved.pop("generator"), NO_FIT),
    "short_generator": (lambda saved: saved.update(generator=SMALL), NO_FIT),
    "without_state": (lambda saved: saved["optim"].pop("optimizer"), None),
    "released": (lambda saved: saved.update(optim=None), None),
    "other_words": (lambda saved: saved["vocab"]["tgt"].reverse(), None),
}
"""Checkpoint → what is changed in it, and what is said of it by ``onmt_translate`` and ``-train_from``."""

TRANSLATE = ("onmt_translate", "-src", "valid.src", "-output", "out")
TRAIN = ("onmt_train", "-config", "config.yaml", "-save_model", "another")
COMMANDS = {
    "train": TRAIN,
    "translate": (*TRANSLATE, "-model", MODEL),
    "average": ("onmt_average_models", "-output", "o", "-models", MODEL),
    "release": ("onmt_release_model", "--model", MODEL, "--output", "o"),
}
MISTAKES = [
    *(
        (f"{command} {name}.pt", message)
        for command in ("translate -model", "train -train_steps 9 -train_from")
        for name, (_, message) in SPOILT.items()
        if message
    ),
    *(
        (f"translate -model {name}.pt", "not a checkpoint")
        for name in ("text", "list", "memo", "empty", "other", "half")
    ),
    *rows("""
train -data "" | data: not corpora with their names
train -data {} | data: there is no corpus to learn from
train -data "{a: {path_src: 3, path_tgt: train.tgt}}" | data: a: path_src is no file name: 3
train -data "{a: {path_tgt: train.tgt}}" | data: a: there is no path_src
train -data "{a: {path_src: t, path_tgt: t}, valid: {path_src: t}}" | data: valid: there is no path_tgt
train -data "{a: {path_src: t, path_tgt: t, wieght: 1}}" | a: unknown key 'wieght': did you mean 'weight'
train -data "{a: {path_src: t, path_tgt: t, weight: 0}}" | data: a: weight is no whole number from 1: 0
train -data "{a: {path_src: t, path_tgt: t, transforms: bpe}}" | transforms: not a list of names: 'bpe'
train -data "{a: {path_src: t, path_tgt: t, transforms: [bpee]}}" | unknown transform 'bpee': did you m
train -data "{a: {path_src: absent, path_tgt: train.tgt}}" | absent: a/path_src: there is no such
train -transforms bpee | argument -transforms/--transforms: invalid choice: 'bpee'
train -preorder_model nowhere | nowhere/model.json: cannot be read
train -src_vocab absent | absent: src vocab: there is no such file
train -tgt_vocab "" | tgt vocab: no file is given
train -train_from absent | absent: No such file or directory
train -train_from text.pt | text.pt: not a checkpoint of OpenNMT-py
train -train_from without_state.pt -reset_optim states | holds no state of the optimizer: take reset_optim
train -train_from released.pt -reset_optim states | released.pt: holds no state of the optimizer
train -train_from other_words.pt -transforms filtertoolong | not the words of the model of train_from
train -accum_count 1 2 | Number of accum_count values must match number of accum_steps
train -train_steps -5 | argument --train_steps/-train_steps: not a whole number from 0 to
train -learning_rate nan | argument --learning_rate/-learning_rate: not a number from 0 to 2147483647: nan
train -preorder_max_relative 1000000000 | not a whole number from 1 to 5000: 1000000000
train -source_max_relative=-4 | not a whole number from 0 to 5000: -4
train -swan_negligible 1 | not a number from 0 to 0.999: 1
train -reordering_distance 0 | not a number from 0.001 to 5000: 0
translate -swan_choices -1 | not a whole number from 0 to
train -seed 9999999999999999999999999999999999999999 | argument --seed/-seed: not a whole number from -1
train -world_size 20 -gpu_ranks 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 | 20 GPUs are needed
translate -model absent.pt | absent.pt: No such file or directory
translate -beam_size 0 | argument --beam_size/-beam_size: not a whole number
translate -beam_size 2 -n_best 5 | n_best 5 is more than beam_size 2
translate -align_output valid.src | valid.src would be overwritten while it is needed
translate -align_output out | out would be overwritten while it is needed
translate -align_output none/links | none/links
translate -gpu 99 | gpu, gpu_ranks: 100 GPUs are needed, but torch finds
translate -output directory | directory: is a directory
translate -output valid.src | valid.src would be overwritten
translate -output model_step_1.pt | would be overwritten while it is needed
translate -src absent | absent: cannot be read
onmt_translate -src valid.src -output out | the following arguments are required: --model/-model
onmt_build_vocab -config config.yaml -save_data x | vocab.src is there already: -overwrite
average other_words.pt | model_step_1.pt and other_words.pt are of different models: their wor
average nan.pt | nan.pt: the weights are not finite
average without_weights.pt | without_weights.pt: no weights: they are neither in it nor in
release --model absent.pt | absent.pt: No such file
onmt_server --model_config absent | absent: cannot be read
onmt_server --model_config config.yaml | config.yaml:1: not JSON
"""),
]


@pytest.mark.parametrize(("line", "message"), MISTAKES)
def test_a_mistake_is_one_line(capsys, folder, line, message):
    program, *arguments = shlex.split(line)
    before = content(folder)
    status, lines = outcome(capsys, folder, *COMMANDS.get(program, (program,)), *arguments)
    assert (status, len(lines)) == (2, 1), lines
    assert message in lines[0]
    assert content(folder) == before


def child_that_raised(trace):
    """Return what OpenNMT-py's parent process knows of a child that ended so."""
    queue = SimpleNamespace(get=lambda: (1, trace))
    return SimpleNamespace(children_pids=[], error_queue=queue)


@pytest.mark.parametrize("kind", [DataError, UsageError, MissingExtraError, NotFiniteError])
def test_errors_of_a_process_of_its_own_are_one_line(capsys, kind):
    trace = f"Traceback\n\npreorder.errors.{kind.__name__}: f:3: no\n"
    with pytest.raises(PreorderError, match="^f:3: no$") as raised:
        ErrorHandler.signal_handler(child_that_raised(trace), 10, None)
    with pytest.raises(SystemExit):
        sys.excepthook(raised.type, raised.value, None)
    assert capsys.readouterr().err == "f:3: no\n"


def test_an_error_of_a_data_worker_is_one_line_though_torch_makes_another_one_of_it(capsys):
    missing = MissingExtraError("stanza", "stanza")
    try:
        raise missing
    except MissingExtraError:
        worker = ExceptionWrapper(sys.exc_info(), "in DataLoader worker process 0")
    with pytest.raises(RuntimeError) as raised:
        worker.reraise()
    with pytest.raises(SystemExit):
        sys.excepthook(raised.type, raised.value, raised.tb)
    assert capsys.readouterr().err == f"{missing}\n"


SUBWORDS = ("bpe", "sentencepiece", "onmt_tokenize")


def load_subwords(name, path):
    opt = make_opt()
    for side in ("src", "tgt"):
        values = {"subword_model": path, "subword_type": "bpe", "onmttok_kwargs": {}}
        opt.__dict__.update({f"{side}_{key}": value for key, value in values.items()})
    AVAILABLE_TRANSFORMS[name](opt).warm_up()


@pytest.mark.parametrize("name", SUBWORDS)
def test_a_subword_model_that_cannot_be_used_is_named(tmp_path, name):
    if name == "onmt_tokenize":
        pytest.importorskip("pyonmttok.version")  # not its stand-in
    with pytest.raises(DataError, match=r"^\S*/moved: src_subword_model: there is no such file$"):
        load_subwords(name, str(tmp_path / "moved"))
    if name != "onmt_tokenize":  # which needs no model, and takes most files for one
        with pytest.raises(UsageError, match="^src_subword_model: no file is given$"):
            load_subwords(name, None)
        (tmp_path / "junk").write_bytes(bytes([0xC2, 0x41, 0xFF]) * 100)
        with pytest.raises(UsageError, match="^src_subword_model, tgt_subword_model: .+"):
            load_subwords(name, str(tmp_path / "junk"))


def test_a_line_of_more_tokens_than_positions_is_bad_data():
    """Not only in OpenNMT-py's commands: our own and the server answer with the reason, too."""
    encoding = PositionalEncoding(2, "SinusoidalInterleaved", max_len=3)
    assert encoding(torch.zeros(1, 3, 2)).shape == (1, 3, 2)
    with pytest.raises(DataError, match="^a line has more tokens than the model has positions, 3$"):
        encoding(torch.zeros(1, 4, 2))


def test_faults_of_a_program_keep_their_traceback(capsys):
    with pytest.raises(Exception, match="Traceback\nValueError: no"):
        ErrorHandler.signal_handler(child_that_raised("Traceback\nValueError: no"), 10, None)
    with pytest.raises(FileNotFoundError) as raised:
        Path("absent").read_text()
    sys.excepthook(raised.type, raised.value, raised.tb)  # of a user's own program
    assert "Traceback" in capsys.readouterr().err


def test_bad_data_ends_a_training_from_a_worker_too(capsys, folder):
    data = "{a: {path_src: train.src, path_tgt: text.pt}}"
    status, lines = outcome(capsys, folder, *TRAIN, "-data", data, "-num_workers", 1)
    assert (status, lines[-1]) == (2, "train.src:21: the file ends after 20 lines, text.pt goes on")


def test_every_number_has_bounds_that_its_default_and_its_help_keep():
    known = set()
    for add, settings in (
        (opts.train_opts, {}),
        (opts.translate_opts, {}),
        (opts.data_prepare_opts, {"build_vocab_only": True}),
    ):
        parser = ArgumentParser()
        add(parser, **settings)
        known |= {action.dest for action in parser._actions}
        for action in (action for action in parser._actions if action.type in (int, float)):
            default, action.default = action.default, None
            assert numbers._problem(action, default) is None
            for special in re.findall(r"[(;,] ?(-?\d): ", action.help):
                assert numbers._problem(action, float(special)) is None, action.dest
            for bad in (math.nan, math.inf, -math.inf, 10**400 if action.type is int else 1e308 * 10):
                value = [bad] if isinstance(default, list) else bad
                assert numbers._problem(action, value), action.dest
    assert numbers.BOUNDS.keys() <= known


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyboardInterrupt, (130, "interrupted")),
        (RuntimeError("no"), (0, "RuntimeError: no")),  # status 0 of the hook: Python itself ends with 1
        (OSError(28, "No space left on device"), (2, "old: cannot be written: No space left on device")),
    ],
)
def test_an_old_translation_stays_until_the_new_one_is_whole(capsys, folder, monkeypatch, error, expected):
    from onmt.translate.translator import Inference

    (folder / "old").write_text("before\n")
    arguments = (*TRANSLATE[:-1], "old", "-model", MODEL)

    def fail(self, *_, **__):
        self.out_file.write("half")
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Inference, "_translate", fail)
        status, lines = outcome(capsys, folder, *arguments)
    assert (status, lines[-1]) == expected
    assert (folder / "old").read_text() == "before\n"
    assert not list(folder.glob(".*.partial"))
    call(folder, *arguments)
    assert len((folder / "old").read_text().splitlines()) == 20
    call(folder, *TRANSLATE[:-1], "/dev/null", "-model", MODEL)
    assert not Path("/dev/null").is_file()


def test_translations_are_compressed_as_their_file_is_named(capsys, folder):
    for name in ("plain", "packed.gz"):
        call(folder, *TRANSLATE[:-1], name, "-model", MODEL)
    assert list(read_lines(str(folder / "packed.gz"))) == (folder / "plain").read_text().splitlines()
    assert outcome(capsys, folder, *TRANSLATE[:-1], "-", "-model", MODEL)[0] == 2


def test_a_checkpoint_is_whole_or_not_there(tmp_path):
    import onmt.models.model_saver as saver

    path = tmp_path / "model.pt"
    path.write_text("before")
    with pytest.raises(Exception, match=r"pickle|local object"):
        saver.torch.save({"x": lambda: None}, str(path))
    assert path.read_text() == "before"
    saved = []
    for name in ("one.pt", "two.pt"):
        saver.torch.save({"x": 1}, str(tmp_path / name))
        assert torch.load(tmp_path / name) == {"x": 1}
        saved.append((tmp_path / name).read_bytes())
    assert saved[0] == saved[1]
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("save_format", ["pytorch", "safetensors"])
def test_a_whole_checkpoint_is_there_whenever_a_training_dies(folder, monkeypatch, save_format):
    """Before each file is renamed or removed."""
    seen = []

    def noting(work):
        def noted(*given):
            there = {path.name for path in folder.glob(f"{save_format}_step_*")}
            steps = [step for step in (1, 2) if f"{save_format}_step_{step}.pt" in there]
            needed = {f"safetensors_step_{step}.safetensors" for step in steps}
            assert save_format == "pytorch" or needed <= there
            seen.append(steps)
            return work(*given)

        return noted

    for name in ("replace", "remove"):
        monkeypatch.setattr(os, name, noting(getattr(os, name)))
    steps = {"train_steps": 2, "save_checkpoint_steps": 1, "keep_checkpoint": 1}
    train(folder, save_model=save_format, save_format=save_format, **steps)
    assert [steps for steps, _ in groupby(seen)][:3] == [[], [1], [1, 2]]


def test_of_a_checkpoint_that_cannot_be_written_no_file_appears(capsys, folder, monkeypatch):
    full = OSError(28, "No space left on device")
    monkeypatch.setattr("safetensors.torch.save_file", Mock(side_effect=full))
    more = ("-train_steps", 1, "-save_checkpoint_steps", 1, "-save_format", "safetensors")
    assert outcome(capsys, folder, *TRAIN, *more)[0] == 2
    assert not list(folder.glob("*another*"))


def test_translating_plain_and_odd_lines_warns(folder, caplog):
    write(folder / "mixed", "w1￨1 w2￨0", "w1 w2", "w3￨0 w4￨7 w5￨7", "w1 w2", "")
    command = ["translate", "--model", str(folder / MODEL), "--src", str(folder / "mixed"), "--line-by-line"]
    caplog.set_level(logging.WARNING, "onmt")
    assert onmt_preorder([*command, "--out", str(folder / "out")]) == 0
    ours = [record.getMessage() for record in caplog.records]
    assert [message.split(": a ")[0] for message in ours[:-1]] == [f"{folder / 'mixed'}:2"]
    assert ours[-1].startswith("the positions of 1 of 5 lines are no permutation")
    assert ours[-1].endswith(f"{folder / 'mixed'}:3")
    caplog.clear()
    call(folder, "onmt_translate", "-src", "mixed", "-output", "out", "-model", MODEL)
    theirs = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(theirs) == 2
    assert "mixed:2: a line without positions" in theirs[0]
