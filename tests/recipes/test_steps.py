"""Steps are run once, again when something changed, and fail in a way that can be read; their progress."""

import time
from pathlib import Path

import pytest

from preorder.errors import PreorderError
from preorder_recipes.pipeline.checkpoints import Checkpoints
from preorder_recipes.pipeline.progress import Progress, duration
from preorder_recipes.pipeline.runner import StepRunner
from preorder_recipes.pipeline.steps import Step, StepError


@pytest.fixture
def runner(tmp_path):
    (tmp_path / "in").write_text("one\n")
    return StepRunner(tmp_path, jobs=2)


def copy(command="cat in", reads="in"):
    return Step("copy", ("sh", "-c", f"{command}; echo x >> runs"), (reads,), ("out",), output="out")


def runs(runner):
    return (runner.folder / "runs").read_text().count("x")


@pytest.mark.parametrize(
    ("change", "command", "reason"),
    [
        (lambda folder: (folder / "in").write_text("two\n"), "cat in", "in has changed"),
        (lambda folder: (folder / "out").unlink(), "cat in", "out missing"),
        (lambda folder: (folder / "stamps/copy.json").unlink(), "cat in", None),
        (lambda folder: None, "cat in -", f"its command was {copy().line}"),
    ],
    ids=["input changed", "output gone", "never ended", "another command"],
)
def test_a_step_is_run_again_when_it_must(runner, capsys, change, command, reason):
    runner.run([copy()])
    change(runner.folder)
    assert "again" not in capsys.readouterr().err
    runner.run([copy(command)])
    assert runs(runner) == 2
    assert (runner.folder / "out").read_text() == (runner.folder / "in").read_text()
    said = capsys.readouterr().err
    assert (f"] copy is run again: {reason}\n" in said) if reason else ("again" not in said)


def test_the_script_follows_options_that_change_back(runner):
    lines = [f"python -m one --most {number}" for number in (50, 50, 80, 50)]
    lines.append("python -m one '\udcff'")  # a path that is no UTF-8
    for line in lines:
        runner.note("one", *line.replace("'", "").split())
    script = (runner.folder / "commands.sh").read_text(errors="surrogateescape")
    assert script.splitlines()[-4:] == lines[1:]


def test_what_another_step_has_overwritten_is_made_again(runner, capsys):
    given = Step("given", ("sh", "-c", "echo given"), (), ("out",), output="out")
    for step in (copy(), given, copy()):
        runner.run([step])
    assert (runner.folder / "out").read_text() == "one\n"
    assert "] copy is run again: out is not what it made\n" in capsys.readouterr().err


def test_a_relative_folder_and_a_folder_carried_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs/one").mkdir(parents=True)
    (tmp_path / "runs/one/in").write_text("one\n")
    runner = StepRunner(Path("runs/one"), jobs=1)
    for _ in range(2):
        runner.run([copy()])
    assert runs(runner) == 1
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"one"}
    assert not (tmp_path / "runs/one/runs/one").exists()
    carried = StepRunner(runner.folder.rename(tmp_path / "carried"), 1)
    carried.run([copy()])
    assert runs(carried) == 1


def test_a_folder_is_read_by_its_content_and_the_names_in_it(runner):
    step, model = copy("ls model", "model"), runner.folder / "model"
    model.mkdir()
    changes = [
        lambda: (model / "a").write_text("1"),
        lambda: (model / "a").write_text("2"),
        lambda: (model / "a").rename(model / "b"),
        lambda: [(model / "c").mkdir(), (model / "b").rename(model / "c/b")],
    ]
    for count, change in enumerate(changes, 1):
        change()
        runner.run([step])
        assert runs(runner) == count
    assert (runner.folder / "out").read_text() == "c\n"


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


@pytest.mark.parametrize(("status", "ended"), [(2, 2), (3, 1)])
def test_wrong_input_of_a_step_is_wrong_input(runner, status, ended):
    with pytest.raises(PreorderError) as error:
        runner.run([Step("bad", ("sh", "-c", f"exit {status}"))])
    assert error.value.status == ended


def test_a_failure_stops_the_others(runner):
    begin = time.monotonic()
    with pytest.raises(StepError, match="bad failed"):
        runner.run([Step("slow", ("sleep", "600"))], [Step("bad", ("false",))])
    assert time.monotonic() - begin < 300
    assert not (runner.folder / "stamps/slow.json").exists()


def test_chains_run_side_by_side(runner):
    meet = "touch {0}; for i in $(seq 3000); do test -e {1} && exit 0; sleep 0.1; done; exit 1"
    runner.run(*([Step(a, ("sh", "-c", meet.format(a, b)))] for a, b in (("a", "b"), ("b", "a"))))


@pytest.mark.parametrize(("limit", "threads"), [(None, "4"), ("3", "3"), ("9", "4")])
def test_every_command_has_its_share_of_threads_and_huge_pages(tmp_path, monkeypatch, limit, threads):
    monkeypatch.setattr("preorder_recipes.pipeline.runner.processors", lambda: 8)
    for name in ("OMP_NUM_THREADS", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    if limit is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
    command = ("sh", "-c", "echo $OMP_NUM_THREADS $GLIBC_TUNABLES")
    StepRunner(tmp_path, jobs=2).run([Step("env", command, makes=("env",), output="env")])
    assert (tmp_path / "env").read_text() == f"{threads} glibc.malloc.hugetlb=1\n"


def test_a_missing_program_and_a_missing_input_are_told(runner):
    with pytest.raises(StepError, match="no-such-program is not installed"):
        runner.run([Step("none", ("no-such-program",))])
    with pytest.raises(StepError, match="nowhere is missing: an earlier stage makes it"):
        runner.run([Step("none", ("true",), reads=("nowhere",))])


def test_progress_is_shown_now_and_then(runner, capsys, monkeypatch):
    monkeypatch.setattr("preorder_recipes.pipeline.runner.PROGRESS_INTERVAL", 0)
    command = ("echo", "Step 10/ 40; acc: 1.0; ppl:  2.0")
    runner.run([Step("count\x1b", command, checkpoints=Checkpoints(runner.folder, runner.folder / "log"))])
    assert "count\\x1b: step 10 of 40, accuracy 1.0%, perplexity 2.0\n" in capsys.readouterr().err


def step(name):
    is_training = name.startswith("train/")
    return Step(name, ("true",), checkpoints=Checkpoints(Path(), Path()) if is_training else None)


ALIGN, *TRAINS = map(step, ("align", "train/a", "train/b", "train/c"))
TRANSLATES = [*map(step, ("translate/a", "translate/b", "translate/c"))]


@pytest.fixture
def progress():
    progress = Progress(jobs=2)
    progress.expect([ALIGN, *TRAINS, *TRANSLATES])
    return progress


def test_steps_are_counted_and_nothing_is_foretold_before_the_first_training_has_a_pace(progress):
    assert progress.place == ""
    progress.begin(ALIGN, 0)
    assert progress.left(3) == ""
    progress.end(ALIGN, 5)
    progress.begin(TRAINS[0], 5)
    assert progress.place == "step 2 of 7: "
    progress.reach(TRAINS[0], 0.1, 20)
    assert progress.left(20) == ""
    progress.reach(TRAINS[0], 0.2, 30)  # 100 s for the whole: 80 here, and 100 for each of the others
    assert progress.left(30) == "at least 2 min left"  # 280 s by two at a time are 140 s
    progress.end(TRAINS[0], 100)
    progress.begin(TRAINS[1], 100)
    assert progress.place == "step 3 of 7: "


def test_the_time_left_goes_by_steps_that_are_done_and_by_the_pace_of_this_run(progress):
    for done in (ALIGN, *TRAINS[1:]):
        progress.end(done, 100)
    progress.begin(TRAINS[0], 0)
    progress.reach(TRAINS[0], 0.5, 10)  # it was resumed
    progress.reach(TRAINS[0], 0.6, 20)
    assert progress.left(25) == ""  # 35 s, and translations that nobody has timed yet
    progress.end(TRAINS[0], 100)
    progress.end(TRANSLATES[0], 30)
    for running in TRANSLATES[1:]:
        progress.begin(running, 0)
    assert progress.left(10) == "about 20 s left"
    assert progress.left(50) == ""  # it takes longer than the other: nobody knows


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.6, "1 s"), (99, "99 s"), (100, "2 min"), (3540, "59 min"), (7810, "2 h 10 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
