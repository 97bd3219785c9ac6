"""Rescoring of links by what hand-aligned sentences teach."""

import random

import numpy as np
import pytest

from preorder.alignment import rescoring
from preorder.alignment.links import NEIGHBOURS, Links, Samples, confident
from preorder.alignment.rescoring import Candidates, Corpus, candidates, known_candidates, learn
from preorder.data.sentence import Alignment
from preorder.errors import UsageError
from preorder.metrics.alignment import alignment_counts, alignment_scores

PAIRS = 120


def links(drawn):
    starts = np.concatenate(([0], np.cumsum([len(each) for each in drawn])))
    flat = np.array([link for each in drawn for link in sorted(each)], np.int16).reshape(-1, 2)
    return Links(starts, flat[:, 0], flat[:, 1])


def noisy_bitext():
    """Word-by-word translations, each before a particle that people link to the same word.

    The samplers draw the word's own link, the particle's only seldom, and wrong ones.
    """
    generator = random.Random(0)
    sources, targets, gold, drawn = [], [], [], [([], []), ([], [])]
    for _ in range(PAIRS):
        source = [f"w{generator.randrange(40)}" for _ in range(generator.randint(3, 7))]
        target = [token for word in source for token in (word.upper(), "の")]
        right = {(i, 2 * i) for i in range(len(source))}
        sources.append(source)
        targets.append(target)
        gold.append(right | {(i, 2 * i + 1) for i in range(len(source))})
        for sampler in drawn:
            for direction in sampler:
                wrong = {(i, generator.randrange(len(target))) for i in range(len(source))}
                direction.append(
                    {link for link in right if generator.random() < 0.8}
                    | {link for link in wrong if generator.random() < 0.3}
                )
    lengths = [np.array(list(map(len, side))) for side in (sources, targets)]
    samples = Samples(*lengths, [tuple(map(links, sampler)) for sampler in drawn])
    return Corpus.build(sources, targets, samples), (sources, targets), gold


CORPUS, TEXTS, GOLD = noisy_bitext()


def test_possible_links_are_drawn_ones_and_the_neighbours_of_what_many_drew():
    for pair in range(10):
        votes = CORPUS.samples.shares(pair).mean(axis=0)
        voted = dict(np.ndenumerate(votes))
        around = {(i, j): [voted.get((i + di, j + dj), 0) for di, dj in NEIGHBOURS] for i, j in voted}
        expected = {place for place, vote in voted.items() if vote > 0 or max(around[place]) >= 0.3}
        found = candidates(CORPUS, pair)
        assert set(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == expected
        assert np.isfinite(found.features).all()


def test_a_link_is_judged_by_how_often_its_words_are_linked_in_other_places():
    places = {}
    for pair, (source, target) in enumerate(zip(*TEXTS, strict=True)):
        votes = CORPUS.samples.shares(pair).mean(axis=0)
        for i, j in np.argwhere(votes):
            places.setdefault((source[i], target[j]), {})[pair, i, j] = votes[i, j]
    words = [[word for line in side for word in line] for side in TEXTS]
    for pair in range(5):
        source, target = TEXTS[0][pair], TEXTS[1][pair]
        found = candidates(CORPUS, pair)
        for i, j, features in zip(found.sources, found.targets, found.features, strict=True):
            linked = places.get((source[i], target[j]), {})
            others = sum(votes for place, votes in linked.items() if place != (pair, i, j))
            counts = words[0].count(source[i]), words[1].count(target[j])
            assert features[2:4] == pytest.approx([others / (count + 1) for count in counts], abs=1e-5)


def test_learns_that_people_link_particles_too(monkeypatch):
    """The samplers' own links leave out half: the particles. The seed decides; blocks change nothing."""
    hand = [Alignment(frozenset(links)) for links in GOLD]
    known = known_candidates(CORPUS, dict(enumerate(hand[:60])))
    others = list(rescoring.rescored(CORPUS, learn(known, seed=1), range(60, PAIRS)))
    monkeypatch.setattr(rescoring, "_BLOCK", 7)
    again = rescoring.rescored(CORPUS, learn(known, seed=1), range(60, PAIRS))
    for one, other in zip(others, again, strict=True):
        np.testing.assert_array_equal(one, other)
    held_out = rescoring.cross_validated(known, seed=1)
    for found, gold in ((others, hand[60:]), (held_out, hand[:60])):
        links = (confident(each, 0.5) for each in found)
        measured = alignment_scores(list(map(alignment_counts, links, gold)))
        assert min(measured.precision, measured.recall) > 0.9


def test_what_is_held_out_does_not_teach():
    """Other hand links of a sentence do not change its own confidences. The seed decides on the fifths."""
    known = known_candidates(CORPUS, {pair: Alignment(frozenset(GOLD[pair])) for pair in range(20)})
    found = rescoring.cross_validated(known, seed=1)
    other = rescoring.cross_validated([(known[0][0], frozenset()), *known[1:]], seed=1)
    np.testing.assert_array_equal(other[0], found[0])
    assert any((one != two).any() for one, two in zip(other, found, strict=True))
    again = rescoring.cross_validated(known, seed=2)
    assert any((one != two).any() for one, two in zip(again, found, strict=True))


def test_sentences_without_any_link():
    lengths = np.array([2, 0]), np.array([3, 1])
    nothing = links([set(), set()])
    corpus = Corpus.build([["a", "b"], []], [["x", "y", "z"], ["x"]], Samples(*lengths, [(nothing, nothing)]))
    assert [len(candidates(corpus, pair).sources) for pair in (0, 1)] == [0, 0]
    known = known_candidates(CORPUS, {pair: Alignment(frozenset(GOLD[pair])) for pair in range(20)})
    found = list(rescoring.rescored(corpus, learn(known, 1), range(2)))
    assert [each.shape for each in found] == [(2, 3), (0, 1)]
    assert not any(each.any() for each in found)


def test_hand_alignments_that_teach_nothing():
    rescoring.check_enough(20)
    with pytest.raises(UsageError, match="19 hand-aligned sentences are too few to learn from: 20 at least"):
        rescoring.check_enough(19)
    some = Candidates((1, 1), np.array([0]), np.array([0]), np.zeros((1, 3), np.float32))
    with pytest.raises(UsageError, match="fit the text nowhere"):
        learn([(some, frozenset())], seed=1)
