"""Files: strict pairing, exact places in errors, nothing half-written."""

import io
import sys
from types import SimpleNamespace

import pytest

from preorder.errors import DataError
from preorder.io import files
from preorder.io.atomic import atomic_directory


def test_lines_end_at_newlines_alone(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("a\u2028b\x0bc\r\nd\n\ne".encode())
    assert list(files.read_lines(str(path))) == ["a\u2028b\x0bc", "d", "", "e"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"x\ny\n")))
    assert list(files.read_lines("-")) == ["x", "y"]


def test_invalid_utf8_names_the_line(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"good\nbad \xff\n")
    with pytest.raises(DataError, match=r"text:2: not valid UTF-8 \(byte 5 of the line\)"):
        list(files.read_lines(str(path)))


def test_unreadable(tmp_path):
    with pytest.raises(DataError, match="missing: cannot be read: No such file"):
        list(files.read_lines(str(tmp_path / "missing")))
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        list(files.read_lines(str(tmp_path)))


def test_parse_errors_get_their_place(tmp_path):
    def parse(line):
        if line == "bad":
            raise DataError("is bad")
        return line

    path = tmp_path / "text"
    path.write_text("good\nbad\n")
    with pytest.raises(DataError, match="text:2: is bad"):
        list(files.read_parsed(str(path), parse))


def test_parallel_files_must_be_equally_long():
    assert list(files.in_parallel(("a", "xy"), ("b", "zw"))) == [("x", "z"), ("y", "w")]
    with pytest.raises(DataError, match="b:2: the file ends after 1 lines, a goes on"):
        list(files.in_parallel(("a", "xy"), ("b", "z")))


def test_empty_file():
    with pytest.raises(DataError, match="a: the file is empty"):
        files.not_empty("a", [])


def test_nothing_is_left_of_an_interrupted_write(tmp_path):
    path = tmp_path / "out"
    path.write_text("before\n")

    def lines():
        yield "half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_lines(str(path), lines())
    assert path.read_text() == "before\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_unwritable(tmp_path):
    with pytest.raises(DataError, match="cannot be written: No such file or directory"):
        files.write_lines(str(tmp_path / "missing" / "out"), [])


def test_directory_is_replaced_whole(tmp_path):
    path = tmp_path / "model"
    for content in ("old", "new"):
        with atomic_directory(str(path)) as folder:
            (folder / "file").write_text(content)
    with pytest.raises(KeyboardInterrupt), atomic_directory(str(path)) as folder:
        raise KeyboardInterrupt
    assert (path / "file").read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_directory_in_the_way_of_a_file(tmp_path):
    (tmp_path / "model").write_text("")
    with (
        pytest.raises(DataError, match="model: exists and is not a directory"),
        atomic_directory(str(tmp_path / "model")),
    ):
        pass
    with (
        pytest.raises(DataError, match="cannot be written"),
        atomic_directory(str(tmp_path / "model" / "below")),
    ):
        pass


@pytest.mark.parametrize(("lines", "first"), [([], ""), (["", " "], ""), (["", "a", "", "b"], "a")])
def test_first_line_that_is_not_blank(lines, first):
    found, again = files.first_filled(iter(lines))
    assert found == first
    assert list(again) == lines


def test_json(tmp_path):
    path = str(tmp_path / "value.json")
    files.write_json(path, {"a": ["ß"]})
    assert files.read_json(path) == {"a": ["ß"]}
    (tmp_path / "value.json").write_text('{"a":\n}')
    with pytest.raises(DataError, match=r"value.json:2: not JSON"):
        files.read_json(path)


def test_batches():
    weights = [2, 1, 1, 9, 0, 1, 1]
    batches = [list(batch) for batch in files.batched(weights, 3, lambda weight: weight)]
    assert batches == [[2, 1], [1, 9], [0, 1, 1]]
    assert list(files.batched([], 2, len)) == []


def test_errors_of_paired_lines_name_the_line():
    def function(number, text):
        if number == 2:
            raise DataError(f"bad {text}")
        return number, text

    rows = files.map_parallel(function, "b", ("a", [1, 2]), ("b", "xy"))
    assert next(rows) == (1, "x")
    with pytest.raises(DataError, match="b:2: bad y"):
        next(rows)
    with pytest.raises(DataError, match="b:2: the file ends after 1 lines, a goes on"):
        list(files.map_parallel(function, "a", ("a", [1, 3]), ("b", "x")))


def test_bytes_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "picture"
    files.write_bytes(str(path), b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    with pytest.raises(DataError, match="cannot be written"):
        files.write_bytes(str(tmp_path / "no" / "picture"), b"")


def test_columns(tmp_path):
    assert files.read_columns(("a", ["x", "y"]), ("b", [1, 2])) == [["x", "y"], [1, 2]]
    with pytest.raises(DataError, match="the file ends after 1 lines, b goes on"):
        files.read_columns(("a", ["x"]), ("b", [1, 2]))
    with pytest.raises(DataError, match="the file is empty"):
        files.read_columns(("a", []))
    with pytest.raises(DataError, match="only one file can come from standard input"):
        files.read_columns(("-", []), ("-", []))


def test_a_file_has_a_name():
    with pytest.raises(DataError, match="cannot be written: it has no name"):
        files.write_lines("", ["a"])
