"""A data folder from a corpus: nothing of dev and test is learned from."""

import bz2
import gzip

import pytest

from recipes import split
from recipes.job import PARTS

PAIRS = [(f"s{i} a", f"t{i} b") for i in range(200)]


def write(folder, name, lines):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return str(folder / name)


def corpus(folder, pairs=PAIRS, names=("my.en", "my.ja")):
    sources, targets = zip(*pairs, strict=True)
    return ["--src", write(folder, names[0], sources), "--tgt", write(folder, names[1], targets)]


def read(out, names=("en", "ja")):
    texts = {part: [(out / f"{part}.{name}").read_text().splitlines() for name in names] for part in PARTS}
    return {part: list(zip(*sides, strict=True)) for part, sides in texts.items()}


def run(line, tmp_path):
    assert split.main([*line, "--out", str(tmp_path / "out")]) == 0
    return read(tmp_path / "out")


def test_dev_and_test_are_split_off_in_the_order_of_the_text(tmp_path, capsys):
    parts = run([*corpus(tmp_path), "--held", "7"], tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        "train: 186 of 200 pairs; 14 are split off, 0 left out, since they share a line with dev or test",
        "dev: 7 pairs, split off from the training text, chosen by seed 1",
        "test: 7 pairs, split off from the training text, chosen by seed 1",
    ]
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 186, "dev": 7, "test": 7}
    assert sorted(pair for pairs in parts.values() for pair in pairs) == sorted(PAIRS)
    for pairs in parts.values():
        assert pairs == sorted(pairs, key=PAIRS.index)
    assert run([*corpus(tmp_path), "--held", "7"], tmp_path) == parts
    assert run([*corpus(tmp_path), "--held", "7", "--split-seed", "2"], tmp_path) != parts


def test_a_20th_of_a_small_text_is_split_off(tmp_path):
    assert {part: len(pairs) for part, pairs in run(corpus(tmp_path), tmp_path).items()} == {
        "train": 180,
        "dev": 10,
        "test": 10,
    }


def test_no_line_of_dev_or_test_is_trained_on(tmp_path, capsys):
    """Most pairs have a source or a target, or both, that occurs again, with other spaces."""
    pairs = [(f"s{i % 60}  a", f"t{i % 70} b ") for i in range(400)]
    parts = run([*corpus(tmp_path, pairs), "--held", "5"], tmp_path)
    words = {part: [tuple(" ".join(line.split()) for line in pair) for pair in parts[part]] for part in PARTS}
    for side in (0, 1):
        lines = {part: [pair[side] for pair in words[part]] for part in PARTS}
        assert not set(lines["train"]) & {*lines["dev"], *lines["test"]}
        assert not set(lines["dev"]) & set(lines["test"])
    left_out = 400 - 10 - len(parts["train"])
    assert left_out > 50
    assert f"10 are split off, {left_out} left out" in capsys.readouterr().out


def test_given_parts_stay_but_for_empty_sides(tmp_path, capsys):
    texts = [write(tmp_path, "t1", ["s3 a", "", "new"]), write(tmp_path, "t2", ["other", "x", "new"])]
    line = [*corpus(tmp_path), "--test-src", texts[0], "--test-tgt", texts[1], "--held", "3"]
    parts = run(line, tmp_path)
    assert parts["test"] == [("s3 a", "other"), ("new", "new")]
    assert len(parts["train"]) == 200 - 3 - 1
    assert PAIRS[3] not in parts["train"] + parts["dev"]
    printed = capsys.readouterr().out
    assert "3 are split off, 1 left out" in printed
    assert "test: 2 pairs, as given; 1 with an empty side are left out" in printed


def test_unfit_pairs_are_never_drawn(tmp_path):
    unfit = [("", "x"), ("w " * 51, "t"), ("one", "t " * 10)] * 50
    parts = run([*corpus(tmp_path, PAIRS[:20] + unfit), "--held", "1"], tmp_path)
    assert all(pair in PAIRS for part in PARTS[1:] for pair in parts[part])


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("train.en", "train.ja"), ("en", "ja")),
        (("a.de.gz", "b.x.fr"), ("de", "fr")),
        (("a.de.bz2", "b.x.fr"), ("de", "fr")),
        (("en.txt", "ja.txt"), ("src", "tgt")),
        (("en", "ja"), ("src", "tgt")),
    ],
)
def test_languages_are_the_ends_of_the_names(tmp_path, files, names):
    line = corpus(tmp_path, names=files)
    path = tmp_path / files[0]
    if compress := {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix):
        path.write_bytes(compress(path.read_bytes()))
    run_out = tmp_path / "out"
    assert split.main([*line, "--out", str(run_out)]) == 0
    assert len(read(run_out, names)["train"]) == 180
    assert split.main([*line, "--names", "x", "y", "--out", str(tmp_path / "other")]) == 0
    assert read(tmp_path / "other", ("x", "y")) == read(run_out, names)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--names", "a", "a"], "--names: not two different names of letters and digits: a a"),
        (["--names", "a", "../b"], "--names: not two different names of letters and digits: a ../b"),
        (["--dev-src", "x"], "--dev-src and --dev-tgt go together"),
        (["--test-src", "no", "--test-tgt", "no"], "no: cannot be read: No such file or directory"),
        (["--test-src", "empty", "--test-tgt", "empty"], "empty: no sentence pair is left"),
        (["--tgt", "-"], "a corpus is read from files, not from standard input"),
        (["--tgt", "empty"], "empty:2: the file ends after 1 lines, {folder}/my.en goes on"),
        (["--src", "feature", "--tgt", "feature"], "feature:1: has token￨position already"),
        (
            ["--src", "same", "--tgt", "same"],
            "same: too few pairs of different lines to split dev and test off",
        ),
        (
            ["--src", "three", "--tgt", "three"],
            "three: no pair is left to train on: all have a line of dev or",
        ),
    ],
)
def test_what_cannot_be_split_is_one_line_and_status_2(tmp_path, monkeypatch, capsys, more, message):
    monkeypatch.chdir(tmp_path)
    texts = {"empty": [""], "feature": ["a￨1"], "same": ["a"] * 100, "three": ["a", "b", "a", "b"]}
    for name, lines in texts.items():
        write(tmp_path, name, lines)
    assert split.main([*corpus(tmp_path), *more, "--out", "out"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(message.format(folder=tmp_path))
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_nothing_else_is_replaced(tmp_path, capsys):
    out = tmp_path / "out"
    line = [*corpus(out, names=("train.en", "train.ja")), "--out", str(out)]
    assert split.main(line) == 2
    assert capsys.readouterr().err == f"{out}/train.en: would be replaced by a part of itself\n"
    (out / "notes").write_text("mine")
    assert split.main([*corpus(tmp_path), "--out", str(out)]) == 2
    assert capsys.readouterr().err == f"{out}: holds other files than a split corpus: notes\n"
    assert sorted(path.name for path in out.iterdir()) == ["notes", "train.en", "train.ja"]
