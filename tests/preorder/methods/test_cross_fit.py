"""Which lines are trained on, and cross-fitting."""

import pytest

from preorder.data.errors import UsageError
from preorder.data.types import Alignment, Bitext, Permutation, Sentence
from preorder.methods.cross_fit import chosen_lines, cross_fit, hold_out


def bitext(*lengths):
    sentences = [Sentence(tuple(f"{i}.{k}" for k in range(length))) for i, length in enumerate(lengths)]
    return Bitext(sentences, [Alignment(frozenset())] * len(sentences))


def test_too_long_and_empty_lines_are_left_out():
    assert chosen_lines(bitext(3, 0, 5, 4), limit=10, max_length=4, seed=1) == [0, 3]


def test_limit_draws_by_seed():
    lines = bitext(*[1] * 100)
    first = chosen_lines(lines, 10, 5, seed=1)
    assert first == sorted(set(first))
    assert len(first) == 10
    assert chosen_lines(lines, 10, 5, seed=1) == first
    assert chosen_lines(lines, 10, 5, seed=2) != first


def test_nothing_to_train_on():
    with pytest.raises(UsageError, match="no sentence of 1 to 4 tokens"):
        chosen_lines(bitext(0, 9), 10, 4, seed=1)


class Remembering:
    """Reverses the sentences that it has not seen in training, and only those."""

    def __init__(self, seen):
        self.seen = {sentence.words for sentence in seen.sentences}

    def order(self, sentences, threads=1):
        places = [tuple(range(len(sentence))) for sentence in sentences]
        return [
            Permutation(place if sentence.words in self.seen else place[::-1])
            for sentence, place in zip(sentences, places, strict=True)
        ]


def test_every_line_is_ordered_by_a_model_that_has_not_seen_it():
    lines = bitext(*range(2, 13))
    trained = []

    def fit(part, name):
        trained.append((len(part), name))
        return Remembering(part)

    orders = cross_fit(lines, range(len(lines)), 4, fit, threads=1)
    assert [order.positions for order in orders] == [tuple(range(n))[::-1] for n in range(2, 13)]
    assert trained == [(8 + (fold == 4), f"fold-{fold}-of-4") for fold in range(1, 5)]


def test_too_few_lines_for_the_folds():
    with pytest.raises(UsageError, match="too few lines to train on for 4 folds"):
        cross_fit(bitext(1, 1, 1), [0, 1, 2], 4, Remembering, threads=1)


def test_held_out_lines_are_drawn_by_seed():
    lines = bitext(*range(1, 101))
    learned, held = hold_out(lines, 30, seed=1)
    assert len(held) == 30
    assert sorted(learned.sentences + held.sentences, key=len) == list(lines.sentences)
    assert hold_out(lines, 30, seed=1) == (learned, held)
    assert hold_out(lines, 30, seed=2)[1] != held


@pytest.mark.parametrize(("size", "expected"), [(19, 0), (100, 5), (30_000, 1000)])
def test_lines_held_out_by_default(size, expected):
    assert len(hold_out(bitext(*[1] * size), None, seed=1)[1]) == expected


def test_all_lines_held_out():
    with pytest.raises(UsageError, match="--held-out 3: no line of 3 is left to learn from"):
        hold_out(bitext(1, 1, 1), 3, seed=1)
