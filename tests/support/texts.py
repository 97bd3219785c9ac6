"""Texts that tests write, spoil and learn from, and folders that they compare."""

import random
from pathlib import Path


def write(path, *lines):
    """Write lines to a file, those of bytes as they are; return its name."""
    path.write_bytes(b"".join(line if isinstance(line, bytes) else f"{line}\n".encode() for line in lines))
    return str(path)


def write_bitext(folder):
    """Write the data of a run into a new folder: the same three lines in each part, and their links."""
    folder.mkdir()
    for part in ("train", "dev", "test"):
        for end, line in (("aa", "a b"), ("bb", "c d"), ("align", "0-0")):
            write(folder / f"{part}.{end}", *[line] * 3)


def read(path):
    """Return the lines of a file, each of which ends in a newline."""
    *lines, rest = Path(path).read_bytes().decode().split("\n")
    assert rest == ""
    return lines


def links(positions):
    """Return the line of links that asks for these positions."""
    return " ".join(f"{i}-{position}" for i, position in enumerate(positions))


def content(folder):
    """Return what is in each file below a folder, by its path there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def spoilt(lines, share, seed):
    """Return lines of which a share of the words, drawn at random, is replaced by x."""
    generator = random.Random(seed)
    return [" ".join("x" if generator.random() < share else word for word in line.split()) for line in lines]


def rows(table):
    """Return the rows of a table, a line each, whose columns stand apart by `` | ``."""
    return [tuple(column.strip() for column in line.split(" | ")) for line in table.strip().splitlines()]


def recall(alignments, sources):
    """Return the share of the words that are linked as in a reversed language."""
    right = sum(
        len(alignment.links & {(i, len(source) - 1 - i) for i in range(len(source))})
        for alignment, source in zip(alignments, sources, strict=True)
    )
    return right / sum(map(len, sources))
