"""Cross-fitting."""

import logging

import pytest

from preorder.data import Permutation
from preorder.errors import UsageError
from preorder.methods.cross_fit import cross_fit
from preorder.progress import LOGGER
from tests.support.texts import unaligned


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
    lines = unaligned(*range(2, 13))
    trained = []

    def fit(part, name, threads):
        trained.append((len(part), name, threads))
        return Remembering(part)

    orders = cross_fit(lines, range(len(lines)), 4, fit, threads=1)
    assert [order.positions for order in orders] == [tuple(range(n))[::-1] for n in range(2, 13)]
    assert trained == [(8 + (fold == 4), f"fold-{fold}-of-4", 1) for fold in range(1, 5)]


def test_models_learn_from_the_chosen_lines_alone():
    lines = unaligned(*range(2, 13))
    learned = []

    def fit(part, name, threads):
        learned.append([len(sentence) - 2 for sentence in part.sentences])
        return Remembering(part)

    orders = cross_fit(lines, [0, 1, 4, 6, 9], 2, fit, threads=1)
    assert learned == [[1, 9], [0, 4, 6]]
    assert len(orders) == len(lines)


def remember(part, name, threads):
    LOGGER.info(f"{name} on {len(part)} lines, {threads} threads")
    return Remembering(part)


def test_models_are_trained_at_the_same_time(caplog):
    lines = unaligned(*range(2, 13))
    with caplog.at_level(logging.INFO, "preorder"):
        orders = cross_fit(lines, range(len(lines)), 3, remember, threads=6)
    assert [order.positions for order in orders] == [tuple(range(n))[::-1] for n in range(2, 13)]
    assert sorted(caplog.messages) == [
        "cross-fitting: 3 models",
        "model 1 of 3: fold-1-of-3 on 7 lines, 2 threads",
        "model 2 of 3: fold-2-of-3 on 7 lines, 2 threads",
        "model 3 of 3: fold-3-of-3 on 8 lines, 2 threads",
    ]


def refuse(part, name, threads):
    raise UsageError(f"no {name}")


@pytest.mark.parametrize("threads", [1, 2])
def test_what_ends_one_training_ends_all(threads):
    with pytest.raises(UsageError, match="^no fold-1-of-2$"):
        cross_fit(unaligned(1, 1, 1), [0, 1, 2], 2, refuse, threads)


def test_too_few_lines_for_the_folds():
    with pytest.raises(UsageError, match="too few lines to train on for 4 folds"):
        cross_fit(unaligned(1, 1, 1), [0, 1, 2], 4, Remembering, threads=1)
