"""Word classes: words of one distribution come together."""

import random

import pytest

from preorder.annotate.classes import UNKNOWN, WordClasses, learn_classes
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


def test_file_round_trip(tmp_path):
    path = str(tmp_path / "classes")
    classes = WordClasses({"a": "1", "b\u3000c": "2", "d\te": "3"})
    write_lines(path, classes.lines())
    assert WordClasses.read(path) == classes
    assert classes.of(["a", "x"]) == ("1", UNKNOWN)


@pytest.mark.parametrize("line", ["word", "word\t", "word\t ", "word\t1 2"])
def test_malformed_file(tmp_path, line):
    path = str(tmp_path / "classes")
    write_lines(path, ["a\t1", line])
    with pytest.raises(DataError, match="classes:2: not a word, a tab and a class"):
        WordClasses.read(path)


def test_a_last_line_without_its_end_counts():
    assert WordClasses.parse("classes.txt", b"a\t1\nb\t2") == WordClasses({"a": "1", "b": "2"})
    assert WordClasses.parse("classes.txt", b"") == WordClasses({})
