"""Where outputs go: devices, pipes, links, modes, full disks, and several writers at a time."""

import fcntl
import os
import stat
import threading

import numpy as np
import pytest

from preorder.io import atomic, files
from preorder.io.atomic import atomic_directory, atomic_file
from preorder.io.storage import CODECS
from tests.support.running import limited

LINES = [f"line {number}" for number in range(2000)]
NOISE = list(map(str, np.random.default_rng(1).random(9000)))  # which nothing makes small
TEXT = "".join(f"{line}\n" for line in LINES)


@pytest.mark.parametrize("name", ["out", *(f"out{suffix}" for suffix in CODECS)])
def test_a_fifo_is_written_straight(tmp_path, name):
    os.mkfifo(tmp_path / name)
    received = []
    reader = threading.Thread(target=lambda: received.extend(files.read_lines(str(tmp_path / name))))
    reader.start()
    files.write_lines(str(tmp_path / name), LINES)
    reader.join()
    assert received == LINES
    assert stat.S_ISFIFO(os.stat(tmp_path / name).st_mode)


def test_a_device_and_process_substitution():
    files.write_lines("/dev/null", ["x"])
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    reading, writing = os.pipe()
    files.write_lines(f"/dev/fd/{writing}", ["a", "b"])
    os.close(writing)
    assert os.read(reading, 10) == b"a\nb\n"
    os.close(reading)


@pytest.mark.parametrize(("path", "number"), [("/dev/fd/{}", None), ("/dev/stdout", 1), ("/dev/stderr", 2)])
def test_an_open_file_goes_on_where_it_is(tmp_path, path, number):
    """As a shell's ``>>`` or ``{ …; }`` gives it."""
    with (tmp_path / "all").open("w") as stream:
        stream.write("before\n")
        stream.flush()
        if number is not None:
            kept = os.dup(number)
            os.dup2(stream.fileno(), number)
        try:
            files.write_lines(path.format(stream.fileno()), ["a", "b"])
        finally:
            if number is not None:
                os.dup2(kept, number)
                os.close(kept)
        stream.write("after\n")
    assert (tmp_path / "all").read_text() == "before\na\nb\nafter\n"


def test_links_are_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("before\n")
    (tmp_path / "link").symlink_to("folder/file")
    (tmp_path / "dangling").symlink_to("folder/new")
    for name, target in (("link", "file"), ("dangling", "new")):
        files.write_lines(str(tmp_path / name), ["after"])
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "folder" / target).read_text() == "after\n"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_what_is_replaced_stays(tmp_path, mode):
    (tmp_path / "file").write_text("before")
    (tmp_path / "file").chmod(mode)
    files.write_lines(str(tmp_path / "file"), ["after"])
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(mode | 0o300)
    with atomic_directory(str(tmp_path / "folder")):
        pass
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == mode | 0o300


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        files.write_lines(str(tmp_path / "file"), [])
        with atomic_directory(str(tmp_path / "folder")):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o750


def _write_directory(path):
    with atomic_directory(path) as folder:
        (folder / "file").write_text(TEXT)


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda path: files.write_lines(path, LINES), "file"),
        *((lambda path: files.write_lines(path, NOISE), f"file{suffix}") for suffix in CODECS),
        (lambda path: files.write_bytes(path, TEXT.encode()), "file"),
        (lambda path: files.write_json(path, LINES), "file"),
        (_write_directory, "folder"),
    ],
)
def test_a_full_disk_is_one_line_and_keeps_what_was_there(tmp_path, write, name):
    path = tmp_path / name
    file = path / "file" if name == "folder" else path
    file.parent.mkdir(exist_ok=True)
    file.write_text("before")
    assert limited(4096, write, str(path)) == f"{path}: cannot be written: File too large"
    assert file.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_what_another_process_is_writing_is_left_alone(tmp_path):
    path = str(tmp_path / "file")
    with atomic_file(path) as mine:
        files.write_lines(path, ["theirs"])
        assert mine.exists()
        mine.write_text("mine")
    assert (tmp_path / "file").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("make", [atomic_file, atomic_directory])
def test_what_another_writer_removes_before_it_is_locked_is_made_again(tmp_path, monkeypatch, make):
    lock = fcntl.flock

    def remove_first(handle, how):
        monkeypatch.setattr(fcntl, "flock", lock)
        (left,) = tmp_path.iterdir()
        atomic.remove_left(left)
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", remove_first)
    with make(str(tmp_path / "target")) as place:
        assert place.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_what_is_written_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """So is the name, before the block has ended."""
    written = []

    def fsync(handle):
        place = os.readlink(f"/proc/self/fd/{handle}")
        written.append((os.path.basename(place), target.read_text()))

    monkeypatch.setattr(os, "fsync", fsync)
    target = tmp_path / "file"
    target.write_text("before")
    files.write_bytes(str(target), b"after")
    assert written == [(".file.0.partial", "before"), (tmp_path.name, "after")]
    written.clear()
    target = tmp_path / "folder" / "file"
    target.parent.mkdir()
    target.write_text("before")
    with atomic_directory(str(target.parent)) as folder:
        (folder / "file").write_text("after")
    folder = ".folder.0.partial"
    assert written == [("file", "before"), (folder, "before"), (tmp_path.name, "after")]


@pytest.mark.parametrize("name", ["a" * 255, "あ" * 85, "a" * 101, "a" * 100])
@pytest.mark.parametrize("make", [atomic_file, atomic_directory])
def test_names_as_long_as_can_be(tmp_path, name, make):
    for _ in range(2):
        with make(str(tmp_path / name)) as place:
            assert place.exists()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("can", ["link", "neither"])
def test_without_calls_of_linux_alone(tmp_path, monkeypatch, can):
    """Of several writers the first creates a file; the last replaces a folder."""
    monkeypatch.setattr(atomic, "_rename", lambda *_: False)
    if can == "neither":
        monkeypatch.setattr(os, "link", lambda *_: os.stat(""))
    for content in ("one", "two"):
        atomic.create_file(str(tmp_path / "file"), content.encode())
        with atomic_directory(str(tmp_path / "folder")) as folder:
            (folder / content).write_text("")
    assert (tmp_path / "file").read_text() == "one"
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["two"]
    assert {path.name for path in tmp_path.iterdir()} == {"file", "folder"}
