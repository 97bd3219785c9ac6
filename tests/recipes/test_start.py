"""From two files to a report, and the same by the commands that were shown."""

import os
import shutil
import subprocess

import pytest

from preorder_recipes import split, start
from preorder_recipes.synthetic import generate
from tests.recipes.test_run import PREORDER, TINY
from tests.support.texts import read, write

INPUTS = ("commands.sh", "config.yaml", "report.json")
"""What a run's commands read, and do not make."""


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    generate.main(["--out", str(folder / "data"), "--pairs", "120", "--held", "1"])
    for side in ("svo", "sov"):
        shutil.copy(folder / f"data/train.{side}", folder / f"mine.{side}")
    return ["--src", str(folder / "mine.svo"), "--tgt", str(folder / "mine.sov")]


def made(folder):
    """Return the texts, the scores and the page, by name."""
    kinds = ("corpus/*", "data/*", "vocabulary/*", "systems/*/*/test.*", "scores/*", "report.html")
    return {str(path.relative_to(folder)): path.read_bytes() for kind in kinds for path in folder.glob(kind)}


@pytest.mark.slow
def test_the_commands_that_are_shown_make_the_same(one_thread, texts, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changes = [part for change in TINY for part in ("--set", change)]
    options = ["--run", "run", "--size", "tiny", "--steps", "2", "--beam", "1", "--cross-fit", "2", *changes]
    options += ["--systems", "preorder_relative"]
    assert start.main([*texts, "--held", "6", *options, *PREORDER]) == 0
    printed = capsys.readouterr()
    run = tmp_path / "run"
    script = (run / "commands.sh").read_text()
    for line in script.split('cd "$(dirname "$0")"\n')[1].splitlines():
        assert line.removesuffix(" 2>&1").partition(" > logs")[0] in printed.err
    for part in ("6 pairs, split off", "108 of 108 training pairs are kept", "step 1 of ", "report.html"):
        assert part in printed.err
    assert "preorder_relative" in printed.out
    first = made(run)
    assert len(first) > 25

    by_hand = shutil.copytree(run, tmp_path / "by hand")
    for path in by_hand.rglob("*"):
        if path.is_file() and path.name not in INPUTS:
            path.unlink()
    environment = {**os.environ, "PATH": os.defpath}
    subprocess.run(["sh", str(by_hand / "commands.sh")], env=environment, check=True, capture_output=True)
    assert made(by_hand) == first

    assert start.main([*texts, "--held", "6", *options, *PREORDER]) == 0  # nothing is done again
    assert (run / "commands.sh").read_text() == script
    assert made(run) == first


@pytest.mark.parametrize(
    ("pairs", "words", "settings"),
    [
        (1_999, 17.0, ("little", "bpe", 2000)),
        (2_000, 17.0, ("little", "bpe", 4000)),
        (19_999, 8.0, ("little", "bpe", 4000)),
        (20_000, 8.0, ("small",)),
        (20_000, 17.0, ("small_long", "bpe", 4000)),
        (50_000, 17.0, ("small_long", "bpe", 8000)),
        (50_000, 8.0, ("small",)),
    ],
)
def test_the_settings_follow_from_the_text(pairs, words, settings):
    assert tuple(start.settings_for(pairs, words).values()) == settings


def test_an_own_corpus_is_trained_as_fits_it_unless_told_otherwise(texts, tmp_path, monkeypatch, capsys):
    found = []
    monkeypatch.setattr("preorder_recipes.run.run", found.append)
    line = [*texts, "--run", str(tmp_path / "run")]
    assert start.main(line) == start.main([*line, "--size", "tiny", "--preorder", "--seed", "7"]) == 0
    for given in ("--subwords unigram --subword-size 500", "--subword-size 500", "--subwords unigram"):
        assert start.main([*line, *given.split()]) == 0
    keys = ("source", "target", "size", "subwords", "subword_size", "jobs", "cross_fit")
    assert [tuple(vars(one)[key] for key in keys) for one in found] == [
        ("svo", "sov", "little", "bpe", 2000, 2, 5),
        ("svo", "sov", "tiny", None, None, 2, 5),
        ("svo", "sov", "little", "unigram", 500, 2, 5),
        ("svo", "sov", "little", "bpe", 500, 2, 5),
        ("svo", "sov", "little", "unigram", 2000, 2, 5),
    ]
    assert "for this text: --size little --subwords bpe --subword-size 2000" in capsys.readouterr().err
    assert found[1].preorder == ["--seed", "7"]
    assert {path.name for path in (tmp_path / "run/corpus").iterdir()} == {
        f"{part}.{side}" for part in ("train", "dev", "test") for side in ("svo", "sov")
    }


def test_without_opennmt_nothing_is_split(texts, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(start.registration, "find_spec", lambda name: None)
    assert start.main([*texts, "--run", str(tmp_path / "run")]) == 2
    assert "OpenNMT-py is not installed" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_plain_text_is_tokenised(tmp_path, monkeypatch, capsys):
    """The command that is shown makes the same folder."""
    pytest.importorskip("sacremoses")
    monkeypatch.setattr("preorder_recipes.run.run", lambda arguments: None)
    lines = [f"Isn't it {number}, or {number}?" for number in range(60)]
    files = [write(tmp_path / f"mine.{side}", *lines) for side in ("en", "fr")]
    given = ["--src", files[0], "--tgt", files[1], "--held", "2", "--tokenize", "en,fr"]
    assert start.main([*given, "--run", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().err
    assert "tokenize: fr by sacremoses" in said
    assert "does not look tokenised" not in said
    assert read(tmp_path / "run/corpus/train.en")[0] == "Isn 't it 0 , or 0 ?"
    assert "--tokenize en,fr --held 2" in (tmp_path / "run/commands.sh").read_text()
    assert split.main([*given, "--out", str(tmp_path / "again")]) == 0
    for part in ("train.en", "test.fr"):
        assert read(tmp_path / "again" / part) == read(tmp_path / "run/corpus" / part)
