"""``preorder align`` and ``preorder gold``, end to end."""

import argparse
import random

import pytest

from preorder.cli import COMMANDS, main
from preorder.cli.options import natural, positive


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def bitext(tmp_path):
    generator = random.Random(0)
    sources = [generator.sample("abcdefghij", generator.randint(2, 6)) for _ in range(120)]
    return (
        write(tmp_path / "source", *(" ".join(words) for words in sources)),
        write(tmp_path / "target", *(" ".join(words[::-1]).upper() for words in sources)),
    )


def test_align_then_gold_reverses_a_reversed_language(bitext, tmp_path):
    source, target = bitext
    links, gold = str(tmp_path / "links"), tmp_path / "gold"
    assert main(["align", "--src", source, "--tgt", target, "--out", links]) == 0
    assert main(["gold", "--src", source, "--align", links, "--out", str(gold), "--format", "text"]) == 0
    targets = (tmp_path / "target").read_text().lower().splitlines()
    right = sum(one == two for one, two in zip(gold.read_text().splitlines(), targets, strict=True))
    assert right > 110


def test_align_repeats_itself(bitext, tmp_path):
    source, target = bitext
    outputs = [tmp_path / name for name in ("one", "two")]
    for path in outputs:
        common = ["--symmetrize", "grow-diag-final-and", "--seed", "3"]
        assert main(["align", "--src", source, "--tgt", target, "--out", str(path), *common]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ([], ["b￨1 a￨0", "", "c￨0"]),
        (["--format", "positions"], ["1 0", "", "0"]),
        (["--format", "order"], ["1 0", "", "0"]),
        (["--format", "text"], ["a b", "", "c"]),
    ],
)
def test_gold_formats_keep_empty_lines(tmp_path, capsys, options, lines):
    source = write(tmp_path / "source", "b a", "", "c")
    links = write(tmp_path / "links", "0-1 1-0", "", "")
    assert main(["gold", "--src", source, "--align", links, *options]) == 0
    assert capsys.readouterr().out.splitlines() == lines


def test_gold_says_once_that_a_token_is_escaped(tmp_path, capsys):
    source = write(tmp_path / "source", "a", "x￨y b", "￨", "a\u3000b")
    links = write(tmp_path / "links", "", "", "", "")
    assert main(["gold", "--src", source, "--align", links]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == ["a￨0", "x&#65512;y￨0 b￨1", "&#65512;￨0", "a&#12288;b￨0"]
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("line 2: token 'x￨y' is written as 'x&#65512;y'")


@pytest.mark.parametrize(
    ("source", "links", "reason"),
    [
        (["a b"], ["0-0 2-1"], "links:1: link 2-1 is out of range: the source has 2 tokens"),
        (["a", "b"], ["0-0"], "links:2: the file ends after 1 lines"),
        (["a"], ["0-0", "0-0"], "source:2: the file ends after 1 lines"),
        (["a b"], ["3-1 ||| 0-0"], "links:1: the alignment is of 3 source tokens, the sentence has 2"),
        (["a"], ["0:0"], "links:1: not an alignment link: '0:0'"),
    ],
)
def test_gold_bad_input_is_one_line_and_status_2(tmp_path, capsys, source, links, reason):
    files = [write(tmp_path / "source", *source), write(tmp_path / "links", *links)]
    out = tmp_path / "out"
    assert main(["gold", "--src", files[0], "--align", files[1], "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert reason in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_align_bad_input(tmp_path, capsys):
    one, two = write(tmp_path / "one", "a"), write(tmp_path / "two", "a", "b")
    empty = write(tmp_path / "empty")
    for source, target, reason in [
        (one, two, "one:2: the file ends after 1 lines"),
        (empty, empty, "empty: the file is empty"),
        (str(tmp_path / "missing"), one, "missing: cannot be read"),
    ]:
        assert main(["align", "--src", source, "--tgt", target]) == 2
        error = capsys.readouterr().err
        assert reason in error
        assert error.count("\n") == 1


def test_usage_errors_have_status_2(capsys):
    for argv in (
        [],
        ["align"],
        ["gold", "--align", "f", "--format", "x"],
        ["align", "--tgt", "f", "--seed", "-1"],
    ):
        with pytest.raises(SystemExit) as exit_:
            main(argv)
        assert exit_.value.code == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert error.endswith("--help)\n")


def test_interruption_has_status_130(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("preorder.cli.gold.files.write_lines", interrupt)
    assert main(["gold", "--align", "f"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("text", ["-1", "x", "", "1.5", "²"])
def test_numbers(text):
    with pytest.raises(argparse.ArgumentTypeError, match="not a whole number from 0"):
        natural(text)
    with pytest.raises(argparse.ArgumentTypeError, match="not a whole number from 1"):
        positive(text if text else "0")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--help"])
    assert stopped.value.code == 0
    assert "usage: preorder" in capsys.readouterr().out
