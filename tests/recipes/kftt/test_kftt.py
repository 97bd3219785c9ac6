"""KFTT's recipe on a small corpus of the same form, whose Japanese is English words turned round."""

import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from preorder.cli import main as preorder
from preorder.data import Permutation
from preorder.data.formats import parse_alignment, parse_positions
from preorder.metrics.orders import evaluate
from recipes.kftt import experiments, oracle, prepare, study, tables
from recipes.kftt.experiments import LINKS, Experiment
from recipes.kftt.parts_of_speech import Word, joined, tag_of, tags_of
from tests.support.texts import write

ROOT = Path(__file__).parents[3]
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


def test_prepared_links_follow_the_tokens(data, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["--data", str(data), "--out", str(out), "--hand-train", "40", "--lines", "100"]
    assert prepare.main(command) == 0
    assert "1 hand-aligned lines have links past their end" in capsys.readouterr().err
    assert sum(1 for _ in (out / "train.en").open()) == 100
    count = 0
    for part, expected in (("hand-train", 40), ("hand-test", 19)):
        rows = [(out / f"{part}.{suffix}").read_text().splitlines() for suffix in ("en", "ja", "align")]
        for source, target, links in zip(*rows, strict=True):
            n = len(source.split())
            assert target.split() == [word.upper() for word in source.split()[::-1]]
            mirrored = {(i, n - 1 - i) for i in range(n)} | {(n - 1, 1), (n - 2, 0)}
            assert parse_alignment(links).links == mirrored
        assert len(rows[0]) == expected
        count += len(rows[0])
    assert count == 59
    assert prepare.main(command) == 2
    assert capsys.readouterr().err.rstrip().endswith("exists already")


def test_tags_stand_beside_each_japanese_text(data, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["--data", str(data), "--out", str(out), "--hand-train", "40", "--tags"]
    assert prepare.main(command) == 0
    for part in ("train", "dev", "test", "hand-train", "hand-test"):
        words, tags = ((out / f"{part}.ja{suffix}").read_text().splitlines() for suffix in ("", ".pos"))
        expected = [" ".join(f"名詞-{word.lower()}" for word in line.split()) for line in words]
        assert tags == expected
    write(data / "dev.ja", "A B", "Ａ", "B")
    assert prepare.main([*command[:3], str(tmp_path / "other"), *command[4:]]) == 2
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


def test_no_sentence_can_vary_a_perfect_order():
    found = tables.measured([parse_alignment("0-1 1-0")] * 3, [Permutation((1, 0))] * 3)
    assert found["all"] == 1
    assert found["all_interval"] == [1, 1]


@pytest.mark.slow
def test_the_study_from_end_to_end(data, tmp_path, monkeypatch, capsys):
    options = ("--iterations", "3", "--classes", "0")
    base = Experiment("links", "intersect", "ibm3-intersect", 120, options)
    small = (
        base,
        Experiment("trust", "rescored", "hand-0.3", 120, options),
        Experiment("trust", "then hand", "hand", 120, options[:2], init=("links", "intersect")),
    )
    links = experiments.LINKS["hand-0.1"]
    assert "--hand-align" in links.options
    for module in (study, tables):
        monkeypatch.setattr(module, "EXPERIMENTS", small)
    for module in (study, experiments):
        monkeypatch.setattr(module, "BY_KEY", {(each.table, each.name): each for each in small})
    monkeypatch.setattr(prepare, "HAND_TRAIN", 40)
    run = tmp_path / "run"
    assert prepare.main(["--data", str(data), "--out", str(run / "data"), "--hand-train", "40"]) == 0
    monkeypatch.setattr(study, "_prepare", lambda _: study.Step("prepared", ("true",), (), ()))
    command = ["--data", str(data), "--run", str(run), "--lines", "120", "--alignments", "ibm1-intersect"]
    assert study.main(command) == 0
    results = json.loads((run / "results.json").read_text())
    assert {row["links"] for row in results["alignment"]} >= {"ibm1-intersect", "ibm3-forward", "hand-0.3"}
    assert all(row["f1"] > 0.3 for row in results["alignment"])
    rows = {(row["direction"], row["name"]): row for row in results["order"]}
    assert len(rows) == 6
    assert all(row["linked"] > row["linked_unreordered"] for row in rows.values())
    assert "| rescored |" in (run / "results.md").read_text()
    steps = (run / "commands.sh").read_text()
    capsys.readouterr()
    assert study.main(command) == 0
    assert (run / "commands.sh").read_text() == steps  # nothing is done twice


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--tables", "links,order"], "'order' is none of alignment, links"),
        (["--directions", "en"], "'en' is none of en-ja, ja-en"),
        (["--lines", "0"], "not a whole number from 1"),
    ],
)
def test_options_of_the_study(tmp_path, capsys, options, reason):
    with pytest.raises(SystemExit) as end:
        study.main(["--data", str(tmp_path), "--run", str(tmp_path / "run"), *options])
    assert end.value.code == 2
    assert reason in capsys.readouterr().err


def test_data_that_are_not_there_are_named_before_any_work(tmp_path, capsys):
    run = tmp_path / "run"
    assert study.main(["--data", str(tmp_path), "--run", str(run)]) == 2
    missing = tmp_path / "hand.align"
    assert capsys.readouterr().err == f"{missing}: cannot be read: No such file or directory\n"
    assert not run.exists()


def test_every_experiment_has_its_links_and_its_beginning():
    for each in experiments.EXPERIMENTS:
        assert each.links in LINKS or each.links == experiments.HAND
        assert each.init is None or each.init in experiments.BY_KEY
    assert len(experiments.BY_KEY) == len(experiments.EXPERIMENTS)
    assert preorder(["align", "--forward", "x", "--reverse", "y", *LINKS["ibm1-union"].options]) == 2


def test_all_that_an_experiment_reads_was_made_before():
    made = {f"data/{part}.{end}" for part in ("train", "dev", "test") for end in ("en", "ja")}
    made |= {f"data/hand-{part}.{end}" for part in ("train", "test") for end in ("en", "ja", "align")}
    for each in experiments.EXPERIMENTS:
        for direction in each.directions:
            plan = study.Study(direction, 1, None)
            steps = [] if each.links == experiments.HAND else plan.align(each.links, each.lines)
            for step in [*steps, *plan.learn(each)]:
                assert made.issuperset(step.reads), step.name
                made.update(step.makes)
            assert each.orders(direction) in made


def test_the_best_order_of_trees_is_the_best_of_all_labels(tmp_path, capsys):
    trees = ["(S (A a) (B (C b) (D (E c) (F d))))", "(S (A a) (B b))", "(S (A (B a) (C b)) (D (E c) (F d)))"]
    links = ["0-3 1-2 2-0 3-1", "", "0-2 1-0 2-3 3-1"]
    for name, lines in (("src", ["a b c d", "a b", "a b c d"]), ("trees", trees), ("links", links)):
        write(tmp_path / name, *lines)
    command = [f"--{option}={tmp_path / name}" for option, name in (("src", "src"), ("align", "links"))]
    assert oracle.main([*command, f"--trees={tmp_path / 'trees'}"]) == 0
    # The last cannot have 1 0 3 2 and all pairs right: b and d would have to come between a and c.
    assert capsys.readouterr().out.splitlines() == ["3 2 0 1", "0 1", "1 0 3 2"]
    assert oracle.main([*command, f"--trees={tmp_path / 'src'}"]) == 2
