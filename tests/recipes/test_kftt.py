"""KFTT's recipe on a small corpus of the same form, whose Japanese is English words turned round."""

import random
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from preorder.data.formats import parse_alignment
from preorder_recipes.kftt import prepare
from preorder_recipes.kftt.prepare import joined, tag_of
from tests.support.running import environment
from tests.support.texts import write

SCRIPT = Path(__file__).parents[2] / "recipes/kftt/orders.sh"
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
    monkeypatch.setattr(prepare, "HAND_TRAIN", 40)
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "fugashi.py").write_text(FUGASHI)
    (modules / "unidic_lite.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(modules))
    monkeypatch.syspath_prepend(str(modules))
    return folder


def test_prepared_links_follow_the_tokens_and_tags_stand_beside_japanese(data, tmp_path, capsys):
    out = tmp_path / "out"
    line = ["--data", str(data), "--sample", "100", "--tags", "--out", str(out)]
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
    assert prepare.main(["--min-length", "9", "--max-length", "8", *line[:-1], str(tmp_path / "none")]) == 2
    assert "train.ja: no pair of 9 to 8 tokens a side" in capsys.readouterr().err
    write(data / "dev.ja", "A B", "Ａ", "B")
    assert prepare.main([*line[:-1], str(tmp_path / "other")]) == 2
    error = "dev.ja:2: UniDic reads other characters here: is the text in NFKC?"
    assert capsys.readouterr().err.splitlines()[-1] == error
    for side in ("en", "ja"):
        write(data / f"dev.{side}")
    assert prepare.main([*line[:-1], str(tmp_path / "other")]) == 2
    assert "dev.en: the file is empty" in capsys.readouterr().err
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


def test_japanese_is_joined_but_for_latin_words():
    assert joined("pure land （ 浄土 宗 ） 20 年".split()) == "pure land（浄土宗）20年"


@pytest.mark.slow
def test_the_script_measures_links_and_orders_and_does_nothing_twice(data, tmp_path):
    prepared = tmp_path / "prepared"
    assert prepare.main(["--data", str(data), "--out", str(prepared)]) == 0
    command = [str(SCRIPT), str(prepared), "run", "ja", "120", "btg --iterations 3 --classes 0"]
    shown = [
        subprocess.run(command, cwd=tmp_path, env=environment(), check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert "compiling" not in shown[1].stderr
    assert shown[0].stdout == shown[1].stdout
    figures = (tmp_path / "run/120/ja/hand-0.3.btg--iterations3--classes0.txt").read_text()
    assert "19 sentences" in figures
    assert figures in shown[0].stdout
    done = subprocess.run([str(SCRIPT), "data"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr[:6]) == (2, "usage:")
