"""``preorder align`` and ``preorder gold``, end to end."""

import random
from pathlib import Path

import pytest

from preorder.cli import main
from preorder.data.formats import parse_alignment
from tests.support.texts import write


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
    links, again, gold = str(tmp_path / "links"), str(tmp_path / "again"), tmp_path / "gold"
    for path in (links, again):
        assert main(["align", "--src", source, "--tgt", target, "--out", path]) == 0
    assert (tmp_path / "again").read_bytes() == (tmp_path / "links").read_bytes()
    assert main(["gold", "--src", source, "--align", links, "--out", str(gold), "--format", "text"]) == 0
    targets = (tmp_path / "target").read_text().lower().splitlines()
    right = sum(one == two for one, two in zip(gold.read_text().splitlines(), targets, strict=True))
    assert right > 110


def test_gold_says_once_that_a_token_is_escaped(tmp_path, capsys):
    source = write(tmp_path / "source", "a", "x￨y b", "￨", "a\u3000b")
    links = write(tmp_path / "links", "", "", "", "")
    assert main(["gold", "--src", source, "--align", links]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == ["a￨0", "x&#65512;y￨0 b￨1", "&#65512;￨0", "a&#12288;b￨0"]
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("line 2: token 'x￨y' is written as 'x&#65512;y'")


def test_interruption_has_status_130(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("preorder.cli.gold.files.write_lines", interrupt)
    assert main(["gold", "--align", "f"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def recall(path, source):
    """Return the share of the words of a reversed language that are linked as they should be."""
    lines = zip(path.read_text().splitlines(), Path(source).read_text().splitlines(), strict=True)
    found = [(parse_alignment(links).links, len(words.split())) for links, words in lines]
    right = sum(len(links & {(i, n - 1 - i) for i in range(n)}) for links, n in found)
    return right / sum(n for _, n in found)


def test_align_by_several_samplers_writes_confidences(bitext, tmp_path):
    source, target = bitext
    outputs = [tmp_path / name for name in ("one", "two", "all")]
    command = ["align", "--src", source, "--tgt", target, "--samplers", "2", "--min-confidence", "0.25"]
    command[1:1] = ["--chunk", "70"]
    for path in outputs[:2]:
        assert main([*command, "--out", str(path)]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    alignments = map(parse_alignment, outputs[0].read_text().splitlines())
    assert {c for alignment in alignments for c in alignment.confidences().values()} <= {0.25, 0.5, 0.75, 1.0}
    assert main([*command[:-2], "--min-confidence", "1", "--out", str(outputs[2])]) == 0
    assert ":" not in outputs[2].read_text()
    assert recall(outputs[2], source) > 0.8


def test_align_learns_from_hand_aligned_sentences(bitext, tmp_path, capsys):
    source, target = bitext
    hand = [Path(path).read_text().splitlines()[:40] for path in bitext]
    lengths = [len(line.split()) for line in hand[0]]
    hand.append([" ".join(f"{i}-{n - 1 - i}" for i in range(n)) for n in lengths])
    paths = [write(tmp_path / f"hand{k}", *lines) for k, lines in enumerate(hand)]
    options = [f"--hand-{name}={path}" for name, path in zip(("src", "tgt", "align"), paths, strict=True)]
    out = tmp_path / "out"
    command = ["align", "--src", source, "--tgt", target, *options, "--samplers", "2", "--eflomal-model", "1"]
    assert main([*command, "--threads", "1", "--chunk", "70", "--out", str(out)]) == 0
    assert "hand-aligned sentences, held out: precision 1.000, recall 1.000\n" in capsys.readouterr().err
    assert recall(out, source) > 0.9


def test_align_in_chunks(bitext, tmp_path):
    """The first chunk is aligned as if it were all, the other as well as all of the text."""
    texts = [Path(path).read_text().splitlines()[:60] for path in bitext]
    first = [write(tmp_path / f"first{k}", *text) for k, text in enumerate(texts)]
    outputs = [tmp_path / name for name in ("chunks", "first")]
    for (source, target), out in zip((bitext, first), outputs, strict=True):
        command = ["align", "-q", "--src", source, "--tgt", target, "--chunk", "60", "--out", str(out)]
        assert main([*command, "--eflomal-model", "2"]) == 0
    lines = outputs[0].read_text().splitlines()
    assert len(lines) == 120
    assert lines[:60] == outputs[1].read_text().splitlines()
    assert recall(outputs[0], bitext[0]) > 0.8


@pytest.mark.parametrize(
    ("lines", "reason"),
    [(("A", "B"), "tgt:3: the file ends after 2 lines"), (("A", "B", b"\xff\n"), "tgt:3: not valid UTF-8")],
)
def test_align_finds_a_bad_line_before_it_aligns(tmp_path, refuses, lines, reason):
    source, target = write(tmp_path / "src", "a", "b", "c"), write(tmp_path / "tgt", *lines)
    refuses(f"align --src {source} --tgt {target} --chunk 1", reason)


def test_align_goes_on_after_lines_of_one_side(tmp_path):
    """In chunks of two lines, some of which have nothing to align, the first among them."""
    pairs = [("", ""), ("", "A"), ("a", ""), ("a b c d", "A B C D"), ("a b", "A B"), ("c d", "C D")]
    pairs += [("", ""), ("", ""), ("a", "A")]
    source, target = (write(tmp_path / f"side{k}", *side) for k, side in enumerate(zip(*pairs, strict=True)))
    out = tmp_path / "out"
    command = ["align", "-q", "--src", source, "--tgt", target, "--chunk", "2", "--out", str(out)]
    assert main([*command, "--symmetrize", "union"]) == 0
    found = [parse_alignment(line).links for line in out.read_text().splitlines()]
    for links, (one, other) in zip(found, pairs, strict=True):
        assert all(i < len(one.split()) and j < len(other.split()) for i, j in links)
    assert any(found)


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("gold --src src --align links", ["b￨1 a￨0", "", "c￨0"]),
        ("gold --src src --align doubtful --format positions", ["1 0", "", "0"]),
        ("gold --src src --align links --format order", ["1 0", "", "0"]),
        ("gold --src src --align links --format text", ["a b", "", "c"]),
        ("map --align graded --reverse", ["0-2:0.5 1-0 1-2:0.49 3?1", ""]),
        ("map --align graded --min-confidence 0.5", ["0-1 1?3 2-0:0.5", ""]),
    ],
)
def test_links_become_orders_and_other_links(tmp_path, monkeypatch, capsys, command, lines):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "src", "b a", "", "c")
    write(tmp_path / "links", "0-1 1-0", "", "")
    write(tmp_path / "doubtful", "0-1:0.5 1-0:0.25", "", "")
    write(tmp_path / "graded", "0-1 2-0:0.5 2-1:0.49 1?3", "")
    assert main(command.split()) == 0
    assert capsys.readouterr().out.splitlines() == lines


def test_map_to_other_tokens(tmp_path, capsys):
    links = write(tmp_path / "links", "0-0 1-1:0.5", "", "0-1")
    old = write(tmp_path / "old", "（京 都", "", "a b")
    new = write(tmp_path / "new", "( 京都", "", "ab")
    command = ["map", "--align", links]
    assert main([*command, "--tgt", old, "--new-tgt", new]) == 0
    assert capsys.readouterr().out.splitlines() == ["0-0 0-1 1-1:0.5", "", "0-0"]
    source = write(tmp_path / "source", "x y", "", "z")
    joined = write(tmp_path / "joined", "xy", "", "z")
    assert main([*command, "--tgt", old, "--new-tgt", new, "--src", source, "--new-src", joined]) == 0
    assert capsys.readouterr().out.splitlines() == ["0-0 0-1", "", "0-0"]
