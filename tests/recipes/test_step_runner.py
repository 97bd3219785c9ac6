"""Steps are run once, again when something changed, and fail in a way that can be read."""

import json
import time

import pytest

from recipes.step_runner import Step, StepError, Workshop


@pytest.fixture
def workshop(tmp_path):
    (tmp_path / "in").write_text("one\n")
    return Workshop(tmp_path, jobs=2)


def copy(command="cat in"):
    return Step("copy", ("sh", "-c", f"{command}; echo x >> runs"), ("in",), ("out",), output="out")


def runs(workshop):
    return (workshop.folder / "runs").read_text().count("x")


def test_a_step_is_run_once(workshop):
    for _ in range(3):
        workshop.run([copy()])
    assert runs(workshop) == 1
    assert (workshop.folder / "out").read_text() == "one\n"
    assert workshop.seconds("copy") >= 0


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "in").write_text("two\n"),
        lambda folder: (folder / "out").unlink(),
        lambda folder: (folder / "stamps/copy.json").unlink(),
    ],
    ids=["input changed", "output gone", "never ended"],
)
def test_a_step_is_run_again_when_it_must(workshop, change):
    workshop.run([copy()])
    change(workshop.folder)
    workshop.run([copy()])
    assert runs(workshop) == 2
    assert (workshop.folder / "out").read_text() == (workshop.folder / "in").read_text()


def test_another_command_is_another_run(workshop):
    workshop.run([copy()])
    workshop.run([copy("cat in in")])
    assert (workshop.folder / "out").read_text() == "one\none\n"


def test_a_folder_carried_elsewhere_needs_no_new_run(workshop, tmp_path):
    workshop.run([copy()])
    carried = workshop.folder.rename(tmp_path.parent / f"{tmp_path.name}-carried")
    Workshop(carried, 1).run([copy()])
    assert (carried / "runs").read_text() == "x\n"


def test_what_reads_a_changed_output_is_run_again(workshop):
    shout = Step("shout", ("sh", "-c", "tr a-z A-Z < out"), ("out",), ("loud",), output="loud")
    workshop.run([copy(), shout])
    (workshop.folder / "in").write_text("two\n")
    workshop.run([copy(), shout])
    assert (workshop.folder / "loud").read_text() == "TWO\n"


def test_commands_are_kept_as_a_script_that_does_the_same(workshop):
    workshop.run([copy("printf '%s' 'a b'")])
    script = (workshop.folder / "commands.sh").read_text().splitlines()
    assert script[0] == "#!/bin/sh"
    assert script[-1] == """sh -c 'printf '"'"'%s'"'"' '"'"'a b'"'"'; echo x >> runs' > out"""


def test_a_failure_shows_the_end_of_its_log_and_is_not_done(workshop):
    step = Step("bad", ("sh", "-c", "seq 100; echo what went wrong >&2; exit 3"))
    for _ in range(2):
        with pytest.raises(StepError, match="bad failed with status 3; its log is .*bad.log") as error:
            workshop.run([step, copy()])
        assert "what went wrong" in str(error.value)
        assert "100\n" in str(error.value)
        assert "\n80\n" not in str(error.value)
    assert not (workshop.folder / "runs").exists()
    assert "seq 100" in (workshop.folder / "commands.sh").read_text()


def test_a_failure_stops_the_others(workshop):
    begin = time.monotonic()
    with pytest.raises(StepError, match="bad failed"):
        workshop.run([Step("slow", ("sleep", "60"))], [Step("bad", ("false",))])
    assert time.monotonic() - begin < 20
    assert not (workshop.folder / "stamps/slow.json").exists()


def test_chains_run_side_by_side(workshop):
    meet = "touch {0}; for i in $(seq 200); do test -e {1} && exit 0; sleep 0.1; done; exit 1"
    chains = [
        [Step(here, ("sh", "-c", meet.format(here, there)))] for here, there in (("a", "b"), ("b", "a"))
    ]
    workshop.run(*chains)


@pytest.mark.parametrize(("limit", "threads"), [(None, "4"), ("3", "3"), ("9", "4")])
def test_every_command_has_its_share_of_threads_and_huge_pages(tmp_path, monkeypatch, limit, threads):
    monkeypatch.setattr("recipes.step_runner._processors", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if limit is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
    workshop = Workshop(tmp_path, jobs=2)
    workshop.run(
        [Step("env", ("sh", "-c", "echo $OMP_NUM_THREADS $GLIBC_TUNABLES"), makes=("env",), output="env")]
    )
    assert (tmp_path / "env").read_text() == f"{threads} glibc.malloc.hugetlb=1\n"


def test_a_missing_program_and_a_missing_input_are_told(workshop):
    with pytest.raises(StepError, match="no-such-program is not installed"):
        workshop.run([Step("none", ("no-such-program",))])
    with pytest.raises(StepError, match="nowhere is missing: an earlier stage makes it"):
        workshop.run([Step("none", ("true",), reads=("nowhere",))])


def test_a_folder_is_read_by_its_content(workshop):
    step = Step("list", ("sh", "-c", "ls model; echo x >> runs"), ("model",), ("out",), output="out")
    (workshop.folder / "model").mkdir()
    (workshop.folder / "model/a").write_text("1")
    workshop.run([step])
    (workshop.folder / "model/a").write_text("2")
    workshop.run([step])
    assert runs(workshop) == 2


def test_progress_is_shown_now_and_then(workshop, capsys, monkeypatch):
    monkeypatch.setattr("recipes.step_runner.EVERY", 0)
    workshop.run([Step("count", ("seq", "3"), progress=lambda line: f"at {line.strip()}")])
    assert "count: at 2" in capsys.readouterr().err


def test_stamps_say_what_was_run(workshop):
    workshop.run([copy()])
    stamp = json.loads((workshop.folder / "stamps/copy.json").read_text())
    assert stamp["command"] == copy().line
    assert set(stamp["reads"]) == {"in"}
