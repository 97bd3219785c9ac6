"""Files at URLs (``s3://``, ``gs://``, ``hf://``, ``https://``, ``file://``, …), by fsspec.

fsspec, and the package of a protocol, are imported when a URL is used. Whatever they raise is about the
storage, and becomes one line with the URL.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from preorder.errors import DataError, PreorderError, require

AT_ONCE = frozenset(("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "hf"))
"""Protocols of object stores: what is put has its name once it is whole, and there are no folders to make."""

READ_ONLY = frozenset(("http", "https"))
"""Protocols that cannot replace a file: fsspec would send it as a form."""

SUFFIX = ".partial"
"""Of the temporary name of what is not complete."""

BUFFER = 1 << 17
"""Bytes that are read at once."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::[^/]*)?://")
_READ, _WRITTEN = "cannot be read", "cannot be written"


def is_url(path: str) -> bool:
    """Say whether a path is a URL."""
    return _URL.match(os.fspath(path)) is not None


def open_url(url: str) -> BinaryIO:
    """Open a file for reading.

    Raises:
        DataError: it cannot be opened; or, on reading, not read to its end.
        MissingExtraError: fsspec is not installed.
    """
    with _told(url, _READ):
        system, path = _found(url)
        return io.BufferedReader(_Remote(system.open(path, "rb"), url), BUFFER)


class _Remote(io.RawIOBase):
    """A file of a storage; it does not end before its size."""

    def __init__(self, stream: Any, url: str) -> None:
        self._stream, self._url = stream, url
        self._left = getattr(stream, "size", None)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _told(self._url, _READ):
            data = self._stream.read(len(buffer))
        if self._left is not None:
            if not data and self._left > 0:
                raise DataError(f"{_READ}: it ends {self._left:,} bytes too early", self._url)
            self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:  # the one of RawIOBase asks for 8 KiB at a time
        parts = []
        while part := self.read(1 << 24):
            parts.append(part)
        return b"".join(parts)

    def close(self) -> None:
        if not self.closed:
            with contextlib.suppress(Exception):  # all that was wanted has been read
                self._stream.close()
        super().close()


def check_writable(url: str) -> None:
    """Check, before any work, what can be known of an output without asking the storage.

    Raises:
        DataError: there is no such protocol, its package is not installed, or it is :data:`READ_ONLY`.
    """
    with _told(url, _WRITTEN):
        system, _ = _found(url)
        _check_protocol(system, url)


def put(local: Path, url: str) -> None:
    """Copy a local file to a URL, whole or not at all.

    To a storage that is none of :data:`AT_ONCE` it goes under a temporary name first, and is then renamed.

    Raises:
        DataError: it cannot be written, or there is a folder.
    """
    with _told(url, _WRITTEN):
        system, path = _found(url)
        _check_protocol(system, url)
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


def create(url: str, data: bytes) -> None:
    """Write a file, unless it is there; some storages cannot prevent that two writers do at the same moment.

    Raises:
        DataError: it cannot be written.
    """
    with _told(url, _WRITTEN):
        system, path = _found(url)
        _check_protocol(system, url)
        try:
            with system.open(path, "xb") as stream:
                stream.write(data)
        except FileExistsError:
            pass
        except (NotImplementedError, ValueError):  # it knows no exclusive writing
            if not exists(url):
                system.pipe_file(path, data)


def make_folder(url: str) -> None:
    """Make a folder, where the storage has any; a DataError says that it cannot be made."""
    with _told(url, _WRITTEN):
        system, path = _found(url)
        _check_protocol(system, url)
        if not AT_ONCE.intersection(_protocols(system)):  # s3fs would make a bucket
            system.makedirs(path, exist_ok=True)


def remove(urls: Iterable[str]) -> None:
    """Remove files that are there; a DataError says that one cannot be removed."""
    for url in urls:
        with _told(url, "cannot be removed"), contextlib.suppress(FileNotFoundError):
            system, path = _found(url)
            system.rm_file(path)


def exists(url: str) -> bool:
    """Say whether there is something; a DataError says that the storage does not tell."""
    with _told(url, _READ):
        system, path = _found(url)
        system.invalidate_cache()
        return system.exists(path)


def listed(folder: str) -> dict[str, int]:
    """Return the names and sizes in bytes of what is in a folder: nothing if it is not there.

    Raises:
        DataError: the storage does not tell.
    """
    with _told(folder, _READ):
        system, path = _found(folder)
        system.invalidate_cache()
        try:
            entries = system.ls(path, detail=True)
        except FileNotFoundError:
            return {}
    names = {each["name"].rstrip("/"): each["size"] or 0 for each in entries}
    names.pop(path.rstrip("/"), None)  # object stores can have something of the folder's name
    return {os.path.basename(name): size for name, size in names.items()}


def find(pattern: str) -> tuple[str, list[str]]:
    """Return a pattern, and the files that it fits, in order: both as paths inside of their storage.

    As in patterns of local files, no wildcard stands for ``/`` or for the dot of a hidden file.

    Raises:
        DataError: the storage does not tell.
    """
    with _told(pattern, _READ):
        system, path = _found(re.sub(r"\*+", "*", pattern))
        system.invalidate_cache()
        found = system.glob(path, detail=True)
    if not found:  # a folder that may not be read looks to fsspec as one without files
        listed(os.path.dirname(re.split(r"[*?[]", pattern)[0]))
    may_be_hidden = os.path.basename(path).startswith(".")
    names = (name for name, entry in found.items() if entry["type"] == "file")
    return path, sorted(n for n in names if may_be_hidden or not os.path.basename(n).startswith("."))


def real(url: str) -> str:
    """Return a name that is the same for all URLs of a file; of a local one, its path."""
    with _told(url, _READ):
        system, path = _found(url)
        protocol = _protocols(system)[0]
    return os.path.realpath(path) if protocol == "file" else f"{protocol}://{path}"


def _found(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    if "::" in url:  # what is in one file would say which others are read
        raise DataError("a URL inside of another one (::) is not followed", url)
    return require("fsspec", "storage").url_to_fs(url)


def _protocols(system: Any) -> tuple[str, ...]:
    return (system.protocol,) if isinstance(system.protocol, str) else tuple(system.protocol)


def _check_protocol(system: Any, url: str) -> None:
    if READ_ONLY.intersection(_protocols(system)):
        raise DataError(f"{_WRITTEN}: {_protocols(system)[0]} serves files, it takes none", url)


@contextlib.contextmanager
def _told(url: str, what: str) -> Iterator[None]:
    """Raise what a storage raises as one line with the URL."""
    try:
        yield
    except (PreorderError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"{what}: {_reason(error, url)}", url) from None


def _reason(error: Exception, url: str) -> str:
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    if isinstance(error, FileNotFoundError) and text in url:  # it says but the path
        cause = str(error.__cause__ or "404")
        text = os.strerror(errno.ENOENT) if "404" in cause else cause  # HTTP's other errors are hidden so
    return text or type(error).__name__
