"""Steps are run once, again when something changed, and fail in a way that can be read."""

import json
import time
from pathlib import Path

import pytest

from recipes.step_runner import Step, StepError, StepRunner


@pytest.fixture
def runner(tmp_path):
    (tmp_path / "in").write_text("one\n")
    return StepRunner(tmp_path, jobs=2)


def copy(command="cat in"):
    return Step("copy", ("sh", "-c", f"{command}; echo x >> runs"), ("in",), ("out",), output="out")


def runs(runner):
    return (runner.folder / "runs").read_text().count("x")


def test_a_step_is_run_once(runner):
    for _ in range(3):
        runner.run([copy()])
    assert runs(runner) == 1
    assert (runner.folder / "out").read_text() == "one\n"
    assert runner.seconds("copy") >= 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda folder: (folder / "in").write_text("two\n"), "] copy is run again: in has changed\n"),
        (lambda folder: (folder / "out").unlink(), "] copy is run again: out missing\n"),
        (lambda folder: (folder / "stamps/copy.json").unlink(), None),
    ],
    ids=["input changed", "output gone", "never ended"],
)
def test_a_step_is_run_again_when_it_must(runner, capsys, change, reason):
    runner.run([copy()])
    change(runner.folder)
    assert "again" not in capsys.readouterr().err
    runner.run([copy()])
    assert runs(runner) == 2
    assert (runner.folder / "out").read_text() == (runner.folder / "in").read_text()
    said = capsys.readouterr().err
    assert (reason in said) if reason else ("again" not in said)


def test_the_folder_may_be_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs/one").mkdir(parents=True)
    (tmp_path / "runs/one/in").write_text("one\n")
    runner = StepRunner(Path("runs/one"), jobs=1)
    for _ in range(2):
        runner.run([copy()])
    assert runs(runner) == 1
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"one"}
    assert (tmp_path / "runs/one/stamps/copy.json").exists()
    assert not (tmp_path / "runs/one/runs/one").exists()


def test_another_command_is_another_run(runner, capsys):
    runner.run([copy()])
    runner.run([copy("cat in in")])
    assert f"] copy is run again: its command was {copy().line}\n" in capsys.readouterr().err
    assert (runner.folder / "out").read_text() == "one\none\n"


def test_a_folder_carried_elsewhere_needs_no_new_run(runner, tmp_path):
    runner.run([copy()])
    carried = runner.folder.rename(tmp_path.parent / f"{tmp_path.name}-carried")
    StepRunner(carried, 1).run([copy()])
    assert (carried / "runs").read_text() == "x\n"


def test_what_reads_a_changed_output_is_run_again(runner):
    shout = Step("shout", ("sh", "-c", "tr a-z A-Z < out"), ("out",), ("loud",), output="loud")
    runner.run([copy(), shout])
    (runner.folder / "in").write_text("two\n")
    runner.run([copy(), shout])
    assert (runner.folder / "loud").read_text() == "TWO\n"


def test_commands_are_kept_as_a_script_that_does_the_same(runner):
    runner.run([copy("printf '%s' 'a b'")])
    script = (runner.folder / "commands.sh").read_text().splitlines()
    assert script[0] == "#!/bin/sh"
    assert script[-1] == """sh -c 'printf '"'"'%s'"'"' '"'"'a b'"'"'; echo x >> runs' > out"""


def test_a_failure_shows_the_end_of_its_log_and_is_not_done(runner):
    step = Step("bad", ("sh", "-c", "seq 100; echo what went wrong >&2; exit 3"))
    for _ in range(2):
        with pytest.raises(StepError, match="bad failed with status 3; its log is .*bad.log") as error:
            runner.run([step, copy()])
        assert "what went wrong" in str(error.value)
        assert "100\n" in str(error.value)
        assert "\n80\n" not in str(error.value)
    assert not (runner.folder / "runs").exists()
    assert "seq 100" in (runner.folder / "commands.sh").read_text()


def test_a_failure_stops_the_others(runner):
    begin = time.monotonic()
    with pytest.raises(StepError, match="bad failed"):
        runner.run([Step("slow", ("sleep", "600"))], [Step("bad", ("false",))])
    assert time.monotonic() - begin < 300
    assert not (runner.folder / "stamps/slow.json").exists()


def test_chains_run_side_by_side(runner):
    meet = "touch {0}; for i in $(seq 3000); do test -e {1} && exit 0; sleep 0.1; done; exit 1"
    chains = [
        [Step(here, ("sh", "-c", meet.format(here, there)))] for here, there in (("a", "b"), ("b", "a"))
    ]
    runner.run(*chains)


@pytest.mark.parametrize(("limit", "threads"), [(None, "4"), ("3", "3"), ("9", "4")])
def test_every_command_has_its_share_of_threads_and_huge_pages(tmp_path, monkeypatch, limit, threads):
    monkeypatch.setattr("recipes.step_runner.processors", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if limit is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
    runner = StepRunner(tmp_path, jobs=2)
    runner.run(
        [Step("env", ("sh", "-c", "echo $OMP_NUM_THREADS $GLIBC_TUNABLES"), makes=("env",), output="env")]
    )
    assert (tmp_path / "env").read_text() == f"{threads} glibc.malloc.hugetlb=1\n"


def test_a_missing_program_and_a_missing_input_are_told(runner):
    with pytest.raises(StepError, match="no-such-program is not installed"):
        runner.run([Step("none", ("no-such-program",))])
    with pytest.raises(StepError, match="nowhere is missing: an earlier stage makes it"):
        runner.run([Step("none", ("true",), reads=("nowhere",))])


def test_a_folder_is_read_by_its_content(runner):
    step = Step("list", ("sh", "-c", "ls model; echo x >> runs"), ("model",), ("out",), output="out")
    (runner.folder / "model").mkdir()
    (runner.folder / "model/a").write_text("1")
    runner.run([step])
    (runner.folder / "model/a").write_text("2")
    runner.run([step])
    assert runs(runner) == 2


def test_a_folder_is_read_by_the_names_in_it_too(runner):
    step = Step("list", ("sh", "-c", "ls model; echo x >> runs"), ("model",), ("out",), output="out")
    (runner.folder / "model").mkdir()
    (runner.folder / "model/a").write_text("1")
    runner.run([step])
    (runner.folder / "model/a").rename(runner.folder / "model/b")
    runner.run([step])
    assert runs(runner) == 2
    assert (runner.folder / "out").read_text() == "b\n"
    (runner.folder / "model/c").mkdir()
    (runner.folder / "model/b").rename(runner.folder / "model/c/b")
    runner.run([step])
    assert (runner.folder / "out").read_text() == "c\n"


def test_progress_is_shown_now_and_then(runner, capsys, monkeypatch):
    monkeypatch.setattr("recipes.step_runner.PROGRESS_INTERVAL", 0)
    runner.run([Step("count", ("seq", "3"), progress=lambda line: f"\x1b at {line.strip()}")])
    assert "count: \\x1b at 2" in capsys.readouterr().err


def test_stamps_say_what_was_run(runner):
    runner.run([copy()])
    stamp = json.loads((runner.folder / "stamps/copy.json").read_text())
    assert stamp["command"] == copy().line
    assert set(stamp["reads"]) == {"in"}
