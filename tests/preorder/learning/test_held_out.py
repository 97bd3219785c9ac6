"""Which lines are learned from, and which are held out."""

import pytest

from preorder.data import Alignment, Bitext, Permutation, Sentence
from preorder.errors import UsageError
from preorder.learning.held_out import HeldOutLines, chosen_lines, hold_out
from tests.support.texts import unaligned


def test_too_long_and_empty_lines_are_left_out():
    assert chosen_lines(unaligned(3, 0, 5, 4), limit=10, max_length=4, seed=1) == [0, 3]


def test_limit_draws_by_seed():
    lines = unaligned(*[1] * 100)
    first = chosen_lines(lines, 10, 5, seed=1)
    assert first == sorted(set(first))
    assert len(first) == 10
    assert chosen_lines(lines, 10, 5, seed=1) == first
    assert chosen_lines(lines, 10, 5, seed=2) != first


def test_nothing_to_train_on():
    with pytest.raises(UsageError, match="no sentence of 1 to 4 tokens"):
        chosen_lines(unaligned(0, 9), 10, 4, seed=1)


def test_held_out_lines_are_drawn_by_seed():
    lines = unaligned(*range(1, 101))
    learned, held = hold_out(lines, 30, seed=1)
    assert len(held) == 30
    assert sorted(learned.sentences + held.sentences, key=len) == list(lines.sentences)
    assert hold_out(lines, 30, seed=1) == (learned, held)
    assert hold_out(lines, 30, seed=2)[1] != held


@pytest.mark.parametrize(("size", "expected"), [(19, 0), (100, 5), (30_000, 1000)])
def test_lines_held_out_by_default(size, expected):
    assert len(hold_out(unaligned(*[1] * size), None, seed=1)[1]) == expected


def test_all_lines_held_out():
    with pytest.raises(UsageError, match="--held-out 3: no line of 3 is left to learn from"):
        hold_out(unaligned(1, 1, 1), 3, seed=1)


def test_held_out_lines_that_ask_for_no_order_are_left_out():
    words = Sentence(tuple("abcd"))
    enclosing = Alignment(frozenset({(0, 0), (0, 2), (1, 1)}))
    reversal = Alignment(frozenset((i, 3 - i) for i in range(4)))
    lines = Bitext([words, words, Sentence(("a",))], [enclosing, reversal, Alignment(frozenset())])
    assert HeldOutLines(lines).groups == [(3, 2, 1, 0)]


def test_held_out_lines_heed_confidences():
    words = Sentence(tuple("ab"))
    doubtful = Alignment.weighted({(0, 0): 1, (0, 2): 0.5, (1, 1): 1})  # all alike, they ask for no order
    assert HeldOutLines(Bitext([words], [doubtful])).groups == [(0, 1)]


def test_tokens_of_one_group_may_stand_in_any_order():
    """As tau_nakagawa has it: of three pairs one is tied, and the two others are right, or reversed."""
    lines = HeldOutLines(Bitext([Sentence(tuple("abc"))], [Alignment(frozenset({(0, 0), (1, 0), (2, 1)}))]))
    assert lines.tau([Permutation((1, 0, 2))]) == 1
    assert lines.tau([Permutation((2, 1, 0))]) == pytest.approx(1 / 3)
