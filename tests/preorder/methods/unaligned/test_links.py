"""Predicting which tokens have links."""

import random

import numpy as np
import pytest

from preorder.data.errors import DataError
from preorder.data.types import Alignment, Bitext, Sentence
from preorder.methods.unaligned import links
from preorder.methods.unaligned.links import Links


def lines(size, seed):
    generator = random.Random(seed)
    return [generator.choices("abcdefgh", k=generator.randint(1, 9)) for _ in range(size)]


def in_context(words, i):
    return words[i] in "abc" or (words[i] == "d" and i > 0 and words[i - 1] == "a")


def bitext(texts, linked):
    """Sentences whose token i is linked where ``linked(words, i)``."""
    alignments = [Alignment(frozenset((i, i) for i in range(len(t)) if linked(t, i))) for t in texts]
    return Bitext([Sentence(tuple(words)) for words in texts], alignments)


def test_learns_from_the_token_and_its_neighbours():
    model = Links.fit(bitext(lines(500, 1), in_context), ["words"], seed=1)
    unseen = lines(100, 2)
    wanted = [in_context(words, i) for words in unseen for i in range(len(words))]
    assert ((model.probabilities(bitext(unseen, in_context).sentences) > 0.5) == wanted).mean() > 0.99


def test_a_sentence_is_judged_alone():
    data = bitext(lines(50, 3), in_context)
    model = Links.fit(data, ["words"], seed=1)
    alone = [model.probabilities([sentence]) for sentence in data.sentences]
    assert np.array_equal(np.concatenate(alone), model.probabilities(data.sentences))
    assert model.probabilities([]).size == model.probabilities([Sentence(())]).size == 0


def test_same_seed_same_weights(monkeypatch):
    monkeypatch.setattr(links, "MAX_SENTENCES", 40)
    data = bitext(lines(90, 4), in_context)
    first, second, other = (Links.fit(data, ["words"], seed).weights for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("answer", [False, True])
def test_nothing_to_tell_apart(answer):
    data = bitext(lines(9, 5), lambda *_: answer)
    probabilities = Links.fit(data, ["words"], seed=1).probabilities(data.sentences)
    assert np.allclose(probabilities, answer)


def test_wrong_weights():
    with pytest.raises(DataError, match="not the weights of a predictor of links"):
        Links(["words"], np.zeros(3, np.float32))
