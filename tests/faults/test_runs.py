"""Runs that are killed or interrupted: nothing runs on, and the same command comes to the same end."""

import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile

import pytest

from preorder import processes
from preorder_recipes import run
from preorder_recipes.pipeline import runner
from preorder_recipes.pipeline.checkpoints import Checkpoints
from preorder_recipes.pipeline.steps import Stamps, Step, StepError
from tests.support import fake_programs
from tests.support.running import ROOT, environment, still_running, wait_until
from tests.support.texts import write_bitext

DRIVER = """
import os, sys
from tests.support import fake_programs
from preorder_recipes import run
from preorder_recipes.pipeline import runner
from preorder_recipes.pipeline.steps import Stamps
os.environ["RUNNER"] = str(os.getpid())
runner.program_path = fake_programs.program_in(sys.argv[1])
place, _, number = os.environ.get("DIE", "").partition(":")

def dying(method):
    calls = []
    def wrapped(*arguments):
        calls.append(1)
        if place == "end" and len(calls) == int(number):
            os.kill(os.getpid(), 9)
        found = method(*arguments)
        if len(calls) == int(number):
            os.kill(os.getpid(), 9)
        return found
    return wrapped

if place:
    setattr(Stamps, place, dying(getattr(Stamps, place)))
sys.exit(run.main(sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder with a bitext and fake programs."""
    folder = tmp_path_factory.mktemp("workplace")
    write_bitext(folder / "data")
    fake_programs.install(folder / "programs")
    return folder


def line_of(workplace, folder, *more):
    fixed = ["--data", str(workplace / "data"), "--src", "aa", "--tgt", "bb", "--run", str(folder)]
    return [*fixed, "--size", "tiny", "--given-alignment", "--systems", "preorder_relative", *more]


def run_to_end(workplace, folder, **variables):
    command = [sys.executable, "-c", DRIVER, str(workplace / "programs"), *line_of(workplace, folder)]
    done = subprocess.run(command, env=environment(**variables), capture_output=True, cwd=ROOT, text=True)
    return done.returncode, done.stderr


def made(folder):
    """Return all files of a run but those that tell the time and the way."""
    left_out = ("calls", "trained", "lock", "commands.sh", "results.json", "results.md")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in left_out
        and not {"logs", "stamps"} & {*path.relative_to(folder).parts}
    }


@pytest.fixture(scope="module")
def finished(workplace):
    folder = workplace / "finished"
    status, error = run_to_end(workplace, folder)
    assert status == 0, error
    assert (folder / "trained").read_text() == "1 2 3 4 "
    return folder


def killed_and_resumed(workplace, finished, folder, **variables):
    """Do a run that is killed, and again, to the same end as without; return what is said then."""
    status, error = run_to_end(workplace, folder, **variables)
    assert status == -signal.SIGKILL, error
    wait_until(lambda: not still_running(str(folder)))
    status, error = run_to_end(workplace, folder)
    assert status == 0, error
    assert made(folder) == made(finished)
    return error


@pytest.mark.slow
def test_a_run_that_is_killed(workplace, finished, tmp_path):
    """In a step, after the stamp of its begin, or before that of its end."""
    folder = tmp_path / "training"
    error = killed_and_resumed(workplace, finished, folder, KILL_AT="8")  # within the training
    assert (folder / "trained").read_text() == "1 2 3 3 4 "  # half of the third checkpoint was written
    assert "-train_from systems/preorder_relative/seed1/model_step_2.pt -reset_optim none" in error
    assert (folder / "commands.sh").read_text().count("\nonmt_train ") == 1
    steps = len(list((finished / "stamps").rglob("*.json")))
    calls = len((finished / "calls").read_text())
    assert steps > 10
    for number in range(1, calls + 1, 5):
        killed_and_resumed(workplace, finished, tmp_path / str(number), KILL_AT=str(number))
    for number in range(1, steps + 1, 2):
        place = ("begin", "end")[number // 2 % 2]
        killed_and_resumed(workplace, finished, tmp_path / f"{place}{number}", DIE=f"{place}:{number}")


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupted_run_ends_its_steps_and_says_so(workplace, in_process, monkeypatch, capsys, number):
    folder = workplace / f"interrupted-{number}"
    (workplace / "slow").mkdir(exist_ok=True)
    fake = workplace / "slow/preorder"
    fake.write_text("#!/bin/sh\nsleep 61 &\necho $! > started\nsleep 62\n")
    fake.chmod(0o755)
    command = [sys.executable, "-c", DRIVER, str(workplace / "slow"), *line_of(workplace, folder)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, cwd=ROOT, text=True) as process:
        wait_until((folder / "started").exists)
        monkeypatch.setattr(runner, "LOCK_PATIENCE", 0)
        assert in_process(folder) == 2
        assert capsys.readouterr().err == f"{folder}: another run is working in it\n"
        process.send_signal(number)
        error = process.communicate()[1]
    assert process.returncode == processes.INTERRUPTED
    assert error.endswith("] the same command goes on\ninterrupted\n")
    assert "Traceback" not in error
    assert not still_running(str(folder))


@pytest.mark.parametrize("damage", [b"", b"[]", b"\xff", b"[" * 100_000, b'{"seconds": 1}'], ids=range(5))
def test_an_unreadable_stamp_is_not_done(tmp_path, damage):
    runs = runner.StepRunner(tmp_path, 1)
    step = Step("count", ("sh", "-c", "echo x >> runs"), makes=("runs",))
    runs.run([step])
    (tmp_path / "stamps/count.json").write_bytes(damage)
    if damage != b'{"seconds": 1}':
        with pytest.raises(StepError, match="count is not done: an earlier stage does it"):
            runs.stamps.seconds("count")
    runs.run([step])
    runs.run([step])
    assert (tmp_path / "runs").read_text() == "x\nx\n"


@pytest.fixture
def in_process(workplace, monkeypatch):
    """Give a function that does a run here."""
    monkeypatch.setattr(runner, "program_path", fake_programs.program_in(workplace / "programs"))
    monkeypatch.setattr("preorder_recipes.pipeline.checks.check_device", lambda device: None)
    return lambda folder, *more: run.main(line_of(workplace, folder, *more))


def test_the_results_keep_what_earlier_commands_have_finished(in_process, tmp_path, capsys):
    folder = tmp_path / "run"
    one, two = "baseline_absolute_relative", "preorder_relative"
    assert in_process(folder, "--systems", f"{one},{two}", "--seeds", "1,2", "--steps", "9") == 0
    assert f" --baseline {one} " in (folder / "commands.sh").read_text()
    whole = (folder / "results.json").read_bytes(), (folder / "report.json").read_bytes()
    assert in_process(folder, "--systems", two, "--seeds", "2", "--steps", "9") == 0
    assert ((folder / "results.json").read_bytes(), (folder / "report.json").read_bytes()) == whole
    assert in_process(folder, "--systems", f"{two}", "--seeds", "3", "--steps", "9", "--stage", "train") == 0
    assert in_process(folder, "--systems", one, "--seeds", "1", "--steps", "9", "--device", "gpu") == 0
    results = json.loads((folder / "results.json").read_text())
    assert {name: system["seeds"] for name, system in results["systems"].items()} == {
        one: [1, 2],
        two: [1, 2, 3],
    }
    tau = {name: system["tau"]["mean"] for name, system in results["systems"].items()}
    assert tau == {one: 0.25, two: 0.5}  # of what a system reads
    assert results["systems"][one]["words_per_second"]["mean"] == 6 / 0.05  # in no time
    assert "mean ± standard deviation of 2 to 3 trainings" in capsys.readouterr().out
    (folder / "results.json").write_text("[")
    assert in_process(folder, "--systems", two, "--seeds", "1", "--steps", "8") == 0
    assert list(json.loads((folder / "results.json").read_text())["systems"]) == [two]
    assert f"made them: {one} with seed 1, {one} with seed 2, {two} with seed 2" in capsys.readouterr().err
    scoring = f"--systems {two} --seeds 1 --steps 8 --beam 7 --stage score".split()
    assert in_process(folder, *scoring) == 2
    assert f"{two} with seed 1 is not done with these options and data" in capsys.readouterr().err


def test_no_result_of_old_data_is_kept(workplace, in_process, tmp_path, capsys, monkeypatch):
    """Though the system that is asked for reads no order. The report is opened where one asks for it."""
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    folder, data, plain = tmp_path / "run", tmp_path / "data", "baseline_absolute_relative"
    shutil.copytree(workplace / "data", data)
    given = ("--data", str(data))
    assert in_process(folder, *given, "--systems", f"{plain},preorder_relative") == 0
    (data / "test.aa").write_text("b a\n" * 3)
    capsys.readouterr()
    assert opened == []
    assert in_process(folder, *given, "--systems", plain, "--open") == 0
    assert opened == [(folder / "report.html").as_uri()]
    assert list(json.loads((folder / "results.json").read_text())["systems"]) == [plain]
    assert "made them: preorder_relative with seed 1" in capsys.readouterr().err


def save(folder, steps):
    for step in steps:
        with zipfile.ZipFile(folder / f"model_step_{step}.pt", "w") as archive:
            archive.writestr("state", str(step))


def log_lines(steps):
    return "".join(f"Validation perplexity: {9 - s}\nSaving checkpoint x_step_{s}.pt\n" for s in steps)


@pytest.mark.parametrize(
    ("logged", "saved", "cut", "goes_on"),
    [
        ([1, 2], [1, 2], [], 2),
        ([1, 2, 3], [1, 2, 3], [3], 2),  # half of it was written
        ([1, 2, 3], [1, 2], [], 2),  # announced, not written
        ([1], [1, 2], [], 1),  # written, but the log was not
        ([1, 2], [2], [2], None),
        ([], [1], [], None),
        ([1], [], [], None),
    ],
)
def test_where_a_training_goes_on(tmp_path, logged, saved, cut, goes_on):
    checkpoints = Checkpoints(tmp_path, tmp_path / "log")
    assert checkpoints.go_back() is None
    (tmp_path / "log").write_text(log_lines(logged))
    save(tmp_path, saved)
    for step in cut:
        path = tmp_path / f"model_step_{step}.pt"
        path.write_bytes(path.read_bytes()[:-9])
    found = checkpoints.go_back()
    if goes_on is None:
        assert found is None
    else:
        assert found == tmp_path / f"model_step_{goes_on}.pt"
        assert list(checkpoints.paths()) == list(range(1, goes_on + 1))
        assert (tmp_path / "log").read_text() == log_lines(range(1, goes_on + 1))


def test_the_seconds_of_a_training_are_those_that_led_to_its_checkpoints(tmp_path):
    """It is stopped 100 seconds after it began, then 40, each time just after it saved a checkpoint."""
    stamps, checkpoints = Stamps(tmp_path), Checkpoints(tmp_path, tmp_path / "logs/train.log")
    step = Step("train", ("true",), checkpoints=checkpoints)
    stamp = stamps.new(step)
    assert stamps.begin(step, stamp) == ((), 0)
    for number, since, total in ((1, 100, 100), (2, 40, 140), (3, -5, 140)):  # the last by a clock set back
        save(tmp_path, [number])
        checkpoints.log.write_text(log_lines(range(1, number + 1)))
        begun = (tmp_path / "stamps/train.json").stat().st_mtime
        os.utime(tmp_path / f"model_step_{number}.pt", (begun + since,) * 2)
        more, seconds = stamps.begin(step, stamp)
        assert more == ("-train_from", f"model_step_{number}.pt", "-reset_optim", "none")
        assert seconds == pytest.approx(total, abs=1e-3)
    assert stamps.begin(step, stamp | {"command": "false"}) == ((), 0)
    assert not checkpoints.paths()
