"""Data folders: what a run takes from one, and how one is made of a corpus."""

import gzip

import pytest

from preorder.errors import DataError
from preorder_recipes import split
from preorder_recipes.pipeline.data import copy_data, fault_of, main
from preorder_recipes.pipeline.job import PARTS
from tests.support.texts import read, write

TEXTS = {
    "train.en": "a b\n\nx y\n" + "w " * 51 + "\nshort\nc\n",
    "train.ja": "b a\nz\n\nv\n" + "t " * 10 + "\nc\n",
    "train.en.pos": "A B\n\nX Y\n" + "W " * 51 + "\nS\nC\n",
    "dev.en": "d\n",
    "dev.ja": "d\n",
    "dev.en.pos": "D\n",
    "test.en": "e f\n",
    "test.ja": "f e\n",
    "test.en.pos": "E F\n",
}
SIDES = ("en", "ja")


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


def command(data, out, *more):
    return main(["--data", str(data), "--src", "en", "--tgt", "ja", "--out", str(out), *more])


def test_training_pairs_are_filtered_in_all_files_alike(data, tmp_path, capsys):
    """Left out: an empty side, 51 tokens, and ten tokens for one."""
    for part in PARTS:
        count = TEXTS[f"{part}.en"].count("\n")
        (data / f"{part}.align").write_text("".join(f"0-{i}\n" for i in range(count)))
    message = copy_data(data, tmp_path / "out", SIDES, True, 50, False)
    assert message == (
        "2 of 6 training pairs are kept: 1 to 50 tokens a side, neither over 9 times the other; left out: "
        "2 with an empty side, 1 of more than 50 tokens, 1 over 9 times as long on one side; "
        "are there spaces between the tokens?"
    )
    made = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    train = {name.removeprefix("train."): text for name, text in made.items() if name.startswith("train")}
    assert train == {"en": "a b\nc\n", "ja": "b a\nc\n", "en.pos": "A B\nC\n", "align": "0-0\n0-5\n"}
    assert (made["all.en"], made["all.ja"]) == ("a b\nc\nd\ne f\n", "b a\nc\nd\nf e\n")  # for the aligner
    assert command(data, tmp_path / "other", "--given-alignment") == 0
    assert capsys.readouterr().out == message + "\n"
    assert {path.name: path.read_text() for path in (tmp_path / "other").iterdir()} == made
    assert command(data, tmp_path / "longer", "--max-length", "51") == 0
    assert "1 to 51 tokens a side" in capsys.readouterr().out
    message = copy_data(data, tmp_path / "longer", SIDES, False, 51, False)
    assert "1 to 51 tokens a side" in message
    assert "2 over 9 times as long on one side" in message


def test_links_and_tags_are_not_read_as_text(data, tmp_path):
    """In lader's format and with tags of two tagsets, they look like a bitext and like words with tags."""
    texts = {"en": "a b c d", "ja": "d c b a", "en.pos": "NN/名詞 " * 4, "align": "3-3 ||| 0-3 1-2 2-1"}
    for name, line in texts.items():
        for part in PARTS:
            (data / f"{part}.{name}").write_text(f"{line}\n" * 3)
    copy_data(data, tmp_path / "out", SIDES, True, 50)
    assert {name: read(tmp_path / f"out/train.{name}") for name in texts} == {
        name: [line] * 3 for name, line in texts.items()
    }


def test_nine_times_as_long_is_still_fit():
    assert fault_of(("w", "t " * 9)) is None


def test_tags_of_other_data_are_removed(data, tmp_path, capsys):
    out = tmp_path / "out"
    assert command(data, out) == 0
    assert (out / "train.en.pos").exists()
    assert "not used" not in capsys.readouterr().out
    (data / "dev.en.pos").unlink()
    assert command(data, out) == 0
    assert capsys.readouterr().out.endswith("; .en.pos is not used, as a part has none\n")
    assert not list(out.glob("*.pos"))


def test_hand_aligned_sentences_are_copied(data, tmp_path, capsys):
    texts = {"en": "a b\nc\n", "ja": "b a\nc\n", "align": "0-1 1-0\n0-0\n"}
    for name, text in texts.items():
        (data / f"hand.{name}").write_text(text)
    out = tmp_path / "out"
    assert command(data, out, "--hand-aligned") == 0
    assert {name: (out / f"hand.{name}").read_text() for name in texts} == texts
    (data / "hand.align").write_text("0-0\n")
    assert command(data, out, "--hand-aligned") == 2
    assert "hand.align:2: the file ends after 1 line" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("dev.ja", "", "dev.ja:1: the file ends after 0 lines"),
        ("test.en", "\n", "test.en:1: an empty sentence"),
        ("dev.ja", " \n", "dev.ja:1: an empty sentence"),
        ("train.en", "a￨0\n\nx y\nw\nshort\nc\n", "train.en:1: has token￨position already"),
        ("train.ja", "\n\n\n\n\n\n", "train.en: no sentence pair is left"),
        ("test.ja", None, r"test.ja: cannot be read: No such file"),
    ],
)
def test_bad_data_is_told_by_file_and_line(data, tmp_path, name, text, message):
    (data / name).unlink()
    if text is not None:
        (data / name).write_text(text)
    with pytest.raises(DataError, match=message):
        copy_data(data, tmp_path / "out", SIDES, False, 50, False)


PAIRS = [(f"s{i} a", f"t{i} b") for i in range(200)]


def corpus(folder, pairs=PAIRS, names=("my.en", "my.ja")):
    folder.mkdir(exist_ok=True)
    sources, targets = zip(*pairs, strict=True)
    return ["--src", write(folder / names[0], *sources), "--tgt", write(folder / names[1], *targets)]


def parts_in(out, names=SIDES):
    texts = {part: [read(out / f"{part}.{name}") for name in names] for part in PARTS}
    return {part: list(zip(*sides, strict=True)) for part, sides in texts.items()}


def run(line, tmp_path):
    assert split.main([*line, "--out", str(tmp_path / "out")]) == 0
    return parts_in(tmp_path / "out")


def test_dev_and_test_are_split_off_in_the_order_of_the_text(tmp_path, capsys):
    parts = run([*corpus(tmp_path), "--held", "7"], tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        "train: 186 of 200 pairs; 14 are split off, 0 left out, since they share a line with dev or test",
        "dev: 7 pairs, split off from the training text",
        "test: 7 pairs, split off from the training text",
    ]
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 186, "dev": 7, "test": 7}
    assert sorted(pair for pairs in parts.values() for pair in pairs) == sorted(PAIRS)
    for pairs in parts.values():
        assert pairs == sorted(pairs, key=PAIRS.index)
    assert run([*corpus(tmp_path), "--held", "7"], tmp_path) == parts


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
    texts = [write(tmp_path / "t1", "s3 a", "", "new"), write(tmp_path / "t2", "other", "x", "new")]
    line = [*corpus(tmp_path), "--test-src", texts[0], "--test-tgt", texts[1], "--held", "3"]
    parts = run(line, tmp_path)
    assert parts["test"] == [("s3 a", "other"), ("new", "new")]
    assert len(parts["train"]) == 200 - 3 - 1
    assert PAIRS[3] not in parts["train"] + parts["dev"]
    printed = capsys.readouterr().out
    assert "3 are split off, 1 left out" in printed
    assert "test: 2 pairs, as given; 1 with an empty side are left out" in printed


def test_unfit_pairs_are_never_drawn_and_at_most_a_20th_is(tmp_path):
    unfit = [("", "x"), ("w " * 51, "t"), ("one", "t " * 10)] * 50
    parts = run([*corpus(tmp_path, PAIRS[:40] * 5 + unfit), "--held", "7"], tmp_path)
    assert all(pair in PAIRS for part in PARTS[1:] for pair in parts[part])
    assert [len(parts[part]) for part in PARTS[1:]] == [2, 2]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("train.en", "train.ja"), ("en", "ja")),
        (("a.de.gz", "b.x.fr"), ("de", "fr")),
        (("a.déjà", "b.fr"), ("src", "tgt")),
        (("en.txt", "ja.txt"), ("src", "tgt")),
        (("en", "ja"), ("src", "tgt")),
    ],
)
def test_languages_are_the_ends_of_the_names(tmp_path, files, names):
    line = corpus(tmp_path, names=files)
    path = tmp_path / files[0]
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert split.main([*line, "--out", str(tmp_path / "out")]) == 0
    assert len(parts_in(tmp_path / "out", names)["train"]) == 180


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("--dev-src x", "--dev-src and --dev-tgt go together"),
        ("--test-src no --test-tgt no.ja", "no: cannot be read: No such file or directory"),
        ("--test-src empty --test-tgt empty.ja", "empty: no sentence pair is left"),
        ("--tgt -", "a corpus is read from files, not from standard input"),
        ("--src empty --tgt empty", "empty: is both the source and its translation"),
        ("--tgt empty", "empty:2: the file ends after 1 line, {folder}/my.en goes on"),
        ("--src feature --tgt feature.ja", "feature:1: has token￨position already"),
        ("--src same --tgt same.ja", "same: too few pairs of different lines to split dev and test off"),
        ("--src three --tgt three.ja", "three: no pair is left to train on: all have a line of dev or"),
    ],
)
def test_what_cannot_be_split_is_one_line_and_status_2(tmp_path, monkeypatch, capsys, more, message):
    monkeypatch.chdir(tmp_path)
    texts = {"empty": [""], "feature": ["a￨1"], "same": ["a"] * 100, "three": ["a", "b", "a", "b"]}
    for name, lines in texts.items():
        for copy in (name, f"{name}.ja"):
            write(tmp_path / copy, *lines)
    assert split.main([*corpus(tmp_path), *more.split(), "--out", "out"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(message.format(folder=tmp_path))
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_nothing_else_is_replaced(tmp_path, capsys):
    out = tmp_path / "out"
    line = [*corpus(out, names=("train.en", "train.ja")), "--out", str(out)]
    assert split.main(line) == 2
    assert capsys.readouterr().err == f"{out}/train.en: would be replaced by a part of itself\n"
    (out / "train.en.pos").write_text("N")
    assert split.main([*corpus(tmp_path), "--out", str(out)]) == 2
    assert capsys.readouterr().err == f"{out}: holds other files than a split corpus: train.en.pos\n"
    (out / "train.en.pos").rename(out / "notes")
    assert split.main([*corpus(tmp_path), "--out", str(out)]) == 2
    assert capsys.readouterr().err == f"{out}: holds other files than a split corpus: notes\n"
    assert sorted(path.name for path in out.iterdir()) == ["notes", "train.en", "train.ja"]
    assert split.main([*corpus(tmp_path), "--out", str(out / "notes")]) == 2
    assert capsys.readouterr().err == f"{out}/notes: exists and is not a directory\n"
    assert (out / "notes").read_text() == "N"
