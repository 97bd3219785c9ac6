"""One sentence, one reading: the hard sentences through every door of OpenNMT-py.

A reading is what the translation model gets: its words by their ids, and the positions beside them.
"""

import contextlib
import functools
import io
import json
import multiprocessing
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from onmt.inputters import dynamic_iterator

import onmt_preorder.cli
from onmt_preorder.input.positions import NO_POSITION
from onmt_preorder.opennmt.server import prepare
from onmt_preorder.opennmt.transforms import EMPTY_LINE
from preorder.annotate.classes import WordClasses
from preorder.errors import DataError
from tests.support.by_hash import save_by_hash
from tests.support.hard_sentences import CLASSES, HARD, TOKENS, Reading, reading
from tests.support.opennmt import TINY, call, server_app
from tests.support.texts import write

REFUSED = {"the separator inside": "not a token with its position: 'a￨b'"}
"""One of its other tokens looks like a token with its position."""

EXPECTED = {
    name: reading(words, classes=[CLASSES.get(word, "0") for word in words])
    for name, words in zip(HARD, TOKENS, strict=True)
    if name not in REFUSED
}
LINES = [HARD[name] for name in EXPECTED]
FEATURES = [expected.features for expected in EXPECTED.values()]
EMPTY = Reading("", ())

MODEL = "model_step_1.pt"
CONFIG = {
    **TINY,
    "save_data": "data",
    "train_steps": 1,
    "valid_steps": 1,
    "batch_size": 4096,
    "bucket_size": len(LINES),
    "data": {name: {"path_src": "train.src", "path_tgt": "train.tgt"} for name in ("train", "valid")},
}


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Work in a folder with a preorderer, and with a translation model that knows all words, and no more."""
    folder = tmp_path_factory.mktemp("opennmt")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        save_by_hash(patch, "model", "words", "classes", classes=WordClasses(CLASSES))
        usual = multiprocessing.get_start_method()
        multiprocessing.set_start_method("fork", force=True)  # of OpenNMT-py's workers: they know the method
        yield
        multiprocessing.set_start_method(usual, force=True)


@pytest.fixture(scope="module")
def trained():
    """Train on the fly; return what is read of the text and of the validation's."""
    build_vocabularies(LINES, "-dump_samples", preorder_model="model")
    with heard() as sentences:
        call(".", "onmt_train", "-config", "config.yaml")
    return {name: by_line(each for each in sentences if each[0] == name) for name in ("train", "valid")}


def build_vocabularies(lines, *options, targets=LINES, **settings):
    write(Path("train.src"), *lines)
    write(Path("train.tgt"), *(line or "a" for line in targets[: len(lines)]))
    Path("config.yaml").write_text(yaml.safe_dump(CONFIG | settings))
    call(".", "onmt_build_vocab", "-config", "config.yaml", "-n_sample", -1, "-overwrite", *options)


def counts(path):
    """Return the words of a vocabulary, and how often they were read."""
    words = (line.split("\t") for line in Path(path).read_bytes().decode().split("\n")[:-1])
    return {word: int(count) for word, count in words}


@contextlib.contextmanager
def heard():
    """Give a list, to be filled with the corpus, number and reading of each sentence that a model gets."""
    found = []
    original = dynamic_iterator.numericalize

    def numericalize(vocabs, example):
        result = original(vocabs, example)
        words = [vocabs["src"].ids_to_tokens[number] for number in result["src"]["src_ids"]]
        for ids in result["src"]["feats"]:  # of an ensemble for each model
            places = [vocabs["src_feats"][0].ids_to_tokens[number] for number in ids]
            found.append((result["cid"], result["cid_line_number"], reading_of(words, places)))
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dynamic_iterator, "numericalize", numericalize)
        yield found


def reading_of(words, places):
    if (words, places) == ([EMPTY_LINE], [NO_POSITION]):
        return EMPTY
    return Reading(" ".join(map("￨".join, zip(words, places, strict=True))), tuple(map(int, places)))


def by_line(sentences):
    """Return the reading of each line, however often it was heard; a training leaves out empty ones."""
    found = {(number, reading) for _, number, reading in sentences}
    readings = dict(found)
    assert len(found) == len(readings)
    return [readings.get(number, EMPTY) for number in range(len(LINES))]


def samples(lines):
    """Return the readings of the samples that ``onmt_build_vocab`` writes."""
    found = map(str.split, Path("sample/train.sample.src").read_bytes().decode().split("\n")[:-1])
    readings = [reading_of(*zip(*(token.split("￨") for token in line), strict=True)) for line in found]
    readings.insert(LINES.index(""), EMPTY)
    return readings


def onmt_translate(lines, *more):
    given = ("-src", write(Path("src"), *lines), "-output", "output", "-beam_size", 1, "-max_length", 1)
    with heard() as sentences:
        call(".", "onmt_translate", "-model", MODEL, *given, *more)
    return by_line(sentences)


def onmt_preorder_translate(*arguments):
    given = ["--model", MODEL, "--beam", "1", "--out", "output", *arguments]
    with heard() as sentences:
        assert onmt_preorder.cli.main(["translate", *given, "--onmt", "-max_length", "1"]) == 0
    return [reading for _, _, reading in sentences]


def standard_input(lines):
    stream = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", SimpleNamespace(buffer=stream, isatty=lambda: False))
        return onmt_preorder_translate()


@functools.cache
def client():
    """Start a server in this process; return what asks it."""
    opt = {"preorder_model": "model", "beam_size": 1, "max_length": 1, "gpu": -1}
    models = [{"id": 1, "model": MODEL, "load": True, "opt": opt}]
    Path("server.json").write_text(json.dumps({"models_root": ".", "models": models}))
    app = server_app("server.json")
    prepare(app)
    return app.test_client()


def post(*lines):
    return client().post("/t/translate", json=[{"id": 1, "src": line} for line in lines])


def server(lines, at_once):
    """Return what a server reads of requests with so many lines each; lines with line breaks it refuses."""
    refused = {line for line in lines if len(line.splitlines()) > 1}
    assert len(refused) == 2
    for line in refused:
        answer = post("a", line)
        assert answer.status_code == 400
        assert answer.json["error"].startswith("sentence 2: src has a line break in it")
    kept = [line for line in lines if line not in refused]
    found = []
    for begin in range(0, len(kept), at_once):
        with heard() as sentences:
            answer = post(*kept[begin : begin + at_once])
        assert answer.status_code == 200, answer.json
        assert len(answer.json[0]) == len(kept[begin : begin + at_once])
        found += [reading for _, _, reading in sorted(sentences)]
    found.insert(kept.index(""), EMPTY)  # which the server answers itself
    readings = dict(zip(kept, found, strict=True))
    return [readings.get(line, reading) for line, reading in zip(lines, EXPECTED.values(), strict=True)]


def source(lines):
    return "--src", write(Path("src"), *lines)


DOORS = {
    "onmt_build_vocab": samples,
    "onmt_translate": onmt_translate,
    "onmt_translate, features": lambda lines: onmt_translate(FEATURES),
    "onmt_translate, an ensemble": lambda lines: onmt_translate(lines, "-model", MODEL, MODEL),
    "onmt_translate, CR LF": lambda lines: onmt_translate([f"{line}\r" for line in lines]),
    "onmt_preorder": lambda lines: onmt_preorder_translate(*source(lines)),
    "onmt_preorder, line by line": lambda lines: onmt_preorder_translate(*source(lines), "--line-by-line"),
    "onmt_preorder, standard input": standard_input,
    "server": lambda lines: server(lines, len(lines)),
    "server, a sentence at a time": lambda lines: server(lines, 1),
}


@pytest.mark.parametrize("door", [*DOORS, "train", "valid"])
def test_each_reads_the_same(trained, door):
    found = trained[door] if door in trained else DOORS[door](LINES)
    assert dict(zip(EXPECTED, found, strict=True)) == EXPECTED


READ_BY = {
    "on the fly": ({"preorder_model": "model"}, LINES),
    "features": ({}, FEATURES),
    "no positions": ({"n_src_feats": 0, "src_feats_defaults": None, "preorder_encoding": []}, LINES),
}
"""How a training may read the same text: its settings, and the lines of its source."""


@pytest.mark.parametrize("way", READ_BY)
def test_vocabularies(way):
    settings, lines = READ_BY[way]
    build_vocabularies(lines, **settings)
    words = Counter(token.split("￨")[0] for line in FEATURES for token in line.split())
    assert counts("vocab.src") == words
    assert counts("vocab.tgt") == words  # the empty line is left out, with its target


TABLE = ["", "I see\tPRP VBP", "I"]
"""Its tags would be words."""


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        *((["a", HARD[name]], f"src:2: {message}\n") for name, message in REFUSED.items()),
        (TABLE, "src:2: a tab in the line: words<TAB>tags are for --annot"),
    ],
)
def test_files_that_are_refused(trained, capsys, lines, message):
    for door in (onmt_translate, build_vocabularies):
        with pytest.raises(DataError) as raised:
            door(lines)
        assert message.strip() in str(raised.value)
    assert onmt_preorder.cli.main(["translate", "--model", MODEL, *source(lines)]) == 2
    assert message in capsys.readouterr().err


def test_targets_with_scores_are_refused():
    with pytest.raises(DataError, match="train.tgt:1: a tab in the line"):
        build_vocabularies(["a", "b"], targets=["a\t-0.5", "b\t-0.7"])


def test_requests_that_are_refused(trained):
    for name, message in REFUSED.items():
        answer = post(HARD[name])
        assert (answer.status_code, answer.json["error"]) == (400, f"sentence 1: {message}")
    assert post("plain\ttokens").status_code == 200  # a tab in a request is a space
