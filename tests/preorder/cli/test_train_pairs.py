"""Several language pairs on the command line and in Python."""

import json

import pytest

import preorder
from preorder.cli import main
from preorder.errors import DataError
from preorder.methods.model_directory import load_model
from tests.support.texts import content, rows, write
from tests.support.verb_last import ASKED, SOURCES, TAGS

HALF = len(SOURCES) // 2
OPTIONS = {"iterations": 2, "classes": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with a text and its links, whole, and in halves or unlike parts."""
    folder = tmp_path_factory.mktemp("pairs")
    parts = {"": (0, None), "1": (0, HALF), "2": (HALF, None)}
    parts |= {"long": (0, HALF + 5), "short": (HALF + 5, None)}
    columns = {"src": SOURCES, "align": ASKED, "pos": TAGS, "tgt": [source.upper() for source in SOURCES]}
    columns["annot"] = ["\t".join(pair) for pair in zip(SOURCES, TAGS, strict=True)]
    columns["classed"] = [f"{line}\t{tags}" for line, tags in zip(columns["annot"], TAGS, strict=True)]
    for name, lines in columns.items():
        for part, (first, last) in parts.items():
            write(folder / f"{name}{part}", *lines[first:last])
    return folder


def train(folder, out, *line, **options):
    names = [str(folder / word) if (folder / word).exists() else word for word in line]
    given = [field for name, value in (OPTIONS | options).items() for field in (f"--{name}", str(value))]
    return main(["train", "--method", "btg", *names, *given, "--model", str(out)])


def test_pairs_of_one_size_are_learned_from_as_one_text(folder, tmp_path):
    lines = {
        "two": "--src src1 src2 --align align1 align2 --pos pos1 pos2",
        "one": "--src src --align align --pos pos",
        "annotated": "--annot annot1 annot2 --align align1 align2",
    }
    for name, line in lines.items():
        assert train(folder, tmp_path / name, *line.split(), "--held-out", "0") == 0
    two, one, other = (content(tmp_path / name) for name in lines)
    for name in ("weights.safetensors", "classes.txt"):
        assert two[name] == one[name] == other[name]
    training = load_model(str(tmp_path / "two")).training
    assert (training["pairs"], training["lines"]) == ([HALF, HALF], len(SOURCES))
    assert "pairs" not in load_model(str(tmp_path / "one")).training


def test_python_names_the_pair_of_each_sentence(folder, tmp_path, capsys):
    files = ["--src", "srclong", "srcshort", "--align", "alignlong", "alignshort"]
    more = ["--held-out", "6", "--limit", "16", "--max-length", "4"]
    assert train(folder, tmp_path / "command", *files, *more) == 0
    said = capsys.readouterr().err
    assert "tau_nakagawa_1 " in said
    assert "tau_nakagawa_2 " in said
    pairs = ["ja"] * (HALF + 5) + ["tr"] * (HALF - 5)
    how = {"held_out": 6, "limit": 16, "max_length": 4}
    model = preorder.train(SOURCES, ASKED, "btg", pairs=pairs, **OPTIONS, **how)
    model.save(str(tmp_path / "python"))
    assert content(tmp_path / "command") == content(tmp_path / "python")
    assert model.training["history"][-1].keys() >= {"tau_nakagawa", "tau_nakagawa_1", "tau_nakagawa_2"}
    pooled = preorder.train(SOURCES, ASKED, "btg", **OPTIONS, **how)
    assert pooled.training["history"] != model.training["history"]


def test_each_pair_is_aligned_alone(folder, tmp_path, monkeypatch):
    aligned = []

    def align(words, targets, *_):
        aligned.append((list(map(" ".join, words)), list(map(" ".join, targets))))
        return load_links[: len(words)] if len(aligned) == 1 else load_links[-len(words) :]

    load_links = [preorder.data.formats.parse_alignment(line) for line in ASKED]
    monkeypatch.setattr("preorder.cli.train.align", align)
    files = ["--src", "srclong", "srcshort", "--tgt", "tgtlong", "tgtshort"]
    assert train(folder, tmp_path / "m", *files) == 0
    cut = HALF + 5
    assert aligned == [(part, [line.upper() for line in part]) for part in (SOURCES[:cut], SOURCES[cut:])]
    given = ["--src", "srclong", "srcshort", "--align", "alignlong", "alignshort"]
    assert train(folder, tmp_path / "given", *given) == 0
    assert content(tmp_path / "m") == content(tmp_path / "given")


def test_a_model_of_two_pairs_is_adapted_to_a_third(folder, tmp_path):
    files = ["--src", "src1", "src2", "--align", "align1", "align2"]
    assert train(folder, tmp_path / "first", *files) == 0
    files = "--src srcshort srclong --align alignshort alignlong".split()
    init = ["--init", str(tmp_path / "first"), *(str(folder / f) if f[0] != "-" else f for f in files)]
    assert main(["train", *init, "--model", str(tmp_path / "second")]) == 0
    training = json.loads((tmp_path / "second" / "model.json").read_text())["training"]
    assert training["init"]["training"]["pairs"] == [HALF, HALF]


WRONG = """
--src src1 src2 --align align1 | --src names 2 texts, --align DIR/align1: give a file of each pair
--src src1 --align align1 align2 | --src names 1 texts, --align DIR/align1 DIR/align2: give a file of
--src src1 src2 --tgt tgt1 | --src names 2 texts, --tgt DIR/tgt1: give a file of each pair
--annot annot1 annot2 --align align1 | --annot names 2 texts, --align DIR/align1: give a file of each pair
--src src1 src2 --align align1 align2 --pos pos1 | --src names 2 texts, --pos DIR/pos1: give a file of
--src src1 src2 --align align1 align2 --pos pos1 stanza | --pos DIR/pos1 stanza: give a file of each pair
--src src1 src2 --align align1 align2 --cross-fit 2 --cross-fit-out out | --cross-fit: of one pair alone
--src src1 src2 --align align1 alignshort | DIR/alignshort:2: link 3-2 is out of range
--annot annot1 classed2 --align align1 align2 | DIR/classed2: has tags and classes where DIR/annot1 has tags
--src src1 src2 --tgt tgt1 src2 | DIR/src2: is both the source and its translation
--src - - --align align1 align2 | only one file can come from standard input
"""


@pytest.mark.parametrize(("line", "reason"), rows(WRONG))
def test_what_does_not_pair_up(folder, tmp_path, capsys, line, reason, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert train(folder, "m", *line.split()) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert reason.replace("DIR", str(folder)) in said
    assert not (tmp_path / "m").exists()


def test_names_of_pairs_in_python():
    with pytest.raises(DataError, match="1 pairs for 2 sources"):
        preorder.train(SOURCES[:2], ASKED[:2], "btg", pairs=["ja"])
    with pytest.raises(DataError, match=r"pairs:2: not a name of a language pair: \[1\]"):
        preorder.train(SOURCES[:2], ASKED[:2], "btg", pairs=["ja", [1]])
