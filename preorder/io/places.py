"""Where files are, by path or by URL: whether they are there, how large, which ones fit a pattern."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator

from preorder.io import storage
from preorder.io.atomic import atomic_directory
from preorder.io.storage import is_url


def exists(path: str) -> bool:
    """Say whether there is something at a path; a DataError says that a storage does not tell."""
    return storage.exists(path) if is_url(path) else os.path.exists(path)


def sizes(paths: Iterable[str]) -> dict[str, int]:
    """Return the sizes in bytes of the files that are there; of URLs, each folder is listed once.

    Raises:
        DataError: a storage does not tell.
    """
    found, folders = {}, {}
    for path in paths:
        if is_url(path):
            folder, name = os.path.split(path)
            if folder not in folders:
                folders[folder] = storage.listed(folder)
            if name in folders[folder]:
                found[path] = folders[folder][name]
        else:
            with contextlib.suppress(OSError, ValueError):  # a ValueError: there is a NUL in the path
                found[path] = os.path.getsize(path)
    return found


def find(pattern: str) -> tuple[str, list[str]]:
    """Return the pattern as it fits names, and the names of the files that it fits, in order.

    Those of URLs are paths inside of their storage.

    Raises:
        DataError: a storage does not tell.
    """
    if is_url(pattern):
        return storage.find(pattern)
    return pattern, sorted(filter(os.path.isfile, glob.glob(pattern)))


def real(path: str) -> str:
    """Return a name that is the same for all paths and URLs that lead to a file."""
    return storage.real(path) if is_url(path) else os.path.realpath(path)


def is_inside(path: str, folder: str) -> bool:
    """Say whether a path or URL leads into a folder."""
    return real(path).startswith(real(folder).rstrip("/") + "/")


def absolute(path: str) -> str:
    """Return a path that does not depend on the current folder."""
    return path if is_url(path) else os.path.abspath(path)


def remove(paths: Iterable[str]) -> None:
    """Remove files that are there."""
    for path in paths:
        if is_url(path):
            storage.remove([path])
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


@contextlib.contextmanager
def fresh_folder(path: str, files: Iterable[str]) -> Iterator[str]:
    """Give an empty folder that takes the place of one that has these files, once the block has ended well.

    A storage replaces no folder at once: there the files are removed, the first of them first. Where that is
    written last, a folder that has it is whole.

    Raises:
        DataError: it cannot be written.
    """
    if is_url(path):
        storage.remove(os.path.join(path, name) for name in files)
        storage.make_folder(path)
        yield path
    else:
        with atomic_directory(path) as folder:
            yield str(folder)


def names(folder: str) -> list[str]:
    """Return the names of what is in a folder: none if it is not there."""
    if is_url(folder):
        return list(storage.listed(folder))
    return os.listdir(folder) if os.path.isdir(folder) else []


@contextlib.contextmanager
def local(path: str) -> Iterator[str]:
    """Give the path of a file, of one at a URL that of a copy that is removed after the block.

    Raises:
        DataError: it cannot be read.
    """
    if not is_url(path):
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="preorder-") as copy, storage.open_url(path) as stream:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        yield copy.name
