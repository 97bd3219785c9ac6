"""Word classes: words of one distribution come together."""

import random

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from preorder.annotate import classes as word_classes
from preorder.annotate.classes import (
    UNKNOWN_CLASS,
    WordClasses,
    _counts,
    _positive_pmi,
    learn_classes,
)
from preorder.errors import DataError
from preorder.io.files import write_lines

NOUNS = [f"noun{i}" for i in range(20)]
VERBS = [f"verb{i}" for i in range(20)]


def text(size=800):
    generator = random.Random(0)
    return [
        ["the", generator.choice(NOUNS), generator.choice(VERBS), "a", generator.choice(NOUNS)]
        for _ in range(size)
    ]


def test_no_class_mixes_words_of_different_distribution():
    classes = learn_classes(text(), 6, seed=1)
    assert classes == learn_classes(text(), 6, seed=1)
    kinds = [set(classes.of(words)) for words in (NOUNS, VERBS, ["the"], ["a"])]
    assert sum(map(len, kinds)) == len(set.union(*kinds)) == 6


@pytest.mark.parametrize("step", [1, -1])
def test_neighbours_on_either_side_tell_words_apart(step):
    """On one side all have the same neighbour, on the other nouns and verbs have one of their own."""
    generator = random.Random(0)
    marked = [("x", noun, "is") for noun in NOUNS] + [("x", verb, "was") for verb in VERBS]
    classes = learn_classes([generator.choice(marked)[::step] for _ in range(800)], 5, seed=1)
    assert not set(classes.of(NOUNS)) & set(classes.of(VERBS))


def test_the_seed_counts_and_random_numbers_of_others_do_not():
    """On text without a pattern, where each start gives other classes."""
    generator = random.Random(0)
    words = [[f"w{generator.randrange(200)}" for _ in range(8)] for _ in range(400)]
    found = []
    for state, seed in ((1, 1), (2, 1), (1, 2)):
        np.random.seed(state)
        found.append(learn_classes(words, 8, seed))
    assert found[0] == found[1] != found[2]


def test_few_words_have_classes_of_their_own():
    assert learn_classes([["a", "b", "b"]], 2, seed=1) == WordClasses({"b": "1", "a": "2"})


def test_which_neighbours_are_counted(monkeypatch):
    """Only the most frequent words, and the border between sentences."""
    monkeypatch.setattr(word_classes, "CONTEXT_WORDS", 2)
    counts = _counts(np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4]), 4).toarray()
    assert counts.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]
    information = _positive_pmi(csr_matrix([[3.0, 1.0], [1.0, 3.0]])).toarray()
    np.testing.assert_allclose(information, np.diag([np.log(1.5)] * 2))


def test_file_round_trip(tmp_path):
    path = str(tmp_path / "classes")
    classes = WordClasses({"a": "1", "b\u3000c": "2", "d\te": "3"})
    write_lines(path, classes.lines())
    assert WordClasses.read(path) == classes
    assert classes.of(["a", "x"]) == ("1", UNKNOWN_CLASS)


@pytest.mark.parametrize("line", ["word", "word\t", "word\t ", "word\t1 2"])
def test_malformed_file(tmp_path, line):
    path = str(tmp_path / "classes")
    write_lines(path, ["a\t1", line])
    with pytest.raises(DataError, match="classes:2: not a word, a tab and a class"):
        WordClasses.read(path)


def test_a_last_line_without_its_end_counts():
    assert WordClasses.parse("classes.txt", b"a\t1\nb\t2") == WordClasses({"a": "1", "b": "2"})
    assert WordClasses.parse("classes.txt", b"") == WordClasses({})
    assert WordClasses.parse("classes.txt", b"a\t 1 \n") == WordClasses({"a": "1"})
