"""``preorder align`` and ``preorder gold``, end to end."""

import random

import pytest

from preorder.data.formats import parse_alignment
from tests.support.texts import recall, write

ALIGN = "align -q --src source --tgt target"


@pytest.fixture(autouse=True)
def bitext(tmp_path):
    """Give sources, and write them and their targets: the same words in capitals, reversed."""
    generator = random.Random(0)
    sources = [generator.sample("abcdefghij", generator.randint(2, 6)) for _ in range(120)]
    write(tmp_path / "source", *(" ".join(words) for words in sources))
    write(tmp_path / "target", *(" ".join(words[::-1]).upper() for words in sources))
    return sources


def test_align_then_gold_reverses_a_reversed_language(run, bitext, tmp_path):
    for name in ("links", "again"):
        run(f"{ALIGN} --out {name}")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "links").read_bytes()
    gold = run("gold --src source --align links --format text").out.splitlines()
    assert sum(line.split() == words[::-1] for line, words in zip(gold, bitext, strict=True)) > 110


def test_gold_says_once_that_a_token_is_escaped(run, tmp_path):
    write(tmp_path / "source", "a", "x￨y b", "￨", "a\u3000b")
    write(tmp_path / "links", "", "", "", "")
    found = run("gold --src source --align links")
    assert found.out.splitlines() == ["a￨0", "x&#65512;y￨0 b￨1", "&#65512;￨0", "a&#12288;b￨0"]
    assert found.err.count("\n") == 1
    assert found.err.startswith("line 2: token 'x￨y' is written as 'x&#65512;y'")


def links_in(path):
    return map(parse_alignment, path.read_text().splitlines())


def test_align_by_several_samplers_writes_confidences(run, bitext, tmp_path):
    for name, least in (("one", 0.25), ("two", 0.25), ("all", 1)):
        run(f"{ALIGN} --chunk 50 --samplers 2 --min-confidence {least} --out {name}")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    alignments = links_in(tmp_path / "one")
    assert {c for alignment in alignments for c in alignment.confidences().values()} <= {0.25, 0.5, 0.75, 1.0}
    assert ":" not in (tmp_path / "all").read_text()
    assert recall(links_in(tmp_path / "all"), bitext) > 0.8


def test_align_learns_from_hand_aligned_sentences(run, bitext, tmp_path):
    for name in ("source", "target"):
        write(tmp_path / f"hand.{name}", *(tmp_path / name).read_text().splitlines()[80:])
    lengths = list(map(len, bitext[80:]))
    write(tmp_path / "hand", *(" ".join(f"{i}-{n - 1 - i}" for i in range(n)) for n in lengths))
    hand = "--hand-src hand.source --hand-tgt hand.target --hand-align hand --samplers 2"
    line = f"align --src source --tgt target {hand} --threads 1 --chunk 50 --out out"
    assert "hand-aligned sentences, held out: precision 1.000, recall 1.000\n" in run(line).err
    assert recall(links_in(tmp_path / "out"), bitext) > 0.9


def test_damage_is_found_before_anything_is_aligned(run, tmp_path, monkeypatch):
    monkeypatch.setattr("preorder.alignment.eflomal._find_eflomal", lambda: pytest.fail("aligned"))
    for name in ("source", "target"):
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b"a \xff\n")
    assert "source:121: not valid UTF-8" in run(f"{ALIGN} --chunk 60 --out links", 2).err


def test_align_in_chunks(run, bitext, tmp_path):
    """Each is aligned as if it were all; what is left of the lines joins the last."""
    run(f"{ALIGN} --chunk 35 --out chunks")
    expected, whole = [], {name: (tmp_path / name).read_text().splitlines() for name in ("source", "target")}
    for lines in (slice(35), slice(35, 70), slice(70, 120)):
        for name, text in whole.items():
            write(tmp_path / name, *text[lines])
        expected += run(ALIGN).out.splitlines()
    assert (tmp_path / "chunks").read_text().splitlines() == expected
    assert recall(links_in(tmp_path / "chunks"), bitext) > 0.8


def test_align_goes_on_after_lines_of_one_side(run, tmp_path):
    """In chunks of two lines, some of which have nothing to align, the first among them."""
    pairs = [("", ""), ("", "A"), ("a", ""), ("a b c d", "A B C D"), ("a b", "A B"), ("c d", "C D")]
    pairs += [("", ""), ("", ""), ("a", "A")]
    for name, side in zip(("source", "target"), zip(*pairs, strict=True), strict=True):
        write(tmp_path / name, *side)
    found = [parse_alignment(x).links for x in run(f"{ALIGN} --chunk 2 --symmetrize union").out.splitlines()]
    for links, (one, other) in zip(found, pairs, strict=True):
        assert all(i < len(one.split()) and j < len(other.split()) for i, j in links)
    assert all(found[3:6])


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
def test_links_become_orders_and_other_links(run, tmp_path, command, lines):
    write(tmp_path / "src", "b a", "", "c")
    write(tmp_path / "links", "0-1 1-0", "", "")
    write(tmp_path / "doubtful", "0-1:0.5 1-0:0.25", "", "")
    write(tmp_path / "graded", "0-1 2-0:0.5 2-1:0.49 1?3", "")
    assert run(command).out.splitlines() == lines


@pytest.mark.parametrize(
    ("more", "lines"),
    [("", ["0-0 0-1 1-1:0.5", "", "0-0"]), ("--src words --new-src joined", ["0-0 0-1", "", "0-0"])],
)
def test_map_to_other_tokens(run, tmp_path, more, lines):
    write(tmp_path / "links", "0-0 1-1:0.5", "", "0-1")
    write(tmp_path / "old", "（京 都", "", "a b")
    write(tmp_path / "new", "( 京都", "", "ab")
    write(tmp_path / "words", "x y", "", "z")
    write(tmp_path / "joined", "xy", "", "z")
    assert run(f"map --align links --tgt old --new-tgt new {more}").out.splitlines() == lines
