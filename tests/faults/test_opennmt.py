"""OpenNMT-py's commands with our models: nothing lost, mistakes in one line, odd positions are told."""

import logging
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("onmt", reason="OpenNMT-py is not installed: see the README")

import onmt.bin.translate
import torch
import yaml
from onmt import opts
from onmt.utils.parse import ArgumentParser

from onmt_preorder.cli import main as onmt_preorder
from onmt_preorder.opennmt.repairs import numbers
from preorder.io.files import read_lines
from tests.support.opennmt import TINY, call, start, write_training_task
from tests.support.texts import content, write

MODEL = "model_step_1.pt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with texts, vocabularies and a model that has made one step."""
    folder = tmp_path_factory.mktemp("opennmt")
    write_training_task(folder, 20, 20)
    (folder / "config.yaml").write_text(
        yaml.safe_dump({**TINY, "train_steps": 1, "save_checkpoint_steps": 1})
    )
    call(folder, "onmt_train", "-config", "config.yaml")
    (folder / "text.pt").write_text("no model\n" * 100)
    (folder / "empty.pt").write_text("")
    torch.save({"weights": torch.zeros(3)}, folder / "other.pt")
    (folder / "half.pt").write_bytes((folder / MODEL).read_bytes()[:5000])
    (folder / "directory").mkdir()
    for name, change in SPOILT.items():
        checkpoint = torch.load(folder / MODEL)
        change(checkpoint)
        torch.save(checkpoint, folder / f"{name}.pt")
    return folder


WEIGHT = "encoder.embeddings.make_embedding.emb_luts.0.weight"
SPOILT = {
    "nan": lambda checkpoint: checkpoint["model"][WEIGHT].fill_(math.nan),
    "one_infinity": lambda checkpoint: checkpoint["generator"]["bias"][3:4].fill_(math.inf),
    "without_vocab": lambda checkpoint: checkpoint.pop("vocab"),
    "without_tgt": lambda checkpoint: checkpoint["vocab"].pop("tgt"),
    "without_weights": lambda checkpoint: checkpoint.pop("model"),
    "empty_weight": lambda checkpoint: checkpoint["model"].update({WEIGHT: torch.empty(0)}),
    "without_generator": lambda checkpoint: checkpoint.pop("generator"),
    "short_generator": lambda checkpoint: checkpoint.update(
        generator={"weight": torch.ones(3, 64), "bias": torch.ones(3)}
    ),
    "other_state": lambda checkpoint: checkpoint.update(optim={"step": 3}),
    "without_state": lambda checkpoint: checkpoint["optim"].pop("optimizer"),
    "released": lambda checkpoint: checkpoint.update(optim=None),
    "other_words": lambda checkpoint: checkpoint["vocab"]["tgt"].reverse(),
    "other_options": lambda checkpoint: checkpoint.update(opt=3),
}


def outcome(capsys, folder, program, *arguments):
    """Call a command as Python does; return its exit status and what it says on standard error at the end."""
    status = 0
    capsys.readouterr()
    try:
        call(folder, program, *arguments)
    except SystemExit as ended:
        status = ended.code
    except BaseException as error:
        with pytest.raises(SystemExit) as ended:
            sys.excepthook(type(error), error, error.__traceback__)
        status = ended.value.code
    lines = capsys.readouterr().err.splitlines()
    return status, [line for line in lines if not re.match(r"\[\d{4}-.* (INFO|WARNING)\]", line)]


TRANSLATE = ("onmt_translate", "-src", "valid.src", "-output", "out")
TRAIN = ("onmt_train", "-config", "config.yaml", "-save_model", "another")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*TRAIN, "-data", ""), "data: not corpora with their names"),
        ((*TRAIN, "-data", "train.src"), "data: not corpora with their names"),
        ((*TRAIN, "-data", "{"), "data: not corpora with their names"),
        ((*TRAIN, "-data", "{}"), "data: there is no corpus to learn from"),
        (
            (*TRAIN, "-data", "{a: {path_src: 3, path_tgt: train.tgt}}"),
            "data: a: path_src is no file name: 3",
        ),
        ((*TRAIN, "-data", "{a: {path_tgt: train.tgt}}"), "data: a: there is no path_src"),
        (
            (*TRAIN, "-data", "{a: {path_src: train.src, weight: 0}}"),
            "data: a: weight is no whole number from 1: 0",
        ),
        (
            (*TRAIN, "-data", "{a: {path_src: train.src, transforms: bpe}}"),
            "transforms: not a list of names: 'bpe'",
        ),
        (
            (*TRAIN, "-data", "{a: {path_src: train.src, transforms: [bpee]}}"),
            "unknown transform 'bpee': did you m",
        ),
        (
            (*TRAIN, "-transforms", "prefix", "-src_prefix", "de"),
            "data: train: src_prefix has no effect outside of the corpora: name it here",
        ),
        ((*TRAIN, "-transforms", "bpee"), "argument -transforms/--transforms: invalid choice: 'bpee'"),
        (
            (*TRAIN, "-data", "{a: {path_src: absent, path_tgt: train.tgt}}"),
            "absent: a/path_src: there is no such",
        ),
        ((*TRAIN, "-src_vocab", "absent"), "absent: src vocab: there is no such file"),
        ((*TRAIN, "-src_vocab", "directory"), "directory: src vocab: not a file"),
        ((*TRAIN, "-tgt_vocab", ""), "tgt vocab: no file is given"),
        ((*TRAIN, "-train_from", "absent"), "absent: No such file or directory"),
        ((*TRAIN, "-train_from", "text.pt"), "text.pt: not a checkpoint of OpenNMT-py"),
        ((*TRAIN, "-accum_count", "1", "2"), "Number of accum_count values must match number of accum_steps"),
        ((*TRAIN, "-train_steps", "-5"), "argument --train_steps/-train_steps: not a whole number from 0 to"),
        (
            (*TRAIN, "-learning_rate", "nan"),
            "argument --learning_rate/-learning_rate: not a number from 0 to 1000000: nan",
        ),
        ((*TRAIN, "-layers", "1000000000"), "not a whole number from -1 to 1048576: 1000000000"),
        ((*TRAIN, "-preorder_max_relative", "1000000000"), "not a whole number from 1 to 5000: 1000000000"),
        ((*TRAIN, "-source_max_relative", "5001"), "not a whole number from 0 to 5000: 5001"),
        ((*TRAIN, "-reordering_window", "1e9"), "not a number from -1 to 5000: 1000000000.0"),
        ((*TRAIN, "-local_reordering_window", "1001"), "not a whole number from 0 to 1000: 1001"),
        ((*TRAIN, "-dropout", "2"), "argument --dropout/-dropout: not a number from 0 to 1: 2"),
        ((*TRAIN, "-seed", "9" * 40), "argument --seed/-seed: not a whole number from -1"),
        ((*TRANSLATE, "-model", "absent.pt"), "absent.pt: No such file or directory"),
        *(
            ((*TRANSLATE, "-model", f"{name}.pt"), "not a checkpoint")
            for name in ("text", "empty", "other", "half")
        ),
        ((*TRANSLATE, "-model", "directory"), "directory: Is a directory"),
        *(
            ((*command, f"{name}.pt"), message)
            for command in ((*TRANSLATE, "-model"), (*TRAIN, "-train_from"))
            for name, message in (
                ("nan", f"nan.pt: the weights are not finite: {WEIGHT}: take an earlier"),
                ("one_infinity", "one_infinity.pt: the weights are not finite: bias: "),
                ("without_vocab", "without_vocab.pt: not a checkpoint of OpenNMT-py: no 'vocab' in it"),
                ("without_tgt", "without_tgt.pt: not a checkpoint of OpenNMT-py: no 'tgt' in it"),
                ("without_weights", "without_weights.pt: no weights: they are neither in it nor in"),
                ("empty_weight", "the weights of the checkpoint do not fit the model: "),
                ("without_generator", "the weights of the checkpoint do not fit the model: "),
                ("short_generator", "the weights of the checkpoint do not fit the model: "),
                ("other_options", "other_options.pt: not a checkpoint of OpenNMT-py: no 'opt' in it"),
            )
        ),
        *(
            (
                (*TRAIN, "-train_from", f"{name}.pt", "-reset_optim", reset),
                f"{name}.pt: holds no state of the optimizer: take reset_optim: all",
            )
            for name, reset in (("other_state", "none"), ("without_state", "states"), ("released", "states"))
        ),
        (
            (*TRAIN, "-train_from", "other_words.pt", "-transforms", "filtertoolong"),
            "tgt_vocab: not the words of the model of train_from, other_words.pt",
        ),
        (
            ("onmt_average_models", "-models", MODEL, "other_words.pt", "-output", "o"),
            f"{MODEL} and other_words.pt are of different models: their words or weights differ",
        ),
        (
            ("onmt_average_models", "-models", MODEL, "nan.pt", "-output", "o"),
            "nan.pt: the weights are not finite",
        ),
        (
            (*TRANSLATE, "-model", MODEL, "-beam_size", "0"),
            "argument --beam_size/-beam_size: not a whole number",
        ),
        ((*TRANSLATE, "-model", MODEL, "-beam_size", "x"), "invalid int value: 'x'"),
        (
            (*TRANSLATE, "-model", MODEL, "-beam_size", "2", "-n_best", "5"),
            "n_best 5 is more than beam_size 2",
        ),
        ((*TRANSLATE, "-model", MODEL, "-dump_beam", "x"), "dump_beam does not work in OpenNMT-py 3.5"),
        ((*TRANSLATE, "-model", MODEL, "-world_size", "2"), "world_size 2 needs as many gpu_ranks, not 0"),
        ((*TRANSLATE, "-model", MODEL, "-phrase_table", "no"), "no: phrase_table: there is no such file"),
        (
            (*TRANSLATE, "-model", MODEL, "-gpu", "99"),
            "gpu, gpu_ranks: 100 GPUs are needed, but torch finds ",
        ),
        (
            (*TRAIN, "-world_size", "20", "-gpu_ranks", *map(str, range(20))),
            "gpu, gpu_ranks: 20 GPUs are needed, but torch finds ",
        ),
        ((*TRANSLATE, "-model", MODEL, "-align_debug"), "align_debug has no effect without report_align"),
        ((*TRANSLATE, "-model", MODEL, "-output", "directory"), "directory: is a directory"),
        ((*TRANSLATE, "-model", MODEL, "-output", "no/where"), "no/where: cannot be written: No such file"),
        ((*TRANSLATE, "-model", MODEL, "-output", "valid.src"), "valid.src would be overwritten"),
        ((*TRANSLATE, "-model", MODEL, "-output", MODEL), "would be overwritten while it is needed"),
        ((*TRANSLATE, "-model", MODEL, "-src", "absent"), "absent: cannot be read"),
        (TRANSLATE, "the following arguments are required: --model/-model"),
        (
            ("onmt_build_vocab", "-config", "config.yaml", "-save_data", "x"),
            "vocab.src is there already: -overwrite",
        ),
        (
            ("onmt_average_models", "-models", MODEL, "text.pt", "-output", "o"),
            "text.pt: not a checkpoint of",
        ),
        (("onmt_release_model", "--model", "absent.pt", "--output", "o"), "absent.pt: No such file"),
        (("onmt_release_model", "--model", MODEL, "--output", "directory"), "directory: is a directory"),
        (("onmt_server", "--model_config", "absent"), "absent: cannot be read"),
        (("onmt_server", "--model_config", "config.yaml"), "config.yaml:1: not JSON"),
    ],
)
def test_a_mistake_is_one_line(capsys, folder, arguments, message):
    before = content(folder)
    status, lines = outcome(capsys, folder, *arguments)
    assert (status, len(lines)) == (2, 1), lines
    assert message in lines[0]
    assert content(folder) == before


def test_faults_of_a_program_keep_their_traceback(capsys, folder, monkeypatch):
    def fail():
        raise ValueError("no")

    monkeypatch.setattr(onmt.bin.translate, "_get_parser", fail)
    with pytest.raises(ValueError, match="no") as raised:
        call(folder, "onmt_translate")
    sys.excepthook(raised.type, raised.value, raised.tb)
    assert "Traceback" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError) as raised:
        Path("absent").read_text()
    sys.excepthook(raised.type, raised.value, raised.tb)  # of a user's own program
    assert "Traceback" in capsys.readouterr().err


PARSERS = [
    (opts.train_opts, {}),
    (opts.translate_opts, {}),
    (opts.data_prepare_opts, {"build_vocab_only": True}),
]


@pytest.mark.parametrize(("add", "settings"), PARSERS)
def test_every_number_has_bounds_that_its_default_keeps(add, settings):
    parser = ArgumentParser()
    add(parser, **settings)
    for action in parser._actions:
        if action.type not in (int, float):
            continue
        assert numbers._problem(action, action.default) is None
        for bad in (math.nan, math.inf, -math.inf, 10**400 if action.type is int else 1e308 * 10):
            value = [bad] if isinstance(action.default, list) else bad
            assert numbers._problem(action, value), action.dest
        if action.dest in numbers.BOUNDS:
            least, most = numbers.BOUNDS[action.dest]
            assert numbers._problem(action, least - 1), action.dest
            assert not numbers._problem(action, least), action.dest
            assert not numbers._problem(action, most), action.dest


def test_all_bounds_are_of_options():
    known = set()
    for add, settings in PARSERS:
        parser = ArgumentParser()
        add(parser, **settings)
        known |= {action.dest for action in parser._actions}
    assert numbers.BOUNDS.keys() <= known


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, RuntimeError("no"), OSError(28, "No space left on device")]
)
def test_an_old_translation_stays_until_the_new_one_is_whole(capsys, folder, monkeypatch, error):
    from onmt.translate.translator import Inference

    (folder / "old").write_text("before\n")
    arguments = (*TRANSLATE[:-1], "old", "-model", MODEL)

    def fail(self, *_, **__):
        self.out_file.write("half")
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Inference, "_translate", fail)
        if isinstance(error, RuntimeError):
            with pytest.raises(RuntimeError):
                call(folder, *arguments)
        else:
            expected = (130, ["interrupted"]) if error is KeyboardInterrupt else None
            found = outcome(capsys, folder, *arguments)
            assert found == (expected or (2, ["old: cannot be written: No space left on device"]))
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


def test_ctrl_c_ends_a_translation_with_130(folder):
    (folder / "old").write_text("before\n")
    write(folder / "long", *[" ".join(["w1"] * 200)] * 500)
    process = start(
        folder, "onmt_translate", "-src", "long", "-output", "old", "-model", MODEL, "-beam_size", 50
    )
    for _ in range(600):
        if list(folder.glob(".old.*.partial")):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.splitlines()[-1]) == (130, "interrupted")
    assert "Traceback" not in errors
    assert (folder / "old").read_text() == "before\n"


def test_ctrl_c_while_opennmt_is_imported(tmp_path):
    (tmp_path / "onmt.py").write_text("raise KeyboardInterrupt\n")
    code = "import sys; sys.argv[0] = {!r}; sys.path.insert(0, '.'); import onmt_preorder._hook, onmt"
    for name, status in (("/bin/onmt_train", 130), ("own.py", -signal.SIGINT)):
        command = [sys.executable, "-S", "-c", code.format(name)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == status
        assert (done.stderr == "interrupted\n") == (status == 130)


def test_a_checkpoint_is_whole_or_not_there(folder, tmp_path, monkeypatch):
    import onmt.models.model_saver as saver

    space = {"torch": torch, "__name__": saver.__name__}
    path = tmp_path / "model.pt"
    path.write_text("before")
    monkeypatch.setitem(space, "value", {"x": lambda: None})  # which cannot be pickled
    with pytest.raises(Exception, match="pickle"):
        exec(f"torch.save(value, {str(path)!r})", space)
    assert path.read_text() == "before"
    saved = []
    for name in ("one.pt", "two.pt"):
        exec(f"torch.save({{'x': 1}}, {str(tmp_path / name)!r})", space)
        assert torch.load(tmp_path / name) == {"x": 1}
        saved.append((tmp_path / name).read_bytes())
    assert saved[0] == saved[1]
    torch.save({"x": 1}, tmp_path / "own.pt")  # of a program that is not OpenNMT-py
    assert len(list(tmp_path.iterdir())) == 4


def test_translating_plain_and_odd_lines_warns(folder, capsys, caplog):
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
