"""Which lines are learned from, and cross-fitting."""

from typing import ClassVar

import pytest

from preorder.data import Alignment, Bitext, Permutation, Sentence
from preorder.errors import UsageError
from preorder.methods.registry import choose_method
from preorder.methods.train import TrainingPlan, cross_fit, hold_out


def unaligned(*lengths):
    """Return a bitext of sentences of these lengths, no two of which share a word, without links."""
    sentences = [Sentence(tuple(f"{i}.{k}" for k in range(length))) for i, length in enumerate(lengths)]
    return Bitext(sentences, [Alignment(frozenset())] * len(sentences))


def plan(**given):
    return TrainingPlan.of("btg", **given)


def test_lines_to_train_on():
    assert plan(max_length=4).lines(unaligned(3, 0, 5, 4).sentences) == [0, 3]
    with pytest.raises(UsageError, match="no sentence of 1 to 4 tokens"):
        plan(max_length=4).lines(unaligned(0, 9).sentences)
    lines = unaligned(*[1] * 100).sentences
    first = plan(limit=10).lines(lines)
    assert first == sorted(set(first))
    assert len(first) == 10
    assert plan(limit=10).lines(lines) == first
    assert plan(limit=10, seed=2).lines(lines) != first


def test_each_pair_needs_a_line_to_train_on():
    lines = unaligned(3, 9, 3, 0)
    assert plan(max_length=4).lines(lines.sentences, [0, 0, 1, 1]) == [0, 2]
    with pytest.raises(UsageError, match="no sentence of 1 to 4 tokens to train on in pair 2"):
        plan(max_length=4).lines(lines.sentences, [0, 1, 0, 1])


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
    with pytest.raises(UsageError, match="`held_out` 3: no line of 3 is left to learn from"):
        hold_out(unaligned(1, 1, 1), 3, seed=1)


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


class Recording(TrainingPlan):
    """Trains models that remember; notes lengths, checkpoint and threads of each training."""

    trained: ClassVar[list] = []

    def fit(self, bitext, checkpoint):
        self.trained.append((list(map(len, bitext.sentences)), checkpoint, self.options.threads))
        return Remembering(bitext), {}


class Parts:
    """Checkpoints that are their names."""

    def part(self, name):
        return name


def test_every_line_is_ordered_by_a_model_that_has_not_seen_it():
    lengths = list(range(2, 13))
    Recording.trained.clear()
    orders, models = cross_fit(Recording.of("btg"), unaligned(*lengths), 4, checkpoints=Parts())
    assert not models
    assert [order.positions for order in orders] == [tuple(range(n))[::-1] for n in lengths]
    folds = [[n for i, n in enumerate(lengths) if i % 4 != fold] for fold in range(4)]
    assert Recording.trained == [(folds[i], f"fold-{i + 1}-of-4", 1) for i in range(4)]
    Recording.trained.clear()
    plan = Recording.of("btg", max_length=9)
    orders, models = cross_fit(plan, unaligned(2, 3, 20, 20, 4, 20, 5, 20, 0, 6), 2, keeps=True)
    assert (len(orders), len(models)) == (10, 2)
    assert [lines for lines, *_ in Recording.trained] == [[3, 6], [2, 4, 5]]  # of the chosen lines alone


class Refusing(TrainingPlan):
    def fit(self, bitext, checkpoint):
        raise UsageError(f"no {checkpoint} on {self.options.threads}")


@pytest.mark.parametrize(("threads", "of_each"), [(1, 1), (2, 1), (5, 2)])
def test_what_ends_one_training_ends_all(threads, of_each):
    """The threads are shared out among those that run at a time."""
    with pytest.raises(UsageError, match=f"^no fold-1-of-2 on {of_each}$"):
        cross_fit(Refusing.of("btg", threads=threads), unaligned(1, 1, 1), 2, checkpoints=Parts())


def test_too_few_lines():
    with pytest.raises(UsageError, match="too few lines to train on for 4 folds"):
        cross_fit(plan(), unaligned(1, 1, 1), 4)


@pytest.mark.parametrize(
    ("lengths", "has_trees", "has_torch", "method"),
    [
        ((14, 15), False, True, "btg"),
        ((15, 15), False, True, "neural-btg"),
        ((40, 40), False, False, "btg"),
        ((40, 40), True, True, "rvnn"),
        ((4, 4), True, False, "btg"),
        ((), False, True, "btg"),
    ],
)
def test_the_text_chooses_the_method(monkeypatch, lengths, has_trees, has_torch, method):
    monkeypatch.setattr("preorder.methods.registry.find_spec", lambda _: has_torch or None)
    chosen, why = choose_method([("w",) * n for n in lengths], has_trees)
    assert chosen == method
    assert why
