"""``preorder swap``, end to end."""

import gzip
import io
import sys

from tests.support.texts import content

SOURCE = "a b c d e f g h i j\n\none\nthe cat sat on the mat\n"


def test_files(run, tmp_path):
    (tmp_path / "test.en.gz").write_bytes(gzip.compress(SOURCE.encode()))
    (tmp_path / "test.tags").write_text(SOURCE.upper())
    line = "swap --src test.en.gz --pos test.tags --percent 0,50,100 --out-dir swapped/deep"
    run(line)
    once = content(tmp_path / "swapped/deep")
    assert set(once) == {f"test.{kind}.{percent}" for kind in ("en", "tags") for percent in (0, 50, 100)}
    for percent, moved in ((0, 0), (50, 5), (100, 10)):
        text = once[f"test.en.{percent}"].decode()
        assert once[f"test.tags.{percent}"].decode() == text.upper()
        lines = text.splitlines()
        assert lines[1:3] == ["", "one"]
        assert [sorted(line.split()) for line in lines] == [sorted(x.split()) for x in SOURCE.splitlines()]
        assert sum(a != b for a, b in zip(lines[0].split(), "abcdefghij", strict=True)) == moved
    assert once["test.en.0"].decode() == SOURCE
    run(line)
    assert content(tmp_path / "swapped/deep") == once
    run(f"{line} --seed 2")
    assert content(tmp_path / "swapped/deep")["test.en.50"] != once["test.en.50"]


def test_standard_input(run, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SOURCE.encode())))
    run("swap --percent 100 --out-dir .")
    assert (tmp_path / "source.100").read_text() != SOURCE
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SOURCE.upper().encode())))
    run("swap --src source.100 --pos - --percent 0 --out-dir .")
    assert (tmp_path / "tags.0").read_text() == SOURCE.upper()
