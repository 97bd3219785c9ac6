"""Configurations and vocabularies that are none: one line, status 2; vocabularies are written whole."""

import time
from pathlib import Path

import pytest
import yaml
from onmt.bin import build_vocab

from onmt_preorder.opennmt.repairs.vocabularies import check
from preorder.errors import DataError
from tests.support.opennmt import TINY, call, outcome, write_training_task
from tests.support.running import limited
from tests.support.texts import content, write


@pytest.fixture
def folder(tmp_path):
    """Return a folder with texts, old vocabularies and a configuration."""
    write_training_task(tmp_path, 20, 5)
    (tmp_path / "vocab.src").chmod(0o600)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(TINY | {"save_data": "data/x"}))
    return tmp_path


def outcome_of(capsys, folder, *command):
    """Run a command that writes nothing; return its status and its errors."""
    before = content(folder)
    found = outcome(capsys, folder, *command)
    assert content(folder) == before
    return found


FILES = {
    "[a, b]": "the file has to hold lines of KEY: VALUE",
    "3": "the file has to hold lines of KEY: VALUE",
    "": "the file has to hold lines of KEY: VALUE",
    "a: b: c": "c.yaml:1: not YAML: mapping values are not allowed here",
    "a: \x01": "not YAML: ",
    "a: 2020-99-99": "not YAML: ",
    "a: " + "9" * 5000: "not YAML: ",
    "a: !!python/object/apply:os.system [ls]": "not YAML: could not determine a constructor",
    "a: " + "[" * 1_000: "YAML that is nested too deeply",
    "a: " + "{a: " * 5_000 + "}" * 5_000: "YAML that is nested too deeply",
    "1: 2": "a key is a name, not 1",
    "sizes: {1: {}}": "a key is a name, not 1",
    "sizes: {small: 3}": "each of sizes has to hold lines of KEY: VALUE",
    "sizes: {small: {}}\nsize: [small]": "c.yaml:2: size is the name of one of sizes",
}


@pytest.mark.parametrize("program", ["onmt_train", "onmt_build_vocab"])
@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_a_file_that_is_no_configuration(folder, capsys, text, program):
    (folder / "c.yaml").write_text(text)
    status, (line,) = outcome_of(capsys, folder, program, "-config", "c.yaml")
    assert status == 2
    assert FILES[text] in line
    assert len(line) < 400


ODD = [[1, 2], ["x"], {"a": "b"}, {}, "x", -7, 1.5, True, "é\0", [[1]], [{}], "2024-01-01", "nan"]
KEYS = """
layers hidden_size dropout train_steps learning_rate encoder_type preorder_encoding preorder_max_relative
norm_placement optim seed data transforms src_vocab early_stopping_criteria n_src_feats hiden_size
share_vocab bfloat16
""".split()


@pytest.mark.parametrize("key", KEYS)
def test_values_of_odd_types(folder, capsys, key):
    for value in ODD[KEYS.index(key) % 4 :: 4]:
        text = yaml.safe_dump(TINY | {"train_steps": 0, key: value}, allow_unicode=True)
        (folder / "c.yaml").write_text(text)
        status, lines = outcome_of(capsys, folder, "onmt_train", "-config", "c.yaml")
        assert (status, len(lines)) in ((2, 1), (0, 0)), (key, value, status, lines)
        assert all(len(line) < 2000 for line in lines)


# --- vocabularies ---

BUILD = ("onmt_build_vocab", "-config", "config.yaml", "-n_sample", -1, "-overwrite")


def test_vocabularies_and_samples(folder, capsys):
    call(folder, *BUILD, "-tgt_vocab", "a/folder/that/is/made")
    assert (folder / "a/folder/that/is/made").stat().st_size
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


def test_workers_end_by_themselves():
    """OpenNMT-py ends them before their samples are sent, and then waits for these for ever."""
    with build_vocab.mp.Pool(1) as pool:
        work = pool.apply_async(time.sleep, (0.3,))
    assert work.ready()


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
    status, (line,) = outcome_of(capsys, folder, *BUILD, *arguments.split())
    assert status == 2
    assert message in line


def test_a_full_disk_keeps_the_old_vocabulary(folder, capsys):
    write(folder / "train.src", *[" ".join(f"w{n}￨{n}" for n in range(100))] * 50)
    write(folder / "train.tgt", *[" ".join(f"w{n}" for n in range(100))] * 50)
    before = content(folder)
    status, lines = limited(400, outcome, capsys, folder, *BUILD)
    assert status == 2
    assert "cannot be written" in lines[-1]
    assert content(folder) == before


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
    status, lines = outcome(capsys, folder, "onmt_train", "-config", "config.yaml", f"-{side}_vocab", "v")
    assert (status, lines) == (2, ["v:2: the word is there twice: 'a'"])


@pytest.mark.parametrize(
    "text", ["a\t1\nb\t2\n", "a 1\n<unk> 2\n", "a\nb c\n", "<blank>\n<s>\na\n", "12\n13\n"]
)
def test_vocabularies_that_are_fine(tmp_path, text):
    (tmp_path / "v").write_text(text)
    check(str(tmp_path / "v"))
