"""Files in blocks beside the same files line by line."""

import gzip
import random

import pytest

from preorder.errors import DataError
from preorder.io.files import in_parallel, read_blocks, read_lines

SIZES = (1, 7, 1 << 17)


def in_blocks(paths, size):
    """Return the lines of files side by side, and what is wrong after them."""
    lines, number = [], 1
    try:
        for block in read_blocks(paths, size):
            assert block.first == number
            number += block.lines
            texts = [text.decode().split("\n") for text in block.texts]
            assert all(text.pop() == "" and len(text) == block.lines for text in texts)
            lines += zip(*texts, strict=True)
    except DataError as error:
        return lines, str(error)
    return lines, None


def one_by_one(paths):
    lines = []
    try:
        lines.extend(in_parallel(*((path, read_lines(path)) for path in paths)))
    except DataError as error:
        return lines, str(error)
    return lines, None


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "contents",
    [
        (b"",),
        (b"\n",),
        (b"no end",),
        (b"a\n\nb c\n", b"1\n2\n3"),
        (b"x" * 300_000 + b"\ny\n", b"1\n2\n"),
        (b"a\nb\nc\n", b"1\n2\n"),
        (b"a\nb\n", b"1\n2\n3\n"),
        (b"", b"1\n"),
        (b"a\nb\n", b"1\n", b"\n"),
        (b"".join(b"%d\n" % i for i in range(999)), b"t\n" * 999),
    ],
)
def test_the_same_lines_and_errors(tmp_path, contents, size):
    paths = [str(tmp_path / f"file{i}") for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        with open(path, "wb") as stream:
            stream.write(content)
    assert in_blocks(paths, size) == one_by_one(paths)


@pytest.mark.parametrize("kept", [1, 0.5, 0.02])
def test_damage_is_found_in_the_same_line(tmp_path, kept):
    generator = random.Random(1)
    text = "".join(f"{generator.random()}\n" for _ in range(5000))
    data = gzip.compress(text.encode())
    path = tmp_path / "text.gz"
    path.write_bytes(data[: int(len(data) * kept) - 1])
    found = in_blocks([str(path)], 1 << 17)
    assert found == one_by_one([str(path)])
    assert found[1].startswith(f"{path}:{len(found[0]) + 1}: damaged gzip data: ")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"nowhere: cannot be read: No such file"):
        next(read_blocks([str(tmp_path / "nowhere")]))


def test_what_the_system_refuses_is_no_bad_input(tmp_path):
    with pytest.raises(DataError, match=r"cannot be read: Is a directory"):
        next(read_blocks([str(tmp_path)]))
