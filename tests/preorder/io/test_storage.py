"""Files at URLs: as local files are, in fsspec's memory and ``file://``; and where a storage fails."""

import io
import pathlib
from importlib import import_module

import pytest
from fsspec import AbstractFileSystem, filesystem
from fsspec.implementations.memory import MemoryFileSystem

from preorder.errors import DataError
from preorder.io import files, storage
from preorder.io.atomic import check_writable, fresh_folder
from preorder.io.files import read_blocks
from preorder.io.storage import CODECS

registry = import_module("fsspec.registry")  # fsspec.registry is one of its dictionaries
LINES = ["a b", "", "ß"] * 100


class Odd(MemoryFileSystem):
    """A storage that fails in the way that is named."""

    protocol = ("odd", "strange")
    fault = None
    puts = ()
    listings = None

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.partition("://")[2] or path)

    def _open(self, path, mode="rb", **options):
        if path == "/forbidden":
            raise FileNotFoundError("odd://forbidden") from OSError("403: Forbidden")
        stream = super()._open(path, mode, **options)
        return Cut(stream.getvalue(), self.fault) if mode == "rb" else stream

    def put_file(self, lpath, rpath, **options):
        Odd.puts += (rpath,)
        with open(lpath, "rb") as stream:
            self.pipe_file(rpath, stream.read())
        if self.fault == "put":
            raise OSError("the line is\ndead")

    def mv(self, one, other, **options):
        if self.fault == "interrupt":
            raise KeyboardInterrupt
        super().mv(one, other, **options)

    def makedirs(self, path, exist_ok=False):
        if self.fault == "folder":
            raise PermissionError(13, "Permission denied")
        super().makedirs(path, exist_ok)

    def ls(self, path, **options):
        if self.fault == "ls":
            raise PermissionError
        found = super().ls(path, **options)
        if self.fault == "itself":
            found.append({"name": f"{path}/", "size": None, "type": "directory"})
        return self.listings.setdefault(path, found) if self.fault == "kept" else found

    find = AbstractFileSystem.find  # by ``ls``

    def exists(self, path, **options):
        return path in self.find(self._parent(path), **options)

    def invalidate_cache(self, path=None):
        self.listings.clear()

    def rm_file(self, path):
        if self.fault == path:
            raise PermissionError(13, "Permission denied")
        super().rm_file(path)


class Cut(io.BytesIO):
    """The end of it is lost, if the storage fails so; or its second half cannot be read."""

    def __init__(self, content, fault):
        super().__init__(content[:-1] if fault == "cut" else content)
        self.size, self.fault = len(content), fault

    def read(self, size=-1):
        if self.fault == "dead" and self.tell() >= storage.BUFFER:
            raise TimeoutError
        return super().read(size)


@pytest.fixture
def fails(monkeypatch):
    """Let the storages be known, empty; give a function that lets them fail."""
    store = {"store": {}, "pseudo_dirs": [""]}
    kinds = {"odd": ("odd", "strange"), "s3": ("s3", "s3a"), "https": ("http", "https")}
    for name, protocols in kinds.items():
        kind = type(name, (Odd,), {"protocol": protocols, **store})
        monkeypatch.setitem(registry._registry, name, kind)
    monkeypatch.setattr(MemoryFileSystem, "store", {})
    monkeypatch.setattr(Odd, "puts", ())
    monkeypatch.setattr(Odd, "listings", {})
    return lambda fault: monkeypatch.setattr(Odd, "fault", fault)


@pytest.fixture
def root(request, tmp_path, fails):
    folders = {"file": f"file://{tmp_path}", "local": str(tmp_path)}
    return folders.get(request.param, f"{request.param}://bucket")


every_kind = pytest.mark.parametrize("root", ["memory", "file", "odd", "s3", "local"], indirect=True)


@every_kind
@pytest.mark.parametrize("suffix", ["", *CODECS])
def test_the_same_bytes_as_in_local_files(root, tmp_path, suffix):
    url, local = f"{root}/text{suffix}", str(tmp_path / f"local{suffix}")
    for path in (url, local):
        files.write_lines(path, LINES)
    content = pathlib.Path(local).read_bytes()
    assert list(files.read_lines(url)) == LINES
    assert b"".join(block.texts[0] for block in read_blocks([url], 50)).decode().splitlines() == LINES
    assert files.read_bytes(url) == files.read_bytes(local)
    assert storage.exists(url)
    asked = [url, f"{root}/no", local, str(tmp_path), "a\0"]  # no folder, and no path at all
    assert storage.sizes(asked) == dict.fromkeys((url, local), len(content))
    files.write_lines(url, ["new"])
    assert list(files.read_lines(url)) == ["new"]
    storage.remove([url, f"{root}/no"])
    assert not storage.exists(url)
    assert f"text{suffix}" not in storage.names(root)


@every_kind
@pytest.mark.parametrize("error", [KeyboardInterrupt, DataError("bad line"), OSError(5, "I/O error")])
def test_nothing_is_left_of_an_interrupted_write(root, error):
    def lines():
        yield "half"
        raise error

    files.write_lines(f"{root}/text", LINES)
    before = storage.names(root)
    with pytest.raises(error if isinstance(error, type) else type(error)):
        files.write_lines(f"{root}/text", lines())
    assert list(files.read_lines(f"{root}/text")) == LINES
    assert storage.names(root) == before


@pytest.mark.parametrize("root", ["odd"], indirect=True)
@pytest.mark.parametrize(
    ("fault", "error"), [("put", "cannot be written: the line is dead"), ("interrupt", None)]
)
def test_nothing_is_left_of_an_interrupted_upload(root, fails, fault, error):
    files.write_lines(f"{root}/text", LINES)
    fails(fault)
    with pytest.raises(DataError if error else KeyboardInterrupt, match=error):
        files.write_lines(f"{root}/text", ["new"])
    assert storage.names(root) == ["text"]
    assert list(files.read_lines(f"{root}/text")) == LINES


def test_an_object_store_has_no_temporary_names_and_no_folders(fails):
    fails("folder")
    files.make_folder("s3://bucket/folder")
    files.write_lines("s3://bucket/folder/text", LINES)
    assert Odd.puts == ("/bucket/folder/text",)
    with pytest.raises(DataError, match="^odd://bucket/folder: cannot be written: Permission denied$"):
        files.make_folder("odd://bucket/folder")


LOOKS = {
    "exists": storage.exists,
    "sizes": lambda url: storage.sizes([url]),
    "names": lambda url: "new" in storage.names(url.removesuffix("/new")),
    "find": lambda url: storage.find(f"{url}*")[1],
}


@pytest.mark.parametrize("look", LOOKS)
def test_what_others_have_written_meanwhile_is_seen(fails, look):
    """A storage keeps its listings, until it is told that they may be old."""
    files.write_lines("odd://folder/old", [])
    fails("kept")
    assert not LOOKS[look]("odd://folder/new")
    filesystem("odd").pipe_file("/folder/new", b"")
    assert LOOKS[look]("odd://folder/new")


def test_a_folder_that_lists_itself(fails):
    files.write_lines("s3://bucket/folder/text", [])
    fails("itself")
    assert storage.names("s3://bucket/folder") == ["text"]


def test_what_tells_that_a_folder_is_whole_is_removed_first(fails):
    for name in ("whole", "part"):
        files.write_lines(f"odd://folder/{name}", [])
    fails("/folder/part")
    message = "^odd://folder/part: cannot be removed: Permission denied$"
    with pytest.raises(DataError, match=message), fresh_folder("odd://folder", ["whole", "part"]):
        raise AssertionError
    assert storage.names("odd://folder") == ["part"]


@pytest.mark.parametrize(
    ("fault", "line", "reason"),
    [("cut", 20_000, "it ends 1 bytes too early"), ("dead", 15_000, "TimeoutError")],
)
def test_a_reading_that_breaks_off(fails, fault, line, reason):
    """It is never taken for the end of the file, nor for damage of what is compressed."""
    lines = [f"{number:015}" for number in range(20_000)]
    for name in ("text", "text.gz"):
        files.write_lines(f"odd://{name}", lines)
    fails(fault)
    with pytest.raises(DataError, match=rf"^odd://text:\d+: cannot be read: {reason}$") as caught:
        list(files.read_lines("odd://text"))
    assert abs(caught.value.line - line) < 10_000
    with pytest.raises(DataError, match=rf"^odd://text:\d+: cannot be read: {reason}$"):
        list(read_blocks(["odd://text"]))
    if fault == "cut":
        with pytest.raises(DataError, match=rf"^odd://text.gz:\d+: cannot be read: {reason}$"):
            list(files.read_lines("odd://text.gz"))


def refused():
    return {
        "gone://x": (files.read_bytes, "cannot be read: Install no-such-module to read what is gone"),
        "odd://forbidden": (files.read_bytes, "cannot be read: 403: Forbidden"),
        "zip://a::odd://x": (files.read_bytes, r"a URL inside of another one \(::\) is not followed"),
        "https://x/y": (check_writable, "cannot be written: https? serves files, it takes none"),
        "odd://folder": (lambda url: files.write_bytes(url, b""), "is a directory"),
        "s3://ls/*": (storage.find, "cannot be read: PermissionError"),
    }


@pytest.mark.parametrize("url", refused())
def test_errors_are_one_line_with_the_url(url, fails, monkeypatch):
    known = {"class": "no_such_module.Storage", "err": "Install no-such-module to read what is gone"}
    monkeypatch.setitem(registry.known_implementations, "gone", known)
    files.write_bytes("odd://folder/file", b"")
    if url.startswith("s3://ls"):
        fails("ls")
    call, reason = refused()[url]
    with pytest.raises(DataError, match=f"{reason}$") as caught:
        call(url)
    assert str(caught.value).startswith(f"{url.removesuffix('/*')}: ")


def test_one_name_for_what_is_the_same_file(fails, tmp_path):
    assert storage.real("memory://a/b") == storage.real("memory:///a/b/") != storage.real("odd://a/b")
    assert storage.real("odd://a/b") == "odd:///a/b"
    assert storage.real(f"file://{tmp_path}/x") == storage.real(f"{tmp_path}/./x")
    assert storage.absolute("s3://a/b") == "s3://a/b"
