"""What a command writes is read back the same: the hard sentences, and what is made of them."""

import random
from itertools import chain
from pathlib import Path

import pytest

from preorder.annotate.classes import WordClasses
from preorder.data import Permutation, Sentence, formats
from preorder.io import files
from preorder_recipes.pipeline import convert
from tests.support.hard_sentences import LINES, TAGSETS, TOKENS, check, run, tag_layer
from tests.support.texts import links, read, write

_generator = random.Random(3)
POSITIONS = [tuple(_generator.sample(range(len(words)), len(words))) for words in TOKENS]
ORDERED = list(zip(TOKENS, map(Permutation, POSITIONS), strict=True))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with the text and its links."""
    monkeypatch.chdir(tmp_path)
    write(Path("src"), *LINES)
    write(Path("align"), *map(links, POSITIONS))


def parsed(path, parse):
    return list(files.read_parsed(path, parse))


@pytest.mark.parametrize("name", ["positions", "text"])
def test_orders(name):
    """The words and positions of features are those that were written, and become the other formats."""
    for form in ("features", name):
        run(f"gold --src src --align align --format {form} --out {form}")
    check(parsed("features", formats.parse_features), ORDERED)
    assert convert.main(["--features", "features", "--format", name, "--out", "converted"]) == 0
    assert read("converted") == read(name)


@pytest.mark.parametrize("name", ["text", "text.gz", "text.xz"])
@pytest.mark.parametrize("tagset", TAGSETS)
def test_annotate(tagset, name):
    tags = tag_layer(tagset)
    write(Path("pos"), *map(" ".join, tags))
    run(f"annotate --src src --pos pos --classes 5 --out {name} --pos-out {name}.pos")
    classes = str(Path(name).with_suffix(".classes")) + Path(name).suffix
    known = WordClasses.read(classes)
    expected = [Sentence(words, given, known.of(words)) for words, given in zip(TOKENS, tags, strict=True)]
    check(formats.read_annotated(name), expected)
    check(parsed(f"{name}.pos", formats.parse_tokens), tags)
    assert known.of_word.keys() == {*chain(*TOKENS)}
    run(f"annotate --src src --pos pos --classes {classes} --out again")
    check(formats.read_annotated("again"), expected)
