"""What the commands say while they run."""

import argparse
import json
import logging
import re
from datetime import datetime

import pytest

from preorder.cli import COMMANDS
from preorder.command_line import show_messages
from preorder.progress import LOGGER, has_bars
from tests.support.texts import write

SOURCE = [f"{subject} {verb} {what}" for subject in "ab" for verb in "vw" for what in "xyz"] * 4
TRAIN = "train --method btg --classes 2 --iterations 3 --held-out 6 --src src --align align --model model"
TRAIN += " --cross-fit 2 --cross-fit-out features"


@pytest.fixture(autouse=True)
def bitext(tmp_path):
    for name in ("src", "tgt"):
        write(tmp_path / name, *SOURCE)
    write(tmp_path / "align", *["0-0 1-2 2-1"] * len(SOURCE))


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("trian", "did you mean train?"),
        ("gold --align align --format reordered", None),
        ("train --method swap-ltsm --src src --align src", "did you mean swap-lstm?"),
        ("train --method bgt --src src --align src", "did you mean btg?"),
        ("xyz", None),
        ("apply --model m --src src align --out-dir o", "in quotes: 'in/*.gz'"),
        ("apply --model m --src src nowhere", None),
    ],
)
def test_hints_for_the_command_line(run, line, hint):
    said = run(line, 2).err
    assert hint in said if hint else ";" not in said


def test_a_mistake_with_many_files_is_a_short_line(run):
    said = run(f"apply --model m --src{' align' * 10_000} --out-dir o", 2).err
    assert len(said) < 500
    assert "in quotes: 'in/*.gz'" in said


@pytest.mark.parametrize(
    "wrong",
    [
        "--method rvnn --trees src --members 2",
        "--classes nofile",
        "--held-out 48",
        "--cross-fit 49 --cross-fit-out f",
        "--cross-fit 2 --cross-fit-out f --held-out 24",
    ],
)
def test_what_is_wrong_is_said_before_the_text_is_aligned(run, monkeypatch, wrong):
    monkeypatch.setattr("preorder.cli.train.align", lambda *_: pytest.fail("aligned"))
    run(f"train --src src --tgt tgt --model model {wrong}", 2)


def test_a_line_for_each_iteration(run):
    found = run(TRAIN)
    assert found.out == ""
    lines = [line for line in found.err.splitlines() if not line.startswith("compiling")]
    iteration = re.compile(
        r"(model [12] of 2: )?iteration [123] of 3: tau_nakagawa [01]\.\d{4} on \d held-out lines, "
        r"errors \d+, updates [\d,]+ \(\d+\.\d s\)"
    )
    assert sum(bool(iteration.fullmatch(line)) for line in lines) >= 3
    told = (re.sub(r"(?<=iteration )\d$", "N", line) for line in lines if not iteration.match(line))
    assert list(told) == [
        "learning 2 word classes from 48 lines",
        "cross-fitting: 2 models",
        "model 1 of 2: training btg on 18 lines; 6 held out",
        "model 1 of 2: training ends: the model is that of iteration N",
        "model 2 of 2: training btg on 18 lines; 6 held out",
        "model 2 of 2: training ends: the model is that of iteration N",
        "cross-fitting is done; the model itself follows",
        "training btg on 42 lines; 6 held out",
        "training ends: the model is that of iteration N",
        "model saved in model",
        "saved in features",
    ]


def test_quiet_says_nothing_but_warnings(run, tmp_path):
    assert run(f"{TRAIN} --quiet") == ("", "")
    write(tmp_path / "odd", "a￨b v x")
    line = "apply --model model --src odd --out out"
    assert run(f"{line} -q").err.startswith("line 1: token 'a￨b' is written as ")
    assert run(line).err.splitlines()[-1] == "saved in out"
    *_, saved, done = run(f"{line} -v").err.splitlines()
    time = r"\[\d\d:\d\d:\d\d +\d+\.\d s\]"
    assert re.fullmatch(f"{time} saved in out", saved)
    assert re.fullmatch(rf"{time} done, with at most [\d,]+ MiB of memory", done)


def test_messages_as_json(run, capsys, monkeypatch):
    """Each once, on a terminal too; warnings of OpenNMT-py and the error at the end among them."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for name in ("", "onmt"):  # other tests may have given them some
        monkeypatch.setattr(logging.getLogger(name), "handlers", [])
    with show_messages(argparse.Namespace(verbose=True, log_format="json")):
        assert not has_bars()
        LOGGER.info("a\x1b[31m\nb")
        logging.getLogger("onmt").warning("c")
    said = capsys.readouterr().err + run("gold --src src --align align --out . --log-format json", 2).err
    lines = list(map(json.loads, said.splitlines()))
    assert [(line["level"], line["message"]) for line in lines if "done" not in line["message"]] == [
        ("info", "a\x1b[31m\nb"),
        ("warning", "c"),
        ("error", ".: is a directory"),
    ]
    assert all(datetime.fromisoformat(line["time"]).tzinfo for line in lines)


@pytest.mark.parametrize("more", ["", "--out /dev/null"])
def test_devices_and_standard_output_are_not_saved(run, more):
    assert run(f"gold --src src --align align {more}").err == ""


@pytest.mark.parametrize("command", [name.replace("analyse", "analyse robustness") for name in COMMANDS])
def test_every_command_has_both(run, command):
    assert run(f"{command} --help").out.startswith(f"usage: preorder {command} [-h] [-q | -v]")
