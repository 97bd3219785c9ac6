"""Where the bytes of files are: at a path or a URL (``s3://``, ``hf://``, ``file://``, …), compressed or not.

URLs are fsspec's; it, and the package of a protocol, are imported when a URL is used. Whatever they raise is
a DataError of one line with the URL. The suffix chooses the compression; equal content gives equal bytes.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import io
import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from preorder.errors import DataError, MissingExtraError, PreorderError, UsageError, require

AT_ONCE = frozenset(("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "hf"))
"""Protocols of object stores: they write a file whole or not at all, and have no folders to make."""

SUFFIX = ".partial"  # of the temporary name of a file that is not complete
BUFFER = 1 << 17  # bytes of a URL's file that are read at once

# Not the package zstandard: its readers do not notice that a file is cut short.
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


class Codec(NamedTuple):
    """A compression: its name, its module with ``open`` as in gzip, and the extra that installs it."""

    name: str
    module: str
    extra: str | None = None


CODECS = {  # suffix of a file → its compression
    ".gz": Codec("gzip", "gzip"),
    ".bz2": Codec("bzip2", "bz2"),
    ".xz": Codec("xz", "lzma"),
    ".zst": Codec("Zstandard", ZSTD, "zstd"),
}

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::[^/]*)?://")
READ, WRITTEN = "cannot be read", "cannot be written"


def is_url(path: str) -> bool:
    """Return whether a path is a URL."""
    return _URL.match(os.fspath(path)) is not None


def split_suffix(path: str) -> tuple[str, str]:
    """Split the suffix of a compressed file off a path; it is ``""`` for other files."""
    suffix = next(filter(path.endswith, CODECS), "")
    return path.removesuffix(suffix), suffix


def open_bytes(path: str) -> BinaryIO:
    """Open a file for reading, decompressed; a local file raises the errors of ``open``."""
    _, suffix = split_suffix(path)
    opener = _module(CODECS[suffix]).open if suffix else None
    source: Any  # a local path, or a stream
    if is_url(path):
        with filesystem(path) as (system, inner):
            remote = _Remote(system.open(inner, "rb"), path)
        size, source = remote.left, io.BufferedReader(remote, BUFFER)
    else:
        size, source = os.path.getsize(path) if os.path.isfile(path) else None, path
    if suffix == ".gz" and size == 0:
        raise DataError("damaged gzip data: the file is empty", path)  # the other modules say so themselves
    if opener is None and is_url(path):
        return source
    return (opener or open)(source, "rb")


@contextlib.contextmanager
def compressed(stream: BinaryIO, path: str) -> Iterator[BinaryIO]:
    """Give a stream that compresses into another one, by the suffix of the path."""
    _, suffix = split_suffix(path)
    if not suffix:
        yield stream
        return
    module = _module(CODECS[suffix])
    if suffix == ".gz":  # no time stamp and no name in the header
        # The level of the program gzip: Python's, 9, takes four times as long for 2% less.
        opened = module.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0, compresslevel=6)
    elif suffix == ".zst":  # as the program zstd does
        opened = module.open(stream, "wb", options={module.CompressionParameter.checksum_flag: 1})
    else:
        opened = module.open(stream, "wb")
    with opened:
        yield opened


def _module(codec: Codec) -> Any:
    try:
        return import_module(codec.module)
    except ImportError as error:
        if codec.extra is not None:
            raise MissingExtraError(codec.module, codec.extra) from error
        raise UsageError(f"{codec.name} data: this Python was built without {codec.module}") from error


class _Remote(io.RawIOBase):
    """A file at a URL; a DataError says that it ends before its size."""

    def __init__(self, stream: Any, url: str) -> None:
        self._stream, self._url = stream, url
        self.left = getattr(stream, "size", None)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _wrap_errors(self._url, READ):
            data = self._stream.read(len(buffer))
        if self.left is not None:
            if not data and self.left > 0:
                raise DataError(f"{READ}: it ends {self.left:,} bytes too early", self._url)
            self.left -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            with contextlib.suppress(Exception):  # all that was wanted has been read
                self._stream.close()
        super().close()


def put(local: Path, url: str) -> None:
    """Copy a local file to a URL, whole or not at all: by a temporary name, except in object stores."""
    with filesystem(url, WRITTEN) as (system, path):
        if AT_ONCE.intersection(_protocols(system)):
            system.put_file(str(local), path)
            return
        if system.isdir(path):
            raise DataError("is a directory", url)
        temporary = f"{os.path.dirname(path)}/.preorder-{secrets.token_hex(8)}{SUFFIX}"
        try:
            system.put_file(str(local), temporary)
            system.mv(temporary, path)
        except BaseException:
            with contextlib.suppress(Exception):
                system.rm_file(temporary)
            raise


def make_folder(path: str) -> None:
    """Make a folder and its parents, unless it exists, or the storage has no folders."""
    if not is_url(path):
        Path(path).mkdir(parents=True, exist_ok=True)
        return
    with filesystem(path, WRITTEN) as (system, inner):
        if not AT_ONCE.intersection(_protocols(system)):  # s3fs would make a bucket
            system.makedirs(inner, exist_ok=True)


def remove(paths: Iterable[str]) -> None:
    """Remove the files that exist."""
    for path in paths:
        if is_url(path):
            with (
                filesystem(path, "cannot be removed") as (system, inner),
                contextlib.suppress(FileNotFoundError),
            ):
                system.rm_file(inner)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def exists(path: str) -> bool:
    """Return whether a path exists."""
    if not is_url(path):
        return os.path.exists(path)
    with filesystem(path) as (system, inner):
        system.invalidate_cache()
        return system.exists(inner)


def names(folder: str) -> list[str]:
    """Return the names of the files in a folder; none if there is no folder."""
    if is_url(folder):
        return list(_listed(folder))
    return os.listdir(folder) if os.path.isdir(folder) else []


def sizes(paths: Iterable[str]) -> dict[str, int]:
    """Return the sizes in bytes of the files that exist; each folder of URLs is listed once."""
    found, listed = {}, cache(_listed)
    for path in paths:
        if is_url(path):
            folder, name = os.path.split(path)
            if name in listed(folder):
                found[path] = listed(folder)[name]
        elif os.path.isfile(path):
            found[path] = os.path.getsize(path)
    return found


def _listed(folder: str) -> dict[str, int]:
    """Return the names and sizes in bytes of the files in a folder at a URL; none if there is no folder."""
    with filesystem(folder) as (system, path):
        system.invalidate_cache()
        try:
            entries = system.ls(path, detail=True)
        except FileNotFoundError:
            return {}
    found = {each["name"].rstrip("/"): each["size"] or 0 for each in entries}
    found.pop(path.rstrip("/"), None)  # object stores can have something of the folder's name
    return {os.path.basename(name): size for name, size in found.items()}


def find(pattern: str) -> tuple[str, list[str]]:
    """Return a pattern and the files that match, except hidden ones; for a URL, as paths in its storage."""
    if not is_url(pattern):
        return pattern, sorted(filter(os.path.isfile, glob.glob(pattern)))
    with filesystem(re.sub(r"\*+", "*", pattern)) as (system, path):
        system.invalidate_cache()
        found = system.glob(path, detail=True)
    if not found:  # fsspec also finds nothing in a folder that may not be read: listing it raises
        _listed(os.path.dirname(re.split(r"[*?[]", pattern)[0]))
    fitting = (name for name, entry in found.items() if entry["type"] == "file")
    return path, sorted(name for name in fitting if not os.path.basename(name).startswith("."))


def real(path: str, what: str = READ) -> str:
    """Return one name for all paths and URLs of a file."""
    if is_url(path):
        with filesystem(path, what) as (system, path):
            protocol = _protocols(system)[0]
        if protocol != "file":
            return f"{protocol}://{path}"
    return os.path.realpath(path)


def absolute(path: str) -> str:
    """Return a path that does not depend on the current folder."""
    return path if is_url(path) else os.path.abspath(path)


@contextlib.contextmanager
def filesystem(url: str, what: str = READ) -> Iterator[tuple[Any, str]]:
    """Give the file system of a URL and the path in it; turn errors of the block into data errors."""
    with _wrap_errors(url, what):
        if "::" in url:  # the content of one file would decide which others are read
            raise DataError("a URL inside of another one (::) is not followed", url)
        system, path = require("fsspec", "storage").url_to_fs(url)
        if what == WRITTEN and _protocols(system)[0].startswith("http"):  # fsspec would send it as a form
            raise DataError(f"{WRITTEN}: {_protocols(system)[0]} serves files, it takes none", url)
        yield system, path


def _protocols(system: Any) -> tuple[str, ...]:
    return (system.protocol,) if isinstance(system.protocol, str) else tuple(system.protocol)


@contextlib.contextmanager
def _wrap_errors(url: str, what: str) -> Iterator[None]:
    try:
        yield
    except (PreorderError, MemoryError):
        raise
    except Exception as error:
        text = " ".join(str(getattr(error, "strerror", None) or error).split())
        if isinstance(error, FileNotFoundError) and text in url:  # it only repeats the path
            cause = str(error.__cause__ or "404")
            text = os.strerror(errno.ENOENT) if "404" in cause else cause  # fsspec hides HTTP's
        raise DataError(f"{what}: {text or type(error).__name__}", url) from None
