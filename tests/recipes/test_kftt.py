"""KFTT's recipe on a small corpus of the same form, whose Japanese is English words turned round."""

import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from preorder.cli import build_parser
from preorder.data import Permutation
from preorder.data.formats import parse_alignment, parse_positions
from preorder.metrics.orders import evaluate
from preorder_recipes.kftt import prepare, study, tables
from preorder_recipes.kftt.prepare import Word, joined, tag_of, tags_of
from preorder_recipes.kftt.study import LINKS, Experiment
from tests.support.texts import write

ROOT = Path(__file__).parents[2]
FUGASHI = """
from types import SimpleNamespace

class Word:
    def __init__(self, surface):
        self.surface = surface
        self.feature = SimpleNamespace(pos1="名詞", pos2=surface.lower(), cForm="*")

class Tagger:
    def __call__(self, text):
        return [Word(character) for character in text if character != " "]
"""
WORDS = "abcdefghij"


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Give a corpus: two letters are one hand-made token, but two tokens of the tokeniser."""
    generator = random.Random(0)
    folder = tmp_path / "data"
    folder.mkdir()
    for part, count in (("train", 150), ("dev", 3), ("test", 3), ("hand", 60)):
        sources = [generator.sample(WORDS, generator.randint(3, 7)) for _ in range(count)]
        write(folder / f"{part}.en", *map(" ".join, sources))
        targets = [list(map(str.upper, source[::-1])) for source in sources]
        if part == "hand":
            links = [" ".join(f"{i}-{max(0, len(s) - 2 - i)}" for i in range(len(s))) for s in sources]
            links[7] = "0-9"  # a line that has lost a token
            write(folder / "hand.align", *links)
            targets = [[target[0] + target[1], *target[2:]] for target in targets]
        write(folder / f"{part}.ja", *map(" ".join, targets))
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "fugashi.py").write_text(FUGASHI)
    (modules / "unidic_lite.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(modules))
    monkeypatch.syspath_prepend(str(modules))
    return folder


def test_prepared_links_follow_the_tokens_and_tags_stand_beside_japanese(data, tmp_path, capsys):
    out = tmp_path / "out"
    line = ["--data", str(data), "--hand-train", "40", "--lines", "100", "--tags", "--out", str(out)]
    assert prepare.main(line) == 0
    assert "1 hand-aligned lines have links past their end" in capsys.readouterr().err
    lines = {path.name: path.read_text().splitlines() for path in out.iterdir()}
    assert len(lines["train.en"]) == 100
    for part, expected in (("hand-train", 40), ("hand-test", 19)):
        rows = [lines[f"{part}.{suffix}"] for suffix in ("en", "ja", "align")]
        assert len(rows[0]) == expected
        for source, target, links in zip(*rows, strict=True):
            n = len(source.split())
            assert target.split() == [word.upper() for word in source.split()[::-1]]
            mirrored = {(i, n - 1 - i) for i in range(n)} | {(n - 1, 1), (n - 2, 0)}
            assert parse_alignment(links).links == mirrored
    for part in ("train", "dev", "test", "hand-train", "hand-test"):
        tags = [" ".join(f"名詞-{word.lower()}" for word in line.split()) for line in lines[f"{part}.ja"]]
        assert lines[f"{part}.ja.pos"] == tags
    assert prepare.main(line) == 2
    assert capsys.readouterr().err.rstrip().endswith("exists already")
    write(data / "dev.ja", "A B", "Ａ", "B")
    assert prepare.main([*line[:-1], str(tmp_path / "other")]) == 2
    error = "dev.ja:2: UniDic reads other characters here: is the text in NFKC?"
    assert capsys.readouterr().err.splitlines()[-1] == error
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("feature", "tag"),
    [
        (("助詞", "格助詞", "*"), "助詞-格助詞"),
        (("動詞", "一般", "連用形-促音便"), "動詞-連用形"),
        (("助動詞", "*", "終止形"), "助動詞-終止形"),
        (("動詞", "一般", None), "動詞-一般"),
        (("代名詞", "*", "*"), "代名詞"),
        (("空白", None, None), "空白"),
    ],
)
def test_the_tag_of_a_word_of_unidic(feature, tag):
    assert tag_of(SimpleNamespace(**dict(zip(("pos1", "pos2", "cForm"), feature, strict=True)))) == tag


def test_a_token_has_the_tag_of_the_word_in_which_it_begins():
    words = [Word("清水", "a"), Word("寺", "b"), Word("pure", "c"), Word("land", "d")]
    assert tags_of("清 水寺 pure land".split(), lambda _: words) == ["a", "a", "c", "d"]
    assert tags_of([], lambda _: []) == []


def test_japanese_is_joined_but_for_latin_words():
    assert joined("pure land （ 浄土 宗 ） 20 年".split()) == "pure land（浄土宗）20年"


def test_what_is_measured_is_what_evaluate_measures():
    gold = [parse_alignment("0-2 1-0 2-1"), parse_alignment("0-0 1-1")]
    orders = [parse_positions("2 0 1"), parse_positions("1 0")]
    found = tables.measured(gold, orders)
    expected = evaluate([(2, 0, 1), (0, 1)], orders)
    assert found["linked"] == expected.tau_nakagawa
    assert found["linked_unreordered"] == round(expected.monotone.tau_nakagawa, 4)
    assert found["complete"] == expected.complete_match
    low, high = found["linked_interval"]
    assert low <= found["linked"] <= high
    perfect = tables.measured([parse_alignment("0-1 1-0")] * 3, [Permutation((1, 0))] * 3)
    assert (perfect["all"], perfect["all_interval"]) == (1, [1, 1])


@pytest.mark.slow
def test_the_study_from_end_to_end(data, tmp_path, monkeypatch, capsys):
    options = ("--iterations", "3", "--classes", "0")
    base = Experiment("links", "intersect", "ibm3-intersect", 120, options)
    small = (base, Experiment("trust", "rescored", "hand-0.3", 120, options), base.then_hand())
    assert "--hand-align" in LINKS["hand-0.1"]
    monkeypatch.setattr(study, "EXPERIMENTS", small)
    monkeypatch.setattr(prepare, "HAND_TRAIN", 40)
    run = tmp_path / "run"
    assert prepare.main(["--data", str(data), "--out", str(run / "data"), "--hand-train", "40"]) == 0
    monkeypatch.setattr(study, "_prepare", lambda _: study.Step("prepared", ("true",), (), ()))
    monkeypatch.setattr(study, "LINES", 120)
    links = {name: LINKS[name] for name in ("ibm3-forward", "ibm3-intersect", "hand-0.3")}
    monkeypatch.setattr(study, "LINKS", links)
    command = ["--data", str(data), "--run", str(run)]
    assert study.main(command) == 0
    results = json.loads((run / "results.json").read_text())
    assert {row["links"] for row in results["alignment"]} == {*links}
    assert all(row["f1"] > 0.3 for row in results["alignment"])
    rows = {(row["direction"], row["name"]): row for row in results["order"]}
    assert len(rows) == 6
    assert all(row["linked"] > row["linked_unreordered"] for row in rows.values())
    assert "| rescored |" in (run / "results.md").read_text()
    steps = (run / "commands.sh").read_text()
    capsys.readouterr()
    assert study.main(command) == 0
    assert (run / "commands.sh").read_text() == steps  # nothing is done twice


def test_all_that_an_experiment_reads_was_made_before():
    keys = [(each.table, each.name) for each in study.EXPERIMENTS]
    assert len(set(keys)) == len(keys)
    made = {f"data/{part}.{end}" for part in ("train", "dev", "test") for end in ("en", "ja")}
    made |= {f"data/hand-{part}.{end}" for part in ("train", "test") for end in ("en", "ja", "align")}
    for each in study.EXPERIMENTS:
        for direction in each.directions:
            plan = study.Study(direction, 1, None)
            steps = [] if each.links == study.HAND else plan.align(each.links, each.lines)
            for step in [*steps, *plan.learn(each)]:
                assert made.issuperset(step.reads), step.name
                made.update(step.makes)
            assert each.orders(direction) in made


@pytest.mark.parametrize("links", LINKS)
def test_the_options_of_links_exist(links):
    options = ["--src", "x", "--tgt", "x", *LINKS[links]]
    assert build_parser().parse_args(["align", *options]).src == "x"


def test_the_best_order_of_trees_is_the_best_of_all_labels(tmp_path):
    trees = ["(S (A a) (B (C b) (D (E c) (F d))))", "(S (A a) (B b))", "(S (A (B a) (C b)) (D (E c) (F d)))"]
    links = ["0-3 1-2 2-0 3-1", "", "0-2 1-0 2-3 3-1"]
    for name, lines in (("src", ["a b c d", "a b", "a b c d"]), ("trees", trees)):
        write(tmp_path / name, *lines)
    found = tables.best_orders(
        str(tmp_path / "src"), str(tmp_path / "trees"), list(map(parse_alignment, links))
    )
    # The last cannot have 1 0 3 2 and all pairs right: b and d would have to come between a and c.
    assert found == [Permutation(order) for order in ((3, 2, 0, 1), (0, 1), (1, 0, 3, 2))]
