"""One sentence, one reading: the hard sentences through every door of ``preorder``."""

import io
import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import preorder
from preorder.annotate.classes import WordClasses
from preorder.errors import DataError
from preorder.io import files
from tests.support.by_hash import save_by_hash
from tests.support.hard_sentences import (
    CLASSES,
    LINES,
    TAGSETS,
    TOKENS,
    Reading,
    check,
    reading,
    run,
    tag_layer,
)
from tests.support.texts import content, links, read, write

MARK = "\ufeff"


@pytest.fixture
def model(monkeypatch, tmp_path):
    """Give a function that saves a model of such layers in a new folder, to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files.read_blocks, "__defaults__", (200,))  # bytes: a block has a few lines
    return lambda *layers, **parts: save_by_hash(monkeypatch, "model", *layers, **parts)


def readings(features, positions):
    """Return the readings of two lists of lines."""
    pairs = zip(features, positions, strict=True)
    return [Reading(line, tuple(map(int, numbers.split()))) for line, numbers in pairs]


def applied(*given):
    """Return the readings of ``preorder apply``."""
    found = []
    for name in ("features", "positions"):
        run("apply", "--model", "model", "--format", name, "--out", name, *given)
        found.append(read(name))
    return readings(*found)


def written(columns):
    """Write the lines of each option; return the options."""
    return [part for name, lines in columns.items() for part in (f"--{name}", write(Path(name), *lines))]


def apply(**columns):
    return applied(*written(columns))


def by_sentence(**columns):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("preorder.cli.apply.can_order_blocks", lambda *_: False)
        return apply(**columns)


def standard_input(lines):
    data = Path(write(Path("src"), *lines)).read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", type("Stdin", (), {"buffer": property(lambda _: io.BytesIO(data))})())
        return applied()


def shards(**columns):
    """Return the readings of ``preorder apply --out-dir``, ten lines a file."""
    found = []
    for option, lines in columns.items():
        Path(option).mkdir()
        for begin in range(0, len(lines), 10):
            write(Path(f"{option}/{begin:02}"), *lines[begin : begin + 10])
    for name in ("features", "positions"):
        given = [part for option in columns for part in (f"--{option}", f"{option}/*")]
        run("apply", "--model", "model", "--format", name, "--out-dir", f"{name}-out", *given)
        found.append([line for path in sorted(Path(f"{name}-out").glob("[0-9]*")) for line in read(path)])
    return readings(*found)


def api(sources, **layers):
    model = preorder.load("model")
    return [*map(Reading, model.features(sources, **layers), model.positions(sources, **layers))]


def line_model(lines, fields=1):
    return readings(*(preorder.LineModel("model", name, fields)(lines) for name in ("features", "positions")))


def as_readlines(lines):
    return [f"{line}\n" for line in lines]


WORDS = {
    "apply, in blocks": lambda lines: apply(src=lines),
    "apply, sentence by sentence": lambda lines: by_sentence(src=lines),
    "apply, lines that end in CR LF": lambda lines: apply(src=[f"{line}\r" for line in lines]),
    "apply, standard input": standard_input,
    "apply, in shards": lambda lines: shards(src=lines),
    "API, strings": api,
    "API, lists of tokens": lambda lines: api(TOKENS),
    "API, readlines()": lambda lines: api(as_readlines(lines)),
    "LineModel": line_model,
    "LineModel, readlines()": lambda lines: line_model(as_readlines(lines)),
}
"""Doors of words: functions from lines to readings."""


@pytest.mark.parametrize("door", WORDS)
def test_words(model, door):
    model("words", "classes", classes=WordClasses(CLASSES))
    expected = [reading(words, classes=[CLASSES.get(word, "0") for word in words]) for words in TOKENS]
    check(WORDS[door](LINES), expected)


TABLE = ["", "I see\tPRP VBP", "I\tPRP"]


@pytest.mark.parametrize("door", [door for door in WORDS if door != "API, lists of tokens"])
def test_a_table_is_refused(model, door, capsys):
    """Its tags would be words."""
    model("words")
    with pytest.raises((DataError, AssertionError)) as raised:  # of a command that does not end with 0
        WORDS[door](TABLE)
    assert (
        ":2: a tab in the line: words<TAB>tags are for --annot" in str(raised.value) + capsys.readouterr().err
    )


def annotated(lines, pos):
    return [f"{line}\t{tags}" if line else "" for line, tags in zip(lines, pos, strict=True)]


def bracketings(pos):
    """Return flat trees, with brackets as the Penn Treebank has them."""
    escapes = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
    pairs = (zip(tags.split(), words, strict=True) for tags, words in zip(pos, TOKENS, strict=True))
    return [
        f"(ROOT {' '.join(f'({tag} {word.translate(escapes)})' for tag, word in leaves)})" for leaves in pairs
    ]


def conllu(pos):
    """Return chains, a blank line after each; tags of the treebank are in the fifth column."""
    rows = []
    for tags, words in zip(pos, TOKENS, strict=True):
        for number, (tag, word) in enumerate(zip(tags.split(), words, strict=True), 1):
            both = f"{tag}\t_" if tag in TAGSETS["universal"] else f"_\t{tag}"
            rows.append(f"{number}\t{word}\t_\t{both}\t_\t{number - 1}\tnext\t_\t_")
        rows.append("")
    return rows


TAGGED = {
    "apply --pos, in blocks": lambda lines, pos: apply(src=lines, pos=pos),
    "apply --pos, sentence by sentence": lambda lines, pos: by_sentence(src=lines, pos=pos),
    "apply --pos, in shards": lambda lines, pos: shards(src=lines, pos=pos),
    "apply --annot, in blocks": lambda lines, pos: apply(annot=annotated(lines, pos)),
    "apply --annot, sentence by sentence": lambda lines, pos: by_sentence(annot=annotated(lines, pos)),
    "apply --annot, in shards": lambda lines, pos: shards(annot=annotated(lines, pos)),
    "apply --trees, bracketings": lambda lines, pos: apply(src=lines, trees=bracketings(pos)),
    "apply --trees, CoNLL-U": lambda lines, pos: apply(src=lines, trees=conllu(pos)),
    "API, tags as strings": lambda lines, pos: api(lines, tags=pos),
    "API, tags as lists": lambda lines, pos: api(TOKENS, tags=[tags.split() for tags in pos]),
    "API, trees": lambda lines, pos: api(lines, trees=bracketings(pos)),
    "LineModel": lambda lines, pos: line_model(annotated(lines, pos), 2),
}
"""Doors of words and tags: functions from lines of both to readings."""


@pytest.mark.parametrize("tagset", TAGSETS)
@pytest.mark.parametrize("door", TAGGED)
def test_tags(model, door, tagset):
    model("words", "tags")
    expected = [reading(words, tags=given) for words, given in zip(TOKENS, tag_layer(tagset), strict=True)]
    check(TAGGED[door](LINES, [" ".join(given) for given in tag_layer(tagset)]), expected)


LINKS = [links(reading(words).positions) for words in TOKENS]
PAIRS = [list(enumerate(reading(words).positions)) for words in TOKENS]


def train(**columns):
    settings = "--method btg --classes 5 --iterations 2 --held-out 0 --model model"
    run("train", *written(columns), *settings.split())


def train_by_api(sources, links, **layers):
    model = preorder.train(sources, links, "btg", classes=5, iterations=2, held_out=0, **layers)
    model.save("model")


TRAININGS = {
    "words": {
        "train --src": lambda pos: train(src=LINES, align=LINKS),
        "API, strings": lambda pos: train_by_api(LINES, LINKS),
        "API, lists": lambda pos: train_by_api(TOKENS, PAIRS),
    },
    "words and tags": {
        "train --pos": lambda pos: train(src=LINES, pos=pos, align=LINKS),
        "train --annot": lambda pos: train(annot=annotated(LINES, pos), align=LINKS),
        "API, strings": lambda pos: train_by_api(LINES, LINKS, tags=pos),
        "API, lists": lambda pos: train_by_api(TOKENS, PAIRS, tags=tag_layer("Penn")),
    },
}
"""Layers → doors of their trainings: functions from tags to a model."""


@pytest.mark.parametrize("layers", TRAININGS)
def test_training(monkeypatch, tmp_path, layers):
    monkeypatch.chdir(tmp_path)
    models = {}
    for name, door in TRAININGS[layers].items():
        door([" ".join(each) for each in tag_layer("Penn")])
        models[name] = content(Path("model"))
    first, *others = models
    assert [name for name in others if models[name] != models[first]] == []


COLUMNS = {
    "--src, --pos": lambda pos: {"src": LINES, "pos": pos},
    "--annot": lambda pos: {"annot": annotated(LINES, pos)},
    "--src, --trees, bracketings": lambda pos: {"src": LINES, "trees": bracketings(pos)},
    "--src, --trees, CoNLL-U": lambda pos: {"src": LINES, "trees": conllu(pos)},
}
"""Files that hold words and tags, as the lines of each option."""


@pytest.mark.parametrize("files", COLUMNS)
def test_files_of_other_systems(model, files):
    """They begin with a byte order mark, their lines end in CR LF, but the last does not end."""
    model("words", "tags")
    arguments = ["--model", "model", "--out", "features"]
    for option, lines in COLUMNS[files]([" ".join(each) for each in tag_layer("Penn")]).items():
        Path(option).write_bytes((MARK + "\r\n".join(lines)).encode())
        arguments += [f"--{option}", option]
    run("apply", *arguments)
    expected = [reading(words, tags=tags) for words, tags in zip(TOKENS, tag_layer("Penn"), strict=True)]
    assert read("features") == [each.features for each in expected]


CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\n")
PIECES = st.sampled_from(
    [*"a&#;0123456789￨_ \t\r\u3000\xa0\ufeff\0\u2028\x85\x1c.￭▁", "&#160;", "&#38;", "￨_"]
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(PIECES | CHARACTERS, max_size=9).map("".join), max_size=6))
def test_lines_of_any_characters(model, lines):
    model("words")
    plain = (line for line in lines if "￨" not in line or re.search("[^￨0-9_ \t\r]([ \t\r]|$)", line))
    lines = ["first", *plain]
    expected = [reading(re.findall("[^ \t\r]+", line)) for line in lines]
    assert api(lines) == expected
    assert line_model(lines) == expected
    assert apply(src=lines) == expected
    assert by_sentence(src=lines) == expected
