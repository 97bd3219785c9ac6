"""Where a run is, and how long it may still take: by hand, on a clock of our own."""

import pytest

from recipes.progress import Progress, duration
from recipes.stamps import Step


def step(name):
    return Step(name, ("true",), share=float if name.startswith("train/") else None)


TRAINS = [step("train/a"), step("train/b"), step("train/c")]
TRANSLATES = [step("translate/a"), step("translate/b"), step("translate/c")]


@pytest.fixture
def progress():
    progress = Progress(jobs=2)
    progress.expect([step("align"), *TRAINS, *TRANSLATES])
    return progress


def test_steps_are_counted_those_of_earlier_runs_too(progress):
    assert progress.place == ""
    progress.end(step("align"), 5)
    progress.begin(TRAINS[0], 0)
    assert progress.place == "step 2 of 7: "
    progress.end(TRAINS[0], 100)
    progress.begin(TRAINS[1], 100)
    assert progress.place == "step 3 of 7: "


def test_nothing_is_foretold_before_the_first_training_has_a_pace(progress):
    progress.begin(step("align"), 0)
    assert progress.left(3) == ""
    progress.end(step("align"), 5)
    progress.begin(TRAINS[0], 5)
    progress.reach(TRAINS[0], 0.1, 20)
    assert progress.left(20) == ""
    progress.reach(TRAINS[0], 0.2, 30)  # 100 s for the whole: 80 here, and 100 for each of the others
    assert progress.left(30) == "at least 2 min left"  # 280 s by two at a time are 140 s
    assert progress.left(40) == "at least 2 min left"


def test_the_pace_of_a_training_that_goes_on_is_that_of_this_run(progress):
    progress.expect([])
    progress.end(step("align"), 5)
    for done in TRAINS[1:]:
        progress.end(done, 100)
    progress.begin(TRAINS[0], 0)
    progress.reach(TRAINS[0], 0.5, 10)
    progress.reach(TRAINS[0], 0.6, 20)
    assert progress.left(25) == "at least 35 s left"


def test_all_kinds_known_is_about(progress):
    progress.end(step("align"), 5)
    for done in TRAINS:
        progress.end(done, 100)
    progress.end(TRANSLATES[0], 30)
    progress.begin(TRANSLATES[1], 0)
    progress.begin(TRANSLATES[2], 0)
    assert progress.left(10) == "about 20 s left"
    assert progress.left(50) == ""  # it takes longer than the others: nobody knows
    progress.end(TRANSLATES[1], 60)
    progress.end(TRANSLATES[2], 60)
    assert progress.left(60) == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.6, "1 s"), (99, "99 s"), (100, "2 min"), (3540, "59 min"), (7810, "2 h 10 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
