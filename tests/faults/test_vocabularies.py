"""Vocabularies: written whole or not at all, whatever stops their making; garbage in one is one line."""

import resource
from pathlib import Path

import pytest
import yaml

pytest.importorskip("onmt", reason="OpenNMT-py is not installed: see the README")

from onmt_preorder.opennmt.repairs.vocabularies import check
from preorder.errors import DataError
from tests.support.opennmt import TINY, call, outcome, start, write_task
from tests.support.texts import content, write


@pytest.fixture
def folder(tmp_path):
    """Return a folder with texts, an old vocabulary and a configuration."""
    write_task(tmp_path, "train", 20, seed=1)
    write_task(tmp_path, "valid", 5, seed=2)
    write(tmp_path / "vocab.src", "old\t1")
    (tmp_path / "vocab.src").chmod(0o600)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(TINY | {"save_data": "data/x"}))
    return tmp_path


BUILD = ("onmt_build_vocab", "-config", "config.yaml", "-n_sample", -1, "-overwrite")


def test_vocabularies_and_samples(folder, capsys):
    call(folder, *BUILD, "-dump_samples")
    assert (folder / "vocab.src").stat().st_mode & 0o777 == 0o600
    assert (folder / "vocab.tgt").stat().st_size
    for side in ("src", "tgt"):
        sample = folder / f"data/sample/train.sample.{side}"
        assert sample.read_text() == (folder / f"train.{side}").read_text()
    assert not list(folder.rglob("*.partial"))
    assert "may overwrite" not in capsys.readouterr().err
    assert outcome(capsys, folder, *BUILD, "-src_vocab", "/dev/null")[0] == 0
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("encoder", ["preorder_transformer", "transformer"])
def test_lines_that_a_filter_leaves_out_are_not_counted(folder, encoder):
    ours = encoder != "transformer"
    write(folder / "train.src", "a b c d", *[""] * ours, "a￨0" if ours else "a")
    write(folder / "train.tgt", "x", *["x"] * ours, "y")
    keys = ("data", "src_vocab", "tgt_vocab", *["n_src_feats", "src_feats_defaults"] * ours)
    settings = {key: TINY[key] for key in keys} | {"encoder_type": encoder, "save_data": "data/x"}
    filtering = {"transforms": ["filtertoolong"], "src_seq_length": 3}
    (folder / "config.yaml").write_text(yaml.safe_dump(settings | filtering))
    call(folder, *BUILD)
    assert [(folder / f"vocab.{side}").read_text() for side in ("src", "tgt")] == ["a\t1\n", "y\t1\n"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-src_vocab train.src", "train.src would be overwritten while it is needed"),
        ("-tgt_vocab valid.tgt", "valid.tgt would be overwritten while it is needed"),
        ("-tgt_vocab vocab.src", "vocab.src would be overwritten while it is needed"),
        ("-src_vocab data", "data: is a directory"),
        ("-src_vocab train.src/x", "train.src"),
        ("-data {a:3}", "data: not corpora with their names"),
    ],
)
def test_an_output_that_cannot_be(folder, capsys, arguments, message):
    (folder / "data").mkdir()
    before = content(folder)
    status, lines = outcome(capsys, folder, *BUILD, *arguments.split())
    assert (status, len(lines)) == (2, 1), lines
    assert message in lines[0]
    assert content(folder) == before


def test_a_full_disk_keeps_the_old_vocabulary(folder):
    write(folder / "train.src", *[" ".join(f"w{n}￨{n}" for n in range(100))] * 50)
    write(folder / "train.tgt", *[" ".join(f"w{n}" for n in range(100))] * 50)
    before = content(folder)
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400)); "
    code += "from onmt.bin.build_vocab import main; main()"
    process = start(folder, "python", "-c", code, *BUILD[1:])
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2, errors
    assert "cannot be written" in errors.splitlines()[-1], errors
    assert content(folder) == before
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


GARBAGE = {
    b"": "v: the file is empty",
    b"a\n \nb\n": "v:2: not a word: ' '",
    b"a\t1\nb\n": "v:2: not a word with its count: 'b'",
    b"a\t1\nb\t2\t3\n": "v:2: not a word with its count",
    b"a\t1\nb c\t2\n": "v:2: not a word with its count",
    b"a\t1\nb\t" + b"9" * 5000 + b"\n": "v:2: not a word with its count",
    b"a\t1\na\t2\n": "v:2: the word is there twice: 'a'",
    b"a\nb\na\n": "v:3: the word is there twice: 'a'",
    b"a\t1\n\xff\t1\n": r"v:2: not valid UTF-8 \(byte 1 of the line\)",
    b"a\t1\n\xe3\x81": "v:2: the last line has no line end",
    b"\x00\x01\x02\n\x7fELF\n": "v:1: not a word",
    b"a\t1\r\nb\t2\r\n": "v:1: not a word",
    b"\xef\xbb\xbfa\t1\n": "v:1: not a word",
    b"a\t1\nb\t1\n": "v: no word occurs 2 times",
}


@pytest.mark.parametrize("data", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_in_a_vocabulary(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    Path("v").write_bytes(data)
    with pytest.raises(DataError, match=f"^{GARBAGE[data]}"):
        check("v", 2)


@pytest.mark.parametrize("side", ["src", "tgt"])
def test_vocabularies_are_checked_before_a_training(folder, capsys, side):
    (folder / "v").write_text("a\t1\na\t2\n")
    write(folder / "vocab.tgt", "w1\t3", "w2\t2")
    status, lines = outcome(capsys, folder, "onmt_train", "-config", "config.yaml", f"-{side}_vocab", "v")
    assert (status, lines) == (2, ["v:2: the word is there twice: 'a'"])


@pytest.mark.parametrize(
    "text", ["a\t1\nb\t2\n", "a 1\n<unk> 2\n", "a\nb c\n", "<blank>\n<s>\na\n", "12\n13\n"]
)
def test_vocabularies_that_are_fine(tmp_path, text):
    (tmp_path / "v").write_text(text)
    check(str(tmp_path / "v"))
