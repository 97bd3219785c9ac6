"""Configuration files that build on others, and how OpenNMT-py's commands read them."""

import pytest
from onmt.bin.build_vocab import _get_parser as vocabulary_parser
from onmt.bin.train import _get_parser as training_parser

from onmt_preorder.base_configuration import CONFIG, find, merge, read_files
from preorder.errors import DataError, PreorderError, UsageError
from tests.support.opennmt import BOTH_PARSERS

FAMILY = """\
size: little
encoder_type: preorder_transformer
layers: 2
dropout: [0.1, 0.2]
sizes:
  little:
    hidden_size: 64
  much:
    hidden_size: 512
    layers: 6
"""
DATA = ["-data", "{}", "-src_vocab", "v", "-tgt_vocab", "v"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "family").mkdir()
    (tmp_path / "family/one.yaml").write_text(FAMILY)
    (tmp_path / "system.yaml").write_text("base: family/one.yaml\nreads: gold\nheads: 4\n")
    (tmp_path / "more.yaml").write_text("heads: 16\ndropout: [0.5]\n")
    return tmp_path


def read(folder, text, size=None):
    path = folder / "run.yaml"
    path.write_text(text)
    return merge(read_files(str(path)), size)


def test_what_wins(folder):
    found = read(folder, "base: [system.yaml, more.yaml]\nlayers: 3\n")
    assert found == {
        "encoder_type": "preorder_transformer",
        "layers": 3,  # its own over its base's
        "dropout": [0.5],  # a later base's over an earlier one's, whole
        "hidden_size": 64,
        "heads": 16,
        "reads": "gold",
    }


def test_sizes(folder):
    assert read(folder, "base: system.yaml\n")["hidden_size"] == 64
    assert read(folder, "base: system.yaml\nsize: much\n")["layers"] == 6
    assert read(folder, "base: system.yaml\nsize: little\n", "much")["layers"] == 6
    assert read(folder, "base: system.yaml\nsize: much\nlayers: 1\n")["layers"] == 1
    own = "base: system.yaml\nlayers: 1\nsizes: {much: {layers: 7}}\n"
    assert (read(folder, own)["layers"], read(folder, own, "much")["layers"]) == (1, 7)


@pytest.mark.parametrize(
    ("text", "size", "message"),
    [
        ("layers: 1\nbase: no.yaml\n", None, r"run.yaml:2: base no.yaml: there is no file .*/no.yaml"),
        ("base: [system.yaml, run.yaml]\n", None, "run.yaml:1: base run.yaml: the file builds on itself"),
        ("base: loop.yaml\n", None, "loop.yaml:1: base run.yaml: the file builds on itself"),
        ("base: system.yaml\n", "huge", "run.yaml: no size 'huge'; there are: little, much"),
        ("base: system.yaml\nsize: huge\n", None, "run.yaml: no size 'huge'; there are: little, much"),
        ("sizes: {little: {}}\n", None, "run.yaml: no size None; there are: little"),
        ("layers: 1\n", "little", "run.yaml: no size 'little'; there are: none"),
    ],
)
def test_bases_and_sizes_that_do_not_exist(folder, text, size, message):
    (folder / "loop.yaml").write_text("base: run.yaml\n")
    with pytest.raises(PreorderError, match=message):
        read(folder, text, size)


def parse(make_parser, path, *options):
    more = ["-save_data", "d"] if make_parser is vocabulary_parser else []
    return make_parser().parse_known_args(["-config", str(path), *DATA, *more, *options])


def test_sizes_and_options_of_the_command_line(folder):
    path = folder / "system.yaml"
    opt, _ = parse(training_parser, path)
    assert (opt.hidden_size, opt.layers, opt.heads, opt.dropout) == (64, 2, 4, [0.1, 0.2])
    for size in (["-size", "much"], ["--size=much"], ["-size", "little", "-size=much"]):
        opt, _ = parse(training_parser, path, *size, "-heads", "8")
        assert (opt.hidden_size, opt.layers, opt.heads) == (512, 6, 8)
    with pytest.raises(UsageError, match=r"^no size 'much'; there are: none"):
        training_parser().parse_known_args([*DATA, "-size", "much"])


@BOTH_PARSERS
@pytest.mark.parametrize(("right", "line"), [("dropout", 4), ("  much:\n    hidden_size", 9)])
def test_an_unknown_key_is_named_with_the_file_where_it_stands(folder, capsys, make_parser, right, line):
    family, wrong = folder / "family/one.yaml", f"{right.split()[-1]}x"
    family.write_text(FAMILY.replace(f"{right}:", f"{right}x:"))
    with pytest.raises(SystemExit) as ended:
        parse(make_parser, folder / "system.yaml")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(
        f"{family}:{line}: unknown key '{wrong}': did you mean '{wrong[:-1]}'?"
    )


def test_systems_and_subwords_can_be_called_by_their_names(folder, monkeypatch):
    monkeypatch.chdir(folder)
    path = CONFIG / "system/preorder_relative.yaml"
    assert read_files("preorder_relative") == read_files(str(path))
    opt, _ = parse(training_parser, "preorder_relative", "-size", "tiny")
    assert (opt.encoder_type, opt.preorder_encoding, opt.train_steps) == (
        "preorder_transformer",
        ["relative"],
        600,
    )
    found = read(folder, "base: [preorder_relative, subwords]\nsize: tiny\n")
    splitting = ["filtertoolong", "sentencepiece"]
    assert (found["preorder_encoding"], found["transforms"]) == (["relative"], splitting)


def test_a_file_comes_before_a_name_and_a_name_is_a_bare_word(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "gold").mkdir()  # a folder is no configuration
    assert find("gold") == str(CONFIG / "system/gold.yaml")
    assert read(folder, "base: gold\nsize: tiny\n")["reads"] == "gold"
    (folder / "plain").write_text("heads: 3\n")
    assert merge(read_files("plain")) == {"heads": 3}
    assert read(folder, "base: plain\n") == {"heads": 3}
    for no_name in ("system/gold", "../system/gold", "gold.yaml", "nothing", ""):
        assert find(no_name) == no_name
    (folder / "deep").mkdir()
    (folder / "deep/run.yaml").write_text("base: more.yaml\n")  # which is here, but not beside it
    with pytest.raises(DataError, match=r"deep/run.yaml:1: base more.yaml: there is no file deep/more.yaml"):
        read_files("deep/run.yaml")
