"""``preorder show``, end to end."""

import json
import sys

import pytest

from preorder.cli import main

SOURCE = "I like the pen\nyou like the red pen\n"
TARGET = "watashi wa pen ga suki\nanata wa akai pen ga suki\n"
ALIGNMENT = "0-0 1-4 3-2\n0-0 1-5 3-2 4-3\n"
POSITIONS = "0 3 1 2\n1 3 0 4 2\n"  # the second is no BTG order of five tokens


@pytest.fixture
def files(tmp_path):
    texts = {"src": SOURCE, "tgt": TARGET, "align": ALIGNMENT, "positions": POSITIONS, "order": "0 2 3 1\n"}
    texts["attention"] = "0-0 1-4 3-2\n" + json.dumps([[0.2] * 5] * 6) + "\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts}


def show(capsys, files, *options, names=("src", "positions", "tgt", "align")):
    line = [part for name in names for part in (f"--{name}", files[name])]
    status = main(["show", *line, *options])
    out, error = capsys.readouterr()
    assert status == (2 if error else 0), error
    return error or out


def test_text(files, capsys):
    out = show(capsys, files)
    assert out.startswith("source      I like the pen\npreordered  I the pen like\npositions   0 3 1 2\n")
    assert "as it is written: 1 crossing of links" in out
    assert "preordered: 0 crossings of links" in out
    assert show(capsys, files, names=("src", "order", "tgt", "align")) == out
    out = show(capsys, files, "--line", "2", "--attention", files["attention"])
    assert "straight" not in out  # there is no tree
    assert "akai   ░░░░░" in out


def test_json(files, capsys):
    assert json.loads(show(capsys, files, "--json")) == {
        "source": ["I", "like", "the", "pen"],
        "preordered": ["I", "the", "pen", "like"],
        "positions": [0, 3, 1, 2],
        "order": [0, 2, 3, 1],
        "tree": "[I <like [the pen]>]",
        "target": ["watashi", "wa", "pen", "ga", "suki"],
        "crossings": 1,
        "crossings_preordered": 0,
    }
    alone = json.loads(show(capsys, files, "--json", "--line", "2", names=("src", "positions")))
    assert [alone[name] for name in ("tree", "target", "crossings", "crossings_preordered")] == [None] * 4


def test_model(tmp_path, files, capsys):
    model, many = tmp_path / "model", tmp_path / "many"
    many.write_text("a b c\n" * 4)
    (tmp_path / "links").write_text("0-2 1-1 2-0\n" * 4)
    options = ["--method", "btg", "--src", str(many), "--align", str(tmp_path / "links"), "--classes", "0"]
    assert main(["train", *options, "--model", str(model)]) == 0
    capsys.readouterr()
    options = ["--model", str(model), "--src", str(many), "--json"]
    assert main(["show", *options]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert main(["apply", *options[:-1], "--format", "tree"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == shown["tree"]
    assert shown["preordered"] == ["c", "b", "a"]


def test_pictures(tmp_path, files, capsys):
    pytest.importorskip("matplotlib")
    paths = [tmp_path / "s.svg", tmp_path / "s.png"]
    assert show(capsys, files, "--out", str(paths[0]), "--out", str(paths[1]), "--quiet") == ""
    assert "<title>“I like the pen”" in paths[0].read_text()
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    (tmp_path / "src").write_text("I like the \ue123\n")
    assert "s.png: no installed font has all" in main_error(capsys, files, paths[1])


def test_pictures_without_matplotlib(tmp_path, files, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = show(capsys, files, "--out", str(tmp_path / "s.svg"))
    assert "pip install -e '.[plots]'" in message
    assert not (tmp_path / "s.svg").exists()


def main_error(capsys, files, path):
    assert main(["show", "--src", files["src"], "--positions", files["positions"], "--out", str(path)]) == 0
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (("src", "positions"), ["--line", "3"], "src:3: the file has no such line"),
        (("src", "order"), ["--line", "2"], "order:2: the file has no such line"),
        (("src", "positions", "align"), [], "src:1: an alignment links the source to a target"),
        (("src", "positions", "attention"), [], "is out of range: the target has 0 tokens"),
        (("src", "positions", "tgt", "attention"), ["--line", "2", "--order"], "not allowed"),
    ],
)
def test_bad_input(files, capsys, names, options, message):
    if message == "not allowed":
        with pytest.raises(SystemExit):
            show(capsys, files, *options, files["order"], names=names)
        assert message in capsys.readouterr().err
        return
    assert message in show(capsys, files, *options, names=names)
