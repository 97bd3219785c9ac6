"""What a command writes is read back the same: the hard sentences, and what is made of them."""

import json
import random
from itertools import chain
from pathlib import Path

import pytest

from preorder.annotate.classes import WordClasses
from preorder.cli import main
from preorder.data import Permutation, Sentence, formats
from preorder.io import files
from preorder_recipes.pipeline import convert
from tests.support.hard_sentences import LINES, TAGSETS, TOKENS, check, tag_layer
from tests.support.texts import links, write

_generator = random.Random(3)
POSITIONS = [tuple(_generator.sample(range(len(words)), len(words))) for words in TOKENS]
ORDERED = list(zip(TOKENS, map(Permutation, POSITIONS), strict=True))
LINKS = list(map(links, POSITIONS))
"""Links that ask for these positions."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with the text and its links."""
    monkeypatch.chdir(tmp_path)
    write(Path("src"), *LINES)
    write(Path("align"), *LINKS)


def run(command, *more):
    assert main([*command.split(), *more]) == 0


def parsed(path, parse):
    return list(files.read_parsed(path, parse))


def gold(name):
    run(f"gold --src src --align align --format {name} --out {name}")
    return name


def converted(name):
    assert convert.main(["--features", gold("features"), "--format", name, "--out", "converted"]) == 0
    return "converted"


def numbers(path, parse):
    return list(zip(TOKENS, parsed(path, parse), strict=True))


def text(path):
    """Put the words of reordered text back in their places."""
    lines = parsed(path, formats.parse_tokens)
    return [
        (tuple(map(line.__getitem__, p)), Permutation(p)) for line, p in zip(lines, POSITIONS, strict=True)
    ]


ORDERS = {
    "gold, features": lambda: parsed(gold("features"), formats.parse_features),
    "gold, positions": lambda: numbers(gold("positions"), formats.parse_positions),
    "gold, order": lambda: numbers(gold("order"), formats.parse_order),
    "gold, text": lambda: text(gold("text")),
    "convert, positions": lambda: numbers(converted("positions"), formats.parse_positions),
    "convert, text": lambda: text(converted("text")),
}
"""Commands that write orders; each function returns the words and the order of each sentence."""


@pytest.mark.parametrize("command", ORDERS)
def test_orders(command):
    check(ORDERS[command](), ORDERED)


def test_evaluate_and_show(capsys):
    """Both read ``--order`` and ``--positions``, of the order that the links ask for."""
    for name in ("order", "positions"):
        run(f"evaluate --align align --{name}", gold(name), "--json")
        assert json.loads(capsys.readouterr().out)["all_tokens"]["tau"] == 1
        run(f"show --src src --{name} {name} --lines 1-{len(LINES)} --json")
        shown = json.loads(capsys.readouterr().out)["sentences"]
        check([(tuple(each["source"]), Permutation(tuple(each["positions"]))) for each in shown], ORDERED)


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


def test_map():
    lines = ["0-0 2-1 1?2", "", f"0-0:0.25 1-1:0.{'0' * 29}1", "10-3 3-10 0?0"]
    expected = [formats.parse_alignment(line) for line in lines]
    write(Path("links"), *lines)
    run("map --align links --reverse --out reversed")
    run("map --align reversed --reverse --out back")
    assert list(formats.read_alignments("back")) == expected


def test_swap():
    tags = tag_layer("Penn")
    write(Path("pos"), *map(" ".join, tags))
    run("swap --src src --pos pos --percent 0,100 --out-dir swapped")
    found = {
        percent: [parsed(f"swapped/{name}.{percent}", formats.parse_tokens) for name in ("src", "pos")]
        for percent in (0, 100)
    }
    check(zip(*found[0], strict=True), zip(TOKENS, tags, strict=True))
    pairs = [sorted(zip(*sentence, strict=True)) for sentence in zip(*found[100], strict=True)]
    check(pairs, [sorted(zip(*sentence, strict=True)) for sentence in zip(TOKENS, tags, strict=True)])
