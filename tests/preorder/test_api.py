"""The Python API, as README.md and docs/api.md show it, beside the command line and by its properties."""

import doctest
import inspect
import json
import pickle
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import nltk
import numpy as np
import pytest

import preorder
from preorder import api
from preorder.alignment.gold import gold_permutation
from preorder.analysis import gallery
from preorder.cli import build_parser, main
from preorder.cli import train as train_command
from preorder.methods.registry import METHODS
from preorder.methods.train import TrainingPlan
from tests.support.texts import rows, write

ROOT = Path(__file__).parents[2]
WORDS = [[f"{role}{(7 * line + k) % 5}" for k, role in enumerate("svop")] for line in range(60)]
SOURCES = [" ".join(words) for words in WORDS]
ALIGNMENTS = ["0-0 1-3 2-1 3-2"] * len(SOURCES)  # verbs go last
OPTIONS = {"classes": 0, "iterations": 3, "held_out": 0}


@pytest.fixture(scope="module")
def model():
    return preorder.train(SOURCES, ALIGNMENTS, **OPTIONS)


def test_the_page_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(preorder, "align", lambda sources, targets: ALIGNMENTS[:9], raising=False)
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    exec(block, {"preorder": preorder, "sources": SOURCES[:9], "targets": SOURCES[:9]})


def test_the_examples_of_the_docstrings(tmp_path, monkeypatch):
    for module in ("matplotlib", "eflomal"):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    sources = ["I read books", "you like cats", "they write letters", "we eat apples"]
    alignments = ["0-0 1-2 2-1"] * 4
    names = {"sources": sources, "alignments": alignments, "preorder": preorder}
    names["model"] = preorder.train(sources, alignments)
    failed, attempted = doctest.testmod(api, extraglobs=names)
    assert (failed, attempted > 20) == (0, True)
    assert doctest.testmod(gallery, extraglobs=names) == (0, 1)


def test_defaults_are_those_of_the_commands():
    parser = build_parser(("train", "align", "apply", "evaluate"))

    def default(function, name):
        return inspect.signature(function).parameters[name].default

    line = "train --src x --align x --model x"
    arguments = parser.parse_args(line.split())
    assert arguments.method == default(preorder.train, "method")
    assert arguments.classes is arguments.init is arguments.trees is None
    assert {default(preorder.train, name) for name in ("classes", "init", "trees", "tags")} == {None}
    for method in METHODS:
        arguments = parser.parse_args([*line.split(), "--trees", "x", "--method", method])
        job = SimpleNamespace(given=vars(arguments), classes=None, keep_folds=False)
        assert train_command._plan(job, method, None, True) == TrainingPlan.of(method)
    commands = {
        "align --tgt x": [(preorder.align, "seed", "seed")],
        "apply --model x": [(preorder.LineModel, "format", "format"), (preorder.load, "threads", "threads")],
        "evaluate --align x --order x": [
            (gold_permutation, name, name) for name in ("unaligned", "statistic")
        ],
    }
    for line, pairs in commands.items():
        arguments = parser.parse_args(line.split())
        for function, name, option in pairs:
            assert default(function, name) == getattr(arguments, option), (line, option)
    text = " ".join(parser.parse_args(["align", "--tgt", "x"]).parser.format_help().split())
    assert f"directions are joined (default: {default(preorder.align, 'symmetrization')})" in text


def test_all_that_a_model_says_of_a_sentence(model):
    sources = [SOURCES[0], WORDS[1], ""]
    assert model.positions(sources) == [(0, 3, 1, 2), (0, 3, 1, 2), ()]
    assert model.order(sources) == [(0, 2, 3, 1), (0, 2, 3, 1), ()]
    assert model.text(sources) == ["s0 o2 p3 v1", "s2 o4 p0 v3", ""]
    assert model.features(sources) == ["s0￨0 v1￨3 o2￨1 p3￨2", "s2￨0 v3￨3 o4￨1 p0￨2", ""]
    assert [tree.permutation.positions for tree in model.trees(sources)] == model.positions(sources)
    (best, empty) = model.n_best([sources[0], ""], 4)
    assert best[0][1] == (0, 3, 1, 2)
    assert len({positions for _, positions in best}) == 4
    assert [score for score, _ in best] == sorted((score for score, _ in best), reverse=True)
    assert [positions for _, positions in empty] == [()]


BULK = [(name, True) for name in ("features", "positions", "order", "text", "tree")]


@pytest.mark.parametrize(("name", "is_bulk"), [*BULK, *((name, False) for name, _ in BULK[:3])])
def test_lines_to_lines(model, tmp_path, monkeypatch, name, is_bulk):
    """As ``preorder apply`` writes them, in blocks or one by one; in a process that has got the object."""
    monkeypatch.chdir(tmp_path)
    if not is_bulk:
        monkeypatch.setattr("preorder.methods.block_order.BlockOrderer.__call__", lambda *_: None)
    api._orderer.cache_clear()
    model.save("model")
    lines = [*SOURCES[:9], "", "s1  v￨3\t&#1; p", "s0 v1\r"]
    order = pickle.loads(pickle.dumps(preorder.LineModel("model", name)))
    assert pickle.loads(pickle.dumps(model)).n_best(ONE, 2) == model.n_best(ONE, 2)
    Path("src").write_bytes("".join(f"{line}\n" for line in lines).encode())
    assert main(["apply", "-q", "--model", "model", "--src", "src", "--format", name, "--out", "out"]) == 0
    assert order(lines) == Path("out").read_text(encoding="utf-8").split("\n")[:-1]
    assert order(iter(lines[:2])) == order(lines)[:2]
    assert order(lines[10:]) == order(lines)[10:]  # of a part of the text, the first line has a tab
    assert order([]) == []


def test_lines_with_tags(tmp_path):
    """The model knows the class of no word, which may be."""
    options = OPTIONS | {"classes": {}, "tags": [["S", "V", "O", "P"]] * 60}
    preorder.train(SOURCES, ALIGNMENTS, **options).save(f"{tmp_path}/model")
    order = preorder.LineModel(f"{tmp_path}/model", "text", fields=2)
    assert order(["s v o p\tS V O P", "\t"]) == ["s o p v", ""]
    with pytest.raises(preorder.DataError, match=r"^lines:2: .*"):
        order(["s\tS", "s v\tS"])
    with pytest.raises(preorder.UsageError, match="the model needs POS tags"):
        preorder.LineModel(f"{tmp_path}/model")(["s"])


def test_a_line_model_is_of_one_model(model, tmp_path):
    """It is found out in another process that the model has changed, and a path alone is sent there."""
    place = f"{tmp_path}/model"
    model.save(place)
    order = preorder.LineModel(place, "text")
    assert order(["s0 v1 o2 p3"]) == ["s0 o2 p3 v1"]
    assert len(pickle.dumps(order)) < 500
    preorder.train(SOURCES, ["0-3 1-2 2-1 3-0"] * 60, **OPTIONS).save(place)
    assert order(["s0 v1 o2 p3"]) == ["s0 o2 p3 v1"]  # it is loaded here
    assert preorder.LineModel(place, "text")(["s0 v1 o2 p3"]) == ["p3 o2 v1 s0"]
    api._orderer.cache_clear()
    with pytest.raises(preorder.UsageError, match="the model has changed since"):
        order(["s0"])


def test_a_picture_is_what_the_command_draws(model, tmp_path):
    pytest.importorskip("matplotlib")
    model.save(str(tmp_path / "model"))
    texts = {"src": "s0 v1 o2 p3", "tgt": "A B C D", "align": "0-0 1-3 2-1 3-2"}
    files = [f"--{name}={write(tmp_path / name, line)}" for name, line in texts.items()]
    picture = model.picture("s0 v1 o2 p3", "A B C D", [(0, 0), (1, 3), (2, 1), (3, 2)])
    begins = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    for suffix, begin in begins.items():
        saved, shown = (str(tmp_path / f"{name}{suffix}") for name in ("saved", "shown"))
        assert main(["show", "--model", str(tmp_path / "model"), *files, "--out", shown]) == 0
        picture.save(saved)
        assert Path(saved).read_bytes() == Path(shown).read_bytes()
        assert Path(saved).read_bytes().lstrip().startswith(begin)
    picture.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    with pytest.raises(preorder.UsageError, match=r"^a picture's name ends in \.svg or .*: '"):
        picture.save(tmp_path / "picture.jpg")
    assert not (tmp_path / "picture.jpg").exists()
    assert picture._repr_svg_().startswith("<svg ")
    assert "<svg" not in repr(picture)
    assert "s0 v1 o2 p3" in picture.title


def test_links_as_pairs_tags_trees_and_classes_of_ones_own():
    """Arrays and numbers of numpy are taken, too."""
    pairs = [np.array([(0, 0), (1, 3), (2, 1), (3, 2)]), *[[(0, 0), (1, 3), (2, 1), (3, 2)]] * 59]
    numbers = {"iterations": np.int64(2), "held_out": np.int32(0), "cost": np.float32(1)}
    tags = ["S V O P"] * len(SOURCES)
    classes = {word: word[0] for words in WORDS for word in words}
    trees = [f"(X (S {s}) (Y (V {v}) (Z (O {o}) (P {p}))))" for s, v, o, p in WORDS]
    model = preorder.train(WORDS, pairs, tags=tags, classes=classes, **numbers)
    assert model.positions([WORDS[0]], tags=[["S", "V", "O", "P"]]) == [(0, 3, 1, 2)]
    with pytest.raises(preorder.UsageError, match="the model needs POS tags"):
        model.positions(["s1 v1 o1"])
    small = {"classes": np.uint8(0), "learning_rate": 0.05, "size": 16, "iterations": 4}
    by_tree = preorder.train(WORDS, pairs, "rvnn", trees=trees, **small)
    as_objects = list(map(nltk.Tree.fromstring, trees[:2]))
    assert by_tree.positions(SOURCES[:2], trees=trees[:2]) == [(0, 3, 1, 2)] * 2
    assert by_tree.positions(SOURCES[:2], trees=as_objects) == [(0, 3, 1, 2)] * 2
    deep = nltk.Tree.fromstring(trees[0])
    deep.set_label("X" * 200)  # which str() writes on several lines
    assert by_tree.positions(SOURCES[:1], trees=[deep]) == [(0, 3, 1, 2)]


def test_evaluate_is_what_the_command_prints(tmp_path, capsys):
    align = write(tmp_path / "align", *["0-0 1-2 2-1"] * 3 + ["0-0", "0-2 0-0 1-1"])
    positions = [(0, 2, 1), (0, 1, 2), (2, 1, 0), (0, 1), (1, 0)]
    file = write(tmp_path / "positions", *[" ".join(map(str, line)) for line in positions])
    assert main(["evaluate", "--align", align, "--positions", file, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    links = Path(align).read_text().splitlines()
    doubtful = [[(0, 0, 1), (1, 2, 0.5), (2, 1)], "0-0 1-2:0.5 2-1:1", *links[2:]]  # measured alike
    assert preorder.evaluate(positions, doubtful) == preorder.evaluate(positions, links)
    for found, wanted in (
        (preorder.evaluate(positions, links), printed),
        (preorder.evaluate(positions, links, all_tokens=True), printed["all_tokens"]),
    ):
        for name in ("tau", "tau_nakagawa", "frs", "complete_match", "sentences", "skipped"):
            assert getattr(found, name) == wanted[name]
        assert vars(found.monotone) == wanted["monotone"]


def test_ribes_is_what_the_command_prints(tmp_path, capsys):
    hypotheses, first, second = ["a b c d", "x y"], ["a c b d", "x z y"], ["d c b a", "x y"]
    files = [
        write(tmp_path / name, *lines) for name, lines in (("h", hypotheses), ("1", first), ("2", second))
    ]
    command = ["score", "--hyp", f"h={files[0]}", "--ref", files[1], "--ref", files[2], "--metrics", "ribes"]
    assert main([*command, "--tokenize", "none", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["systems"]["h"]["ribes"]
    assert preorder.ribes(hypotheses, first, second) == printed
    assert preorder.ribes(first, first) == 1


ONE = SOURCES[:1]
MODEL = preorder.load("en-verb-final")
WRONG = r"""
preorder.train(SOURCES, ALIGNMENTS[1:]) | DataError | 59 alignments for 60 sources
preorder.train([], []) | DataError | no sources are given
preorder.train(ONE, ["5-0"]) | DataError | alignments:1: link 5-0 is out of range
preorder.train(ONE, ["0-0"], tags=["A B"]) | DataError | tags:1: 2 POS tags for 4 words
preorder.train(["a b"], ["0-0"], tags=["a:X b:Y"]) | DataError | tags:1: words and tags, as in 'a:X'
preorder.train(ONE, ["0-0"], trees=["(X"]) | DataError | trees:1: 1 brackets
preorder.train(ONE, ["0-0"], trees=["(X (A s0) (B x))"]) | DataError | trees:1: the tree has 2
preorder.train(ONE, ["0-0"], "magic") | UsageError | method: 'magic' is none of btg
preorder.train(ONE, ["0-0"], passes=3) | UsageError | passes is no option of method btg
preorder.evaluate([(0, 2)], ["0-0"]) | DataError | positions:1: not a permutation
preorder.evaluate([(0, 1)], ["0-0"], all_tokens="no") | UsageError | all_tokens: 'no' is neither True nor
MODEL.save("\ud800") | UsageError | directory: not a path: '\\ud800'
preorder.load("no\nsuch") | DataError | no\\nsuch/model.json: cannot be read
preorder.evaluate([(0, 1)], []) | DataError | 0 alignments for 1 positions
preorder.ribes(["a"]) | UsageError | at least one reference
preorder.ribes(["a"], ["a", "b"]) | DataError | 1 hypotheses for 2 reference lines
MODEL.picture("a b", alignment="0-0") | DataError | an alignment links the source
preorder.ribes("a", ["a"]) | UsageError | hypotheses: a list with an item for each
preorder.train(ONE, "0-0") | UsageError | alignments: a list with an item for each
preorder.train(ONE, ["0-0"], classes={"s0": "a b"}) | DataError | class 'a b' is no string
preorder.train(ONE, ["0-0"], classes={"s\n": "a"}) | DataError | has a line break in it
preorder.align(ONE, ONE, "all") | UsageError | symmetrization: 'all' is none of
MODEL.order("s0 v1") | UsageError | sources: a list with an item for each
MODEL.order(pytest.importorskip("pandas").DataFrame({"a": SOURCES})) | UsageError | sources: a list with an
MODEL.n_best(ONE, 0) | UsageError | k: 0 is not a whole number from 1 to 10000
preorder.PreorderModel(MODEL._model, 0) | UsageError | threads: 0 is not a whole number from 1 to 1024
MODEL.order(ONE, tag=ONE) | UsageError | layer: 'tag' is none of tags, trees
preorder.load(5) | UsageError | directory: not a path: 5
preorder.train(ONE, ["0-0"], classes="2") | UsageError | classes: '2' is not a whole number
preorder.train(ONE, ["0-0"], classes={1: "a"}) | DataError | classes: not a string: 1
preorder.train(ONE, ["0-0"], init=5) | UsageError | init: not a PreorderModel: 5
preorder.evaluate(["01"], ["0-0"]) | DataError | positions:1: not a list of positions
preorder.align(["a￨0 b￨1"], ONE) | DataError | sources:1: has token￨position already
preorder.align(ONE, [None]) | DataError | targets:1: not a string or a list of tokens: None
preorder.ribes(["a"], [None]) | DataError | references:1: not a string or a list of tokens: None
MODEL.picture("a b", "A", [(0, 9)]) | DataError | link 0-9 is out of range
preorder.nothing | AttributeError | nothing
preorder.train(ONE, ["0-0"], "neural-btg", ensemble=True) | UsageError | ^ensemble: True is none of
preorder.train(ONE, ["0-0"], "neural-btg", seed=1.5) | UsageError | ^seed: .* is not a whole number
preorder.train(ONE, ["0-0"], "neural-btg", dropout=float("nan")) | UsageError | ^dropout: nan is not a number
preorder.train(ONE, ["0-0"], "neural-btg", iterations=True) | UsageError | ^iterations: True is not
preorder.train(ONE, ["0-0"], "neural-btg", learning_rate=10**400) | UsageError | ^learning_rate: .* is not
preorder.LineModel("/nowhere") | DataError | /nowhere/model.json: cannot be read
preorder.LineModel("en-verb-final", format="x") | UsageError | format: 'x' is none
preorder.LineModel("en-verb-final", fields=4) | UsageError | fields: 4 is not a
preorder.LineModel("en-verb-final")("s0 v1") | UsageError | lines: a list with an item for each
"""


@pytest.mark.parametrize(("call", "error", "message"), rows(WRONG))
def test_what_cannot_work_is_said_in_one_line(call, error, message):
    kind = getattr(preorder, error, AttributeError)
    with pytest.raises(kind, match=message) as raised:
        eval(call)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        (None, "not a string or a list of tokens: None"),
        (b"a b", "not a string or a list of tokens: b'a b'"),
        ({"a": 1}, "not a string or a list of tokens: {'a': 1}"),
        (["a", None], "not a string: None"),
        (["a", ""], "a token is empty, or has a space, tab or carriage return in it: ''"),
        (["a b"], "a token is empty, or has a space, tab or carriage return in it: 'a b'"),
        (["a\r"], r"a token is empty, or has a space, tab or carriage return in it: 'a\\r'"),
        (["a\n"], r"has a line break in it: 'a\\n'"),
        ("a\nb", r"has a line break in it: 'a\\nb'"),
        ("a \ud83d", r"has half of a character \(a surrogate\) in it: 'a \\ud83d'"),
        ("a￨0 b￨1", "has token￨position already"),
    ],
)
def test_what_is_no_sentence(model, tmp_path, sentence, reason):
    """Is told with its list and number, wherever it is given."""
    calls = {
        "sources": lambda given: model.features(given),
        "tags": lambda given: preorder.train(["s", "v"], ["", ""], tags=given, **OPTIONS),
    }
    if not isinstance(sentence, list | dict):
        model.save(tmp_path / "model")
        calls["lines"] = preorder.LineModel(tmp_path / "model")
        reason = reason.replace(" or a list of tokens", "( or a list of tokens)?")
    for name, call in calls.items():
        if name != "tags" or "already" not in reason:
            with pytest.raises(preorder.DataError, match=f"^{name}:2: {reason}"):
                call(["s", sentence])


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        (None, "not a string or a list of links: None"),
        ({(0, 0): 0.5}, "not a string or a list of links"),
        ([(0,)], "not a link"),
        ([(0, 0, 1, 1)], "not a link"),
        ([(0, -5)], "not a link"),
        ([(True, 0)], "not a link"),
        ([(0, 10**18)], "not a link"),
        (["0-0"], "not a link"),
        ([0, 0], "not a link"),
        ([(0, 0, 1.5)], "not a link with a confidence above 0 and at most 1"),
        ([(0, 0, "1")], "not a link with a confidence above 0 and at most 1"),
        ([(0, 0, 0.5), (0, 0)], "link 0-0 has two confidences"),
        ("0-0:0.5 0-0", "link 0-0 has two confidences"),
    ],
)
def test_what_is_no_alignment(links, reason):
    with pytest.raises(preorder.DataError, match=f"^alignments:2: {reason}"):
        preorder.train(["s v"] * 2, ["0-0", links], **OPTIONS)


GIVEN = {
    "a generator": iter,
    "lines of Windows": lambda lines: [f"\ufeff{lines[0]}\r\n", *(f"{line}\r\n" for line in lines[1:])],
    "an array": np.array,
    "strings of numpy": lambda lines: [np.str_(line) for line in lines],
    "lists of tokens": lambda lines: [line.split() for line in lines],
    "a generator of lists' iterators": lambda lines: (iter(line.split()) for line in lines),
    "a column": lambda lines: pytest.importorskip("pandas").Series(lines, index=range(5, 5 + len(lines))),
    "a column of lists": lambda lines: GIVEN["a column"]([line.split() for line in lines]),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_every_function_takes(model, tmp_path, kind):
    given = GIVEN[kind]
    tags, trees = ["S V O P"] * 60, [f"(X (S {s}) (Y (V {v}) (Z (O {o}) (P {p}))))" for s, v, o, p in WORDS]
    links, bracketings = ALIGNMENTS, trees
    if "list" not in kind:
        links, bracketings = given(ALIGNMENTS), given(trees)
    trained = preorder.train(given(SOURCES), links, "btg", tags=given(tags), trees=bracketings, **OPTIONS)
    assert trained.positions(given(SOURCES), tags=given(tags)) == model.positions(SOURCES)
    for method in ("order", "positions", "text", "features", "trees"):
        assert getattr(model, method)(given(SOURCES)) == getattr(model, method)(SOURCES)
    assert model.n_best(given(SOURCES[:2]), np.int64(2)) == model.n_best(SOURCES[:2], 2)
    assert preorder.ribes(given(SOURCES), given(SOURCES), given(SOURCES[::-1])) == 1
    positions = model.positions(SOURCES)
    if kind in ("a generator", "an array", "a column"):
        assert preorder.evaluate(given(positions), given(ALIGNMENTS)).tau == 1
    if find_spec("eflomal"):
        assert preorder.align(given(SOURCES), given(SOURCES)) == preorder.align(SOURCES, SOURCES)
    if "list" not in kind:
        model.save(tmp_path / "model")
        assert preorder.LineModel(tmp_path / "model")(given(SOURCES)) == model.features(SOURCES)


def test_the_api_shows_itself(model):
    """To Tab, dir and help, before anything of it is imported, too."""
    command = "import preorder; print(*dir(preorder)); help(preorder)"
    shown = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
    assert set(preorder.__all__) <= set(shown.splitlines()[0].split())
    assert re.search(r"train\(\s*sources", shown)
    assert repr(model) == "<PreorderModel: btg, trained on 60 lines>"


def test_a_model_that_comes_with_the_package(tmp_path, monkeypatch):
    """By its name, unless there is something of this name in the folder."""
    assert preorder.load("en-verb-final").positions(["i like the pen"]) == [(0, 3, 1, 2)]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en-verb-final").mkdir()
    with pytest.raises(preorder.DataError):
        preorder.load("en-verb-final")
