"""``preorder swap``, end to end."""

import gzip
import io
import sys

from preorder.cli import main

SOURCE = "a b c d e f g h i j\n\none\nthe cat sat on the mat\n"
TAGS = "A B C D E F G H I J\n\nONE\nTHE CAT SAT ON THE MAT\n"


def test_files(tmp_path):
    source, tags, out = tmp_path / "test.en.gz", tmp_path / "test.tags", tmp_path / "swapped/deep"
    source.write_bytes(gzip.compress(SOURCE.encode()))
    tags.write_text(TAGS)
    options = ["--src", str(source), "--pos", str(tags), "--percent", "0:100:50", "--out-dir", str(out)]
    assert main(["swap", *options]) == 0
    assert {path.name for path in out.iterdir()} == {
        f"test.{kind}.{percent}" for kind in ("en", "tags") for percent in (0, 50, 100)
    }
    assert (out / "test.en.0").read_text() == SOURCE
    for percent, moved in ((50, 5), (100, 10)):
        text = (out / f"test.en.{percent}").read_text()
        assert (out / f"test.tags.{percent}").read_text() == text.upper()
        lines = text.splitlines()
        assert lines[1:3] == ["", "one"]
        assert [sorted(line.split()) for line in lines] == [
            sorted(line.split()) for line in SOURCE.splitlines()
        ]
        assert sum(a != b for a, b in zip(lines[0].split(), "abcdefghij", strict=True)) == moved
    once = (out / "test.en.50").read_bytes()
    assert main(["swap", *options]) == 0
    assert (out / "test.en.50").read_bytes() == once
    assert main(["swap", *options, "--seed", "2"]) == 0
    assert (out / "test.en.50").read_bytes() != once


def test_standard_input(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SOURCE.encode())))
    assert main(["swap", "--percent", "100", "--out-dir", str(tmp_path)]) == 0
    assert (tmp_path / "source.100").read_text() != SOURCE
