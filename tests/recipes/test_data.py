"""What a run takes from a data folder, and what it refuses."""

import pytest

from preorder.errors import DataError
from recipes.data import copy_data, copy_hand_aligned, main
from recipes.job import Job
from recipes.systems import read_system

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


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path / "run", "en", "ja", "tiny", (read_system("gold", "tiny"),), (1,), "cpu")


def copied(job, data, use_alignment=False):
    return copy_data(data, job.folder / "data", (job.source, job.target), use_alignment)


def read(job, name):
    return (job.folder / "data" / name).read_text()


def test_training_pairs_are_filtered_in_all_files_alike(job, data):
    """Left out: an empty side, 51 tokens, and ten tokens for one."""
    message = copied(job, data)
    assert message == (
        "2 of 6 training pairs are kept: 1 to 50 tokens a side, neither over 9 times the other; left out: "
        "2 with an empty side, 1 of more than 50 tokens, 1 over 9 times as long on one side; "
        "are there spaces between the tokens?"
    )
    assert read(job, "train.en") == "a b\nc\n"
    assert read(job, "train.ja") == "b a\nc\n"
    assert read(job, "train.en.pos") == "A B\nC\n"
    assert job.has_tags


def test_longer_training_pairs(job, data):
    message = copy_data(data, job.folder, (job.source, job.target), False, max_length=51)
    assert "1 to 51 tokens a side" in message
    assert "2 over 9 times as long on one side" in message


def test_all_parts_stand_in_one_file_for_the_aligner(job, data):
    copied(job, data)
    assert read(job, "all.en") == "a b\nc\nd\ne f\n"
    assert read(job, "all.ja") == "b a\nc\nd\nf e\n"


def test_given_alignments_are_filtered_along(job, data):
    for part in ("train", "dev", "test"):
        count = TEXTS[f"{part}.en"].count("\n")
        (data / f"{part}.align").write_text("".join(f"0-{i}\n" for i in range(count)))
    copied(job, data, True)
    assert read(job, "train.align") == "0-0\n0-5\n"


def write_hand_aligned(data, links="0-1 1-0\n0-0\n"):
    for name, text in {"en": "a b\nc\n", "ja": "b a\nc\n", "align": links}.items():
        (data / f"hand.{name}").write_text(text)


def test_hand_aligned_sentences_are_copied(job, data, tmp_path, capsys):
    copied(job, data)
    write_hand_aligned(data)
    copy_hand_aligned(data, job.folder / "data", ("en", "ja"))
    assert read(job, "hand.align") == "0-1 1-0\n0-0\n"
    assert (read(job, "hand.en"), read(job, "hand.ja")) == ("a b\nc\n", "b a\nc\n")
    line = ["--data", str(data), "--src", "en", "--tgt", "ja", "--out", str(tmp_path / "other")]
    assert main([*line, "--hand-aligned"]) == 0
    assert (tmp_path / "other/hand.align").read_text() == read(job, "hand.align")
    (data / "hand.ja").unlink()
    assert main([*line, "--hand-aligned"]) == 2
    assert "hand.ja: cannot be read" in capsys.readouterr().err


def test_bad_hand_aligned_sentences_are_told(job, data):
    copied(job, data)
    write_hand_aligned(data, "0-0\n")
    with pytest.raises(DataError, match=r"hand.align:2: the file ends after 1 line"):
        copy_hand_aligned(data, job.folder / "data", ("en", "ja"))
    for name in ("en", "ja", "align"):
        (data / f"hand.{name}").write_text("")
    with pytest.raises(DataError, match=r"hand.en: the file is empty"):
        copy_hand_aligned(data, job.folder / "data", ("en", "ja"))


def test_tags_are_not_needed(job, data):
    copied(job, data)
    assert job.has_tags
    (data / "dev.en.pos").unlink()
    copied(job, data)  # once more, in the folder that has the old tags
    assert not job.has_tags
    assert not [*(job.folder / "data").glob("*.pos")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("dev.ja", "", "dev.ja:1: the file ends after 0 lines"),
        ("test.en", "\n", "test.en:1: an empty sentence"),
        ("dev.ja", " \n", "dev.ja:1: an empty sentence"),
        ("train.en", "a￨0\n\nx y\nw\nshort\nc\n", "train.en:1: has token￨position already"),
        ("train.ja", "\n\n\n\n\n\n", "train.en: no sentence pair is left"),
    ],
)
def test_bad_data_is_told_by_file_and_line(job, data, name, text, message):
    (data / name).write_text(text)
    with pytest.raises(DataError, match=message):
        copied(job, data)


def test_a_missing_file_is_told(job, data):
    (data / "test.ja").unlink()
    with pytest.raises(DataError, match=r"test.ja: cannot be read: No such file"):
        copied(job, data)


def test_the_command_does_the_same(job, data, tmp_path, capsys):
    message = copied(job, data)
    line = ["--data", str(data), "--src", "en", "--tgt", "ja", "--out", str(tmp_path / "other")]
    assert main(line) == 0
    assert capsys.readouterr().out == message + "\n"
    made = {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()}
    assert made == {path.name: path.read_bytes() for path in (job.folder / "data").iterdir()}
    assert main([*line, "--given-alignment"]) == 2
    assert "train.align: cannot be read" in capsys.readouterr().err
