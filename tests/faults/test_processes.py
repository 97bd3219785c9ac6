"""Processes that are killed or interrupted: nothing runs on, and the same command comes to the same end."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import fake_programs

ROOT = Path(__file__).parents[2]

DRIVER = """
import os, sys
from tests.support import fake_programs
from recipes import run, step_runner
from recipes.stamps import Stamps
os.environ["RUNNER"] = str(os.getpid())
step_runner._program = fake_programs.program_in(sys.argv[1])
where, _, number = os.environ.get("DIE", "").partition(":")

def dying(method, before):
    calls = []
    def wrapped(*arguments):
        calls.append(1)
        if before and len(calls) == int(number):
            os.kill(os.getpid(), 9)
        found = method(*arguments)
        if len(calls) == int(number):
            os.kill(os.getpid(), 9)
        return found
    return wrapped

if where:
    name, _, when = where.partition("-")
    setattr(Stamps, name, dying(getattr(Stamps, name), when == "before"))
sys.exit(run.main(sys.argv[2:]))
"""


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def still_running(mark):
    """Return the command lines of processes that are not zombies, whose command line or folder has a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
            place = os.readlink(entry / "cwd")
        except OSError:
            continue
        if entry.name.isdecimal() and int(entry.name) != os.getpid() and (mark in line or mark in place):
            found.append(line.replace("\0", " "))
    return found


def environment(**more):
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder with a bitext and fake programs."""
    folder = tmp_path_factory.mktemp("workplace")
    (folder / "data").mkdir()
    for part in ("train", "dev", "test"):
        for end, line in (("aa", "a b"), ("bb", "c d"), ("align", "0-0")):
            (folder / f"data/{part}.{end}").write_text(f"{line}\n" * 3)
    fake_programs.install(folder / "programs")
    return folder


def line_of(workplace, folder, *more):
    fixed = ["--data", str(workplace / "data"), "--src", "aa", "--tgt", "bb", "--run", str(folder)]
    return [*fixed, "--given-alignment", "--systems", "preorder_relative", *more]


def start_run(workplace, folder, *more, **variables):
    command = [sys.executable, "-c", DRIVER, str(workplace / "programs"), *line_of(workplace, folder, *more)]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment(**variables), **pipes, cwd=ROOT, text=True)


def run_to_end(workplace, folder, *more, **variables):
    with start_run(workplace, folder, *more, **variables) as process:
        error = process.communicate()[1]
    return process.returncode, error


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


def check_after_a_kill(workplace, finished, folder, **variables):
    status, error = run_to_end(workplace, folder, **variables)
    assert status == -signal.SIGKILL, error
    wait_until(lambda: not still_running(str(folder)))
    status, error = run_to_end(workplace, folder)
    assert status == 0, error
    assert made(folder) == made(finished)
    shutil.rmtree(folder)


WITHIN_TRAINING = 9
"""The call of the fake programs in which the system is trained."""


def test_a_killed_training_goes_on_from_the_last_whole_checkpoint(workplace, finished):
    folder = workplace / "training"
    assert run_to_end(workplace, folder, KILL_AT=str(WITHIN_TRAINING))[0] == -signal.SIGKILL
    wait_until(lambda: not still_running(str(folder)))
    assert (folder / "trained").read_text() == "1 2 3 "
    status, error = run_to_end(workplace, folder)
    assert status == 0, error
    assert (folder / "trained").read_text() == "1 2 3 3 4 "  # half of the third checkpoint was written
    assert "-train_from systems/preorder_relative/seed1/model_step_2.pt -reset_optim none" in error
    assert made(folder) == made(finished)


@pytest.mark.parametrize("place", ["end-before:10", "end-after:10", "end-before:11", "begin-after:10"])
def test_a_run_killed_between_two_steps(workplace, finished, place):
    check_after_a_kill(workplace, finished, workplace / place.replace(":", "-"), DIE=place)


@pytest.mark.slow
def test_a_run_killed_at_each_place(workplace, finished):
    steps = len(list((finished / "stamps").rglob("*.json")))
    calls = len((finished / "calls").read_text())
    assert steps > 10
    for number in range(1, calls + 1):
        check_after_a_kill(workplace, finished, workplace / "killed", KILL_AT=str(number))
    for number in range(1, steps + 1):
        for place in ("begin-before", "begin-after", "end-before", "end-after"):
            check_after_a_kill(workplace, finished, workplace / "killed", DIE=f"{place}:{number}")
