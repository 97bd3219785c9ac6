"""Compressed files, beside other programs' and Python's own modules."""

import bz2
import gzip
import lzma
import sys
from importlib import import_module

import pytest

from preorder.errors import DataError, MissingExtraError, UsageError
from preorder.io import files
from preorder.io.storage import CODECS, ZSTD, split_suffix

SUFFIXES = tuple(CODECS)
MODULES = {".gz": gzip, ".bz2": bz2, ".xz": lzma, ".zst": import_module(ZSTD)}
CONTENT = "a\nß\n".encode()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_written_and_read(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    files.write_lines(str(path), ["a", "ß"])
    assert MODULES[suffix].decompress(path.read_bytes()) == CONTENT
    assert list(files.read_lines(str(path))) == ["a", "ß"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_lines_give_the_same_bytes(tmp_path, suffix):
    for name in ("one", "two"):
        files.write_lines(str(tmp_path / f"{name}{suffix}"), ["a"])
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_one_after_another(tmp_path, suffix):
    """As ``cat`` and programs with several threads make them."""
    path = tmp_path / f"text{suffix}"
    path.write_bytes(b"".join(map(MODULES[suffix].compress, (CONTENT, b"", b"b\n"))))
    assert list(files.read_lines(str(path))) == ["a", "ß", "b"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("fault", ["not compressed", "cut short", "changed", "empty"])
def test_damaged_data_is_one_line(tmp_path, suffix, fault):
    path = tmp_path / f"text{suffix}"
    files.write_lines(str(path), ["some text"] * 50)
    content = bytearray(path.read_bytes())
    content[-3] ^= 0xFF  # of the checksum or what ends a file
    path.write_bytes(
        {"not compressed": b"plain text\n", "cut short": content[:-7], "changed": content, "empty": b""}[
            fault
        ]
    )
    with pytest.raises(DataError, match=rf"text{suffix}:(\d+:)? damaged {CODECS[suffix].name} data: ."):
        list(files.read_lines(str(path)))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_unreadable(tmp_path, suffix):
    with pytest.raises(DataError, match="cannot be read: No such file"):
        list(files.read_lines(str(tmp_path / f"missing{suffix}")))
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        list(files.read_lines(str(tmp_path / f"folder{suffix}")))


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, ZSTD, None)
    path = str(tmp_path / "text.zst")
    for use in (lambda: list(files.read_lines(path)), lambda: files.write_lines(path, ["a"])):
        with pytest.raises(MissingExtraError, match=r"zstd is not installed; .* -e '\.\[zstd\]'"):
            use()
    assert not list(tmp_path.iterdir())


def test_a_python_built_without_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lzma", None)
    with pytest.raises(UsageError, match="xz data: this Python was built without lzma"):
        list(files.read_lines(str(tmp_path / "text.xz")))


def test_names():
    assert [split_suffix(f"a.en{suffix}") for suffix in SUFFIXES] == [("a.en", suffix) for suffix in SUFFIXES]
    assert split_suffix("a.en") == ("a.en", "")
    assert split_suffix("gz") == ("gz", "")
