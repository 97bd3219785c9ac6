"""Files: strict pairing, exact lines in errors, nothing half-written; line by line, in blocks, compressed."""

import bz2
import gzip
import lzma
import random
import sys
import time
from collections import deque
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from preorder.errors import DataError, MissingExtraError, UsageError
from preorder.io import files
from preorder.io.storage import CODECS, ZSTD, split_suffix

MODULES = {".gz": gzip, ".bz2": bz2, ".xz": lzma, ".zst": import_module(ZSTD)}
CONTENT = "a\nß\n".encode()


@pytest.mark.parametrize("suffix", ["", *CODECS])
def test_unreadable(tmp_path, suffix):
    (tmp_path / f"folder{suffix}").mkdir()
    for name, reason in (("missing", "No such file"), ("folder", "Is a directory")):
        path = str(tmp_path / f"{name}{suffix}")
        for read in (files.read_lines, lambda path: files.read_blocks([path])):
            with pytest.raises(DataError, match=f"{name}{suffix}: cannot be read: {reason}"):
                next(read(path))


def test_files_side_by_side():
    assert list(files.in_parallel(("a", "xy"), ("b", "zw"))) == [("x", "z"), ("y", "w")]
    with pytest.raises(DataError, match="b:2: the file ends after 1 line, a goes on"):
        list(files.in_parallel(("a", "xy"), ("b", "z")))
    assert files.read_columns(("a", ["x", "y"]), ("b", [1, 2])) == [["x", "y"], [1, 2]]
    with pytest.raises(DataError, match="a: the file is empty"):
        files.read_columns(("a", []))


def test_batches_are_as_short_as_can_be():
    assert list(files.batched([1, 2, 3, 1, 1], 3, lambda item: item)) == [[1, 2], [3], [1, 1]]


def test_json(tmp_path):
    path = str(tmp_path / "value.json")
    files.write_json(path, {"a": ["ß"]})
    assert "ß" in (tmp_path / "value.json").read_text()
    assert files.read_json(path) == {"a": ["ß"]}
    (tmp_path / "value.json").write_text('{"a":\n}')
    with pytest.raises(DataError, match=r"value.json:2: not JSON"):
        files.read_json(path)
    (tmp_path / "value.json").write_text(r'["\udcff"]')  # as the name of a file has it
    assert files.read_json(path) == ["\udcff"]
    (tmp_path / "value.json").write_text(r'{"\ud800": 1}')
    with pytest.raises(DataError, match=r"value.json: JSON that is .* half of a surrogate pair"):
        files.read_json(path)


def in_blocks(paths, size):
    number = 1
    for block in files.read_blocks(paths, size):
        assert block.first == number
        number += block.lines
        texts = [text.decode().split("\n") for text in block.texts]
        assert all(text.pop() == "" and len(text) == block.lines for text in texts)
        yield from zip(*texts, strict=True)


def one_by_one(paths):
    return files.in_parallel(*((path, files.read_lines(path)) for path in paths))


def found(rows):
    """Return the lines of files side by side, and what is wrong after them."""
    lines = []
    try:
        lines.extend(rows)
    except DataError as error:
        return lines, str(error)
    return lines, None


@given(
    contents=st.lists(st.text("a \n").map(str.encode), min_size=1, max_size=3),
    size=st.sampled_from([1, 7, 1 << 17]),
)
@example(contents=[b"x" * 300_000 + b"\ny\n", b"1\n2\n"], size=7)
@example(contents=[b"".join(b"%d\n" % i for i in range(999)), b"t\n" * 999], size=7)
def test_blocks_have_the_same_lines_and_errors(tmp_path_factory, contents, size):
    folder = tmp_path_factory.mktemp("blocks")
    paths = [str(folder / f"file{i}") for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        Path(path).write_bytes(content)
    assert found(in_blocks(paths, size)) == found(one_by_one(paths))


@pytest.mark.parametrize("kept", [1, 0.5, 0.02])
def test_damage_is_found_in_the_same_line(tmp_path, kept):
    generator = random.Random(1)
    text = "".join(f"{generator.random()}\n" for _ in range(5000))
    data = gzip.compress(text.encode())
    path = tmp_path / "text.gz"
    path.write_bytes(data[: int(len(data) * kept) - 1])
    lines, reason = found(in_blocks([str(path)], 1 << 17))
    assert (lines, reason) == found(one_by_one([str(path)]))
    assert reason.startswith(f"{path}:{len(lines) + 1}: damaged gzip data: ")


@pytest.mark.parametrize("suffix", CODECS)
def test_compressed_as_by_other_programs(tmp_path, monkeypatch, suffix):
    """Equal lines give equal bytes at any time; files one after another are one, as ``cat`` makes them."""
    one, two = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
    for second, path in enumerate((one, two)):
        monkeypatch.setattr(time, "time", lambda second=second: float(second))
        files.write_lines(str(path), ["a", "ß"])
    assert MODULES[suffix].decompress(one.read_bytes()) == CONTENT
    assert one.read_bytes() == two.read_bytes()
    one.write_bytes(b"".join(map(MODULES[suffix].compress, (CONTENT, b"", b"b\n"))))
    assert list(files.read_lines(str(one))) == ["a", "ß", "b"]
    assert split_suffix(f"a.en{suffix}") == ("a.en", suffix)
    assert split_suffix(suffix[1:]) == (suffix[1:], "")


@pytest.mark.parametrize("suffix", CODECS)
@pytest.mark.parametrize("fault", ["not compressed", "cut short", "changed", "empty"])
def test_damaged_data_is_one_line(tmp_path, suffix, fault):
    path = tmp_path / f"text{suffix}"
    files.write_lines(str(path), ["some text"] * 50)
    changed = bytearray(path.read_bytes())
    changed[-3] ^= 0xFF  # of the checksum or what ends a file
    contents = {
        "not compressed": b"plain text\n",
        "cut short": changed[:-7],
        "changed": changed,
        "empty": b"",
    }
    path.write_bytes(contents[fault])
    for read in (files.read_lines, files.read_bytes):
        with pytest.raises(DataError, match=rf"text{suffix}:(\d+:)? damaged {CODECS[suffix].name} data: ."):
            list(read(str(path)))


def test_a_lack_of_memory_is_not_damage(monkeypatch):
    for read in (files.read_lines, lambda path: files.read_blocks([path])):
        stream = SimpleNamespace(readline=Mock(side_effect=[b"a\n", MemoryError]))
        monkeypatch.setattr(files, "open_bytes", Mock(return_value=nullcontext(stream)))
        with pytest.raises(MemoryError):
            list(read("text.gz"))


@pytest.mark.parametrize(
    ("module", "suffix", "error", "reason"),
    [
        (ZSTD, ".zst", MissingExtraError, r"zstd is not installed: pip install"),
        ("lzma", ".xz", UsageError, "xz data: this Python was built without lzma"),
    ],
)
def test_without_what_compresses(tmp_path, monkeypatch, module, suffix, error, reason):
    monkeypatch.setitem(sys.modules, module, None)
    path = str(tmp_path / f"text{suffix}")
    for use in (lambda: list(files.read_lines(path)), lambda: files.write_lines(path, ["a"])):
        with pytest.raises(error, match=reason):
            use()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("read", [files.read_lines, lambda path: files.read_blocks([path])])
def test_a_line_without_end_is_refused(tmp_path, read):
    """What is longer than memory may come of a small file."""
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"a\n" + b"b" * files.MAX_LINE + b"\nc\n", 1))
    with pytest.raises(DataError, match=r"text\.gz:2: a line of more than 16 MiB"):
        deque(read(str(path)), maxlen=0)
    path.write_bytes(gzip.compress(b"b" * (files.MAX_LINE - 1) + b"\n", 1))
    assert len(list(read(str(path)))) == 1
