"""What the commands say while they run."""

import argparse
import json
import logging
import re
from datetime import datetime

import pytest

from preorder.cli import COMMANDS
from preorder.cli import main as run_main
from preorder.command_line import show_messages
from preorder.errors import UsageError
from preorder.progress import LOGGER, has_bars

SOURCE = [f"{subject} {verb} {what}" for subject in "ab" for verb in "vw" for what in "xyz"] * 4
TRAIN = ["train", "--method", "btg", "--classes", "2", "--iterations", "3", "--held-out", "6"]


@pytest.fixture
def bitext(tmp_path):
    for name, lines in (("src", SOURCE), ("align", ["0-0 1-2 2-1"] * len(SOURCE))):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return ["--src", str(tmp_path / "src"), "--align", str(tmp_path / "align")]


def train(bitext, tmp_path, *more):
    model = tmp_path / "model"
    features = tmp_path / "features"
    crossed = ["--cross-fit", "2", "--cross-fit-out", str(features)]
    assert run_main([*TRAIN, *bitext, "--model", str(model), *crossed, *more]) == 0


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("trian", "did you mean train?"),
        ("train --method swap-ltsm --src {f} --align {f}", "did you mean swap-lstm?"),
        ("xyz", None),
        ("apply --model m --src {f} {g} --out-dir o", "in quotes: 'in/*.gz'"),
        ("apply --model m --src {f} nowhere", None),
    ],
)
def test_hints_for_the_command_line(tmp_path, capsys, line, hint):
    paths = {name: tmp_path / name for name in "fg"}
    for path in paths.values():
        path.touch()
    with pytest.raises(SystemExit):
        run_main(line.format(**paths).split())
    said = capsys.readouterr().err
    assert hint in said if hint else ";" not in said


def test_a_line_for_each_iteration(bitext, tmp_path, capsys):
    train(bitext, tmp_path)
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith("compiling")]
    iteration = re.compile(
        r"(model [12] of 2: )?iteration [123] of 3: tau_nakagawa [01]\.\d{4} on \d held-out lines, "
        r"errors \d+, updates [\d,]+ \(\d+\.\d s\)"
    )
    assert sum(bool(iteration.fullmatch(line)) for line in lines) >= 3
    told = (re.sub(r"(?<=iteration )\d$", "N", line) for line in lines if not iteration.match(line))
    assert list(told) == [
        "learning 2 word classes from 48 lines",
        "cross-fitting: 2 models",
        "model 1 of 2: training btg on 18 lines; 6 are held out",
        "model 1 of 2: training ends: the model is that of iteration N",
        "model 2 of 2: training btg on 18 lines; 6 are held out",
        "model 2 of 2: training ends: the model is that of iteration N",
        "cross-fitting is done; the model itself follows",
        "training btg on 42 lines; 6 are held out",
        "training ends: the model is that of iteration N",
        f"model saved in {tmp_path / 'model'}",
        f"saved in {tmp_path / 'features'}",
    ]


def test_quiet_says_nothing_but_warnings(bitext, tmp_path, capsys):
    train(bitext, tmp_path, "--quiet")
    assert capsys.readouterr() == ("", "")
    source = tmp_path / "odd"
    source.write_text("a￨b v x\n")
    out = ["--out", str(tmp_path / "out")]
    given = ["apply", "--model", str(tmp_path / "model"), "--src", str(source), *out]
    assert run_main([*given, "-q"]) == 0
    assert capsys.readouterr().err.startswith("line 1: token 'a￨b' is written as ")
    assert run_main(given) == 0
    assert capsys.readouterr().err.splitlines()[-1] == f"saved in {tmp_path / 'out'}"
    assert run_main([*given, "-v"]) == 0
    *_, saved, done = capsys.readouterr().err.splitlines()
    assert re.fullmatch(rf"\[\d\d:\d\d:\d\d +\d+\.\d s\] saved in {re.escape(str(tmp_path / 'out'))}", saved)
    assert re.fullmatch(r"\[\d\d:\d\d:\d\d +\d+\.\d s\] done, with at most [\d,]+ MiB of memory", done)


def test_messages_as_json(bitext, tmp_path, capsys, monkeypatch):
    """Each once, on a terminal too; warnings of OpenNMT-py and the error at the end among them."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for name in ("", "onmt"):  # other tests may have given them some
        monkeypatch.setattr(logging.getLogger(name), "handlers", [])
    with show_messages(argparse.Namespace(verbose=True, log_format="json")):
        assert not has_bars()
        LOGGER.info("a\x1b[31m\nb")
        logging.getLogger("onmt").warning("c")
    assert run_main(["gold", *bitext, "--out", str(tmp_path), "--log-format", "json"]) == 2
    lines = list(map(json.loads, capsys.readouterr().err.splitlines()))
    assert [(line["level"], line["message"]) for line in lines if "done" not in line["message"]] == [
        ("info", "a\x1b[31m\nb"),
        ("warning", "c"),
        ("error", f"{tmp_path}: is a directory"),
    ]
    assert all(datetime.fromisoformat(line["time"]).tzinfo for line in lines)


def test_devices_and_standard_output_are_not_saved(bitext, capsys):
    gold = ["gold", *bitext]
    assert run_main([*gold, "--out", "/dev/null"]) == 0
    assert run_main(gold) == 0
    assert capsys.readouterr().err == ""


def test_the_logger_is_left_as_it_was(capsys):
    before = LOGGER.level, LOGGER.propagate, list(LOGGER.handlers)
    arguments = argparse.Namespace(verbose=True)

    def fail():
        with show_messages(arguments):
            assert LOGGER.level == logging.DEBUG
            LOGGER.info("a\x1b[31mb")
            raise UsageError("x")

    with pytest.raises(UsageError, match="x"):
        fail()
    assert (LOGGER.level, LOGGER.propagate, LOGGER.handlers) == before
    assert capsys.readouterr().err.endswith("a\\x1b[31mb\n")


@pytest.mark.parametrize("command", [name.replace("analyse", "analyse robustness") for name in COMMANDS])
def test_every_command_has_both(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        run_main([*command.split(), "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: preorder {command} [-h] [-q | -v]")
