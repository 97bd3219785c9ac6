"""Early stopping and resuming, with a learner that the test defines."""

import numpy as np
import pytest

from preorder.data.errors import UsageError
from preorder.data.types import Alignment, Bitext, Permutation, Sentence
from preorder.learning.checkpoint import Checkpoint, digest
from preorder.learning.held_out import HeldOutLines
from preorder.learning.training_loop import Schedule, train

WORDS = Sentence(tuple("abcd"))
LINES = Bitext([WORDS] * 2, [Alignment(frozenset((i, 3 - i) for i in range(4)))] * 2)  # asks for a reversal
REVERSED, SWAPPED, KEPT = (Permutation(p) for p in ((3, 2, 1, 0), (2, 3, 1, 0), (0, 1, 2, 3)))


class Rehearsed:
    """Gives the orders of a script, one an iteration, and can be interrupted in one."""

    def __init__(self, script, errors=(), interrupt=None):
        self.script, self.errors, self.interrupt = script, errors, interrupt
        self.done = np.zeros(1, np.int64)

    def key(self):
        return digest([len(self.script)])

    def __len__(self):
        return 10

    def learn(self, iteration, advance):
        if iteration == self.interrupt:
            raise KeyboardInterrupt
        self.done += 1
        assert self.done[0] == iteration
        advance(10)
        return {"errors": dict(self.errors).get(iteration, 5), "updates": 7}

    def order(self, sentences):
        return [self.script[int(self.done[0]) - 1]] * len(sentences)

    def model(self):
        return {"done": self.done}

    def state(self):
        return {"done": self.done}

    def restore(self, arrays):
        self.done = arrays["done"].copy()


def run(script, held=LINES, patience=2, keep_best=True, **settings):
    schedule = Schedule(len(script), patience, keep_best)
    model, statistics = train(Rehearsed(script, **settings), schedule, HeldOutLines(held), Checkpoint())
    return int(model["done"][0]), statistics


def test_the_iteration_is_kept():
    best, statistics = run([KEPT, REVERSED, SWAPPED], patience=9)
    assert best == statistics["iteration"] == 2
    assert [one["tau_nakagawa"] for one in statistics["history"]] == [0, 1, pytest.approx(5 / 6)]
    assert statistics["held_out"] == 2


def test_of_equal_iterations_the_first():
    assert run([KEPT, SWAPPED, SWAPPED], patience=9)[0] == 2


def test_stops_when_nothing_gets_better():
    best, statistics = run([KEPT, SWAPPED, KEPT, SWAPPED, REVERSED, REVERSED])
    assert best == 2
    assert len(statistics["history"]) == 4


def test_the_last_iteration_can_be_kept():
    last, statistics = run([KEPT, SWAPPED, KEPT, SWAPPED, REVERSED, REVERSED], keep_best=False)
    assert last == statistics["iteration"] == 4


def test_ends_with_an_iteration_without_errors():
    best, statistics = run([KEPT] * 5, errors={2: 0}.items(), patience=9)
    assert len(statistics["history"]) == 2
    assert best == 1


def test_without_held_out_lines_the_last_iteration_is_the_best():
    best, statistics = run([REVERSED, KEPT, KEPT, KEPT], held=Bitext((), ()))
    assert best == statistics["iteration"] == 4
    assert statistics["history"] == [{"errors": 5, "updates": 7}] * 4


@pytest.mark.parametrize("held", [LINES, Bitext((), ())])
@pytest.mark.parametrize("keep_best", [True, False])
@pytest.mark.parametrize("interrupt", [1, 2, 3, 4])
def test_goes_on_to_the_same_end(tmp_path, monkeypatch, held, keep_best, interrupt):
    monkeypatch.setattr("preorder.learning.checkpoint.INTERVAL", 0)
    monkeypatch.setattr("preorder.learning.checkpoint.SHARE", float("inf"))  # whatever time saving takes
    script, schedule = [KEPT, SWAPPED, KEPT, REVERSED, KEPT], Schedule(5, 3, keep_best)

    def run_one(**settings):
        checkpoint = Checkpoint(tmp_path / "file")
        return train(Rehearsed(script, **settings), schedule, HeldOutLines(held), checkpoint)

    expected = train(Rehearsed(script), schedule, HeldOutLines(held), Checkpoint())
    with pytest.raises(KeyboardInterrupt):
        run_one(interrupt=interrupt)
    assert (tmp_path / "file").exists() == (interrupt > 1)
    assert run_one() == expected
    assert run_one(interrupt=1) == expected  # nothing is left to do


def test_checkpoint_of_other_held_out_lines_or_schedule(tmp_path):
    def run_one(held, patience):
        checkpoint = Checkpoint(tmp_path / "file")
        return train(Rehearsed([KEPT] * 3), Schedule(3, patience), HeldOutLines(held), checkpoint)

    run_one(LINES, 2)
    assert run_one(LINES, 2)
    for held, patience in ((LINES, 3), (LINES.take([0]), 2)):
        with pytest.raises(UsageError, match="other data or options"):
            run_one(held, patience)
