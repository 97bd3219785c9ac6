"""When training ends, and resuming, with a learner that the test defines."""

import numpy as np
import pytest

from preorder.data import Alignment, Bitext, Permutation, Sentence
from preorder.errors import UsageError
from preorder.learning.checkpoint import Checkpoint, digest
from preorder.learning.loop import HeldOutLines, train

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


def run(script, held=LINES, **settings):
    learner = Rehearsed(script, **settings)
    model, statistics = train(learner, len(script), HeldOutLines(held), Checkpoint())
    return int(model["done"][0]), statistics


@pytest.mark.parametrize("script", [[KEPT, SWAPPED, REVERSED], [REVERSED, SWAPPED, KEPT, KEPT, KEPT, KEPT]])
def test_the_last_iteration_gives_the_model_whether_held_out_lines_get_better_or_worse(script):
    last, statistics = run(script)
    assert last == statistics["iteration"] == len(script)
    taus = {KEPT: 0, SWAPPED: pytest.approx(5 / 6), REVERSED: 1}
    assert [one["tau_nakagawa"] for one in statistics["history"]] == [taus[order] for order in script]
    assert statistics["held_out"] == 2


def test_ends_with_an_iteration_without_errors():
    """Without held-out lines nothing is measured."""
    last, statistics = run([KEPT] * 5, held=Bitext((), ()), errors={2: 0}.items())
    assert last == statistics["iteration"] == 2
    assert statistics["history"] == [{"errors": 5, "updates": 7}, {"errors": 0, "updates": 7}]


def test_checkpoint_of_other_held_out_lines_or_iterations(tmp_path):
    def run_one(held, iterations, **settings):
        checkpoint = Checkpoint(tmp_path / "file")
        return train(Rehearsed([KEPT] * 3, **settings), iterations, HeldOutLines(held), checkpoint)

    first = run_one(LINES, 2)
    assert run_one(LINES, 2, interrupt=1) == first  # nothing is left to do
    others = Bitext(LINES.sentences, [Alignment(frozenset({(0, 1), (1, 0)}))] * 2)
    for held, iterations in ((LINES, 3), (LINES.take([0]), 2), (others, 2)):
        with pytest.raises(UsageError, match="other data or options"):
            run_one(held, iterations)


def test_held_out_lines():
    """Links of the greatest confidence count; lines that ask for no order are left out; ties are right."""
    enclosing, doubtful = (Alignment.weighted({(0, 0): 1, (0, 2): c, (1, 1): 1}) for c in (1, 0.5))
    sentences = [WORDS, Sentence(tuple("ab")), Sentence(("a",))]
    assert HeldOutLines(Bitext(sentences, [enclosing, doubtful, doubtful])).groups == [(0, 1)]
    lines = HeldOutLines(Bitext([Sentence(tuple("abc"))], [Alignment(frozenset({(0, 0), (1, 0), (2, 1)}))]))
    assert lines.taus([Permutation((1, 0, 2))]) == {"tau_nakagawa": 1}
    assert lines.taus([Permutation((2, 1, 0))]) == {"tau_nakagawa": pytest.approx(1 / 3)}
