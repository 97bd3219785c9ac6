"""Files and directories written whole or not at all, whatever happens: a full disk, a crash, ``kill -9``.

What is written stands beside its target as ``.NAME.xxxxxxxx.partial`` until it is complete and on the disk;
then it takes the target's name in one step. Its writer holds a lock on it, so that the next writer can tell
what a killed one has left, and remove it. What goes to a URL is written in the folder of temporary files
first.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import math
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from preorder.data import storage
from preorder.data.errors import DataError
from preorder.data.storage import SUFFIX, is_url

MIN_AGE = 60.0
"""Seconds before something without a lock counts as left behind: a new one is not locked at once."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says when a disk is full, or a quota or limit is reached."""

_RENAME_EXCHANGE = 2  # of renameat2(2)
_HERE = -100  # AT_FDCWD: relative paths begin at the current directory


def is_special(path: str) -> bool:
    """Say whether a path names what can only be written straight: a device, a pipe, a socket."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # a ValueError: there is a NUL in the path
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def atomic_file(path: str) -> contextlib.AbstractContextManager[Path]:
    """Make an empty file that replaces ``path``, or what is at a URL, once the block has ended well.

    Links are followed, and a file that is replaced keeps its mode.

    Raises:
        DataError: the file cannot be written, or is a directory.
    """
    if is_url(path):
        return _uploaded(path)
    if os.path.isdir(path):
        raise DataError("is a directory", path)
    return _atomic(path, _make_file, 0o666, os.replace)


def atomic_directory(path: str) -> contextlib.AbstractContextManager[Path]:
    """Make an empty directory that replaces ``path`` once the block has ended well.

    Where the system can exchange two names at once, as Linux can, ``path`` is complete at every moment.

    Raises:
        DataError: ``path`` exists and is not a directory, or it cannot be written.
    """
    if os.path.exists(path) and not os.path.isdir(path):
        raise DataError("exists and is not a directory", path)
    with reported(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    return _atomic(path, tempfile.mkdtemp, 0o777, _replace_directory)


@contextlib.contextmanager
def _uploaded(url: str) -> Iterator[Path]:
    with reported(url):
        folder = tempfile.mkdtemp(prefix="preorder-")
    try:
        temporary = Path(folder, "output")
        with reported(url, FULL):
            temporary.touch()
            yield temporary
        storage.put(temporary, url)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _atomic(
    path: str, make: Callable[..., str], mode: int, replace: Callable[[Path, Path], None]
) -> Iterator[Path]:
    if not path:  # which would be the current directory
        raise DataError("cannot be written: it has no name", "''")
    with reported(path):
        target = Path(os.path.realpath(path))
        remove_leftovers(target)
        temporary = Path(make(dir=target.parent, prefix=f".{target.name}.", suffix=SUFFIX))
        handle = os.open(temporary, os.O_RDONLY)
    try:
        with reported(path):
            fcntl.flock(handle, fcntl.LOCK_EX)
            temporary.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else mode & ~_umask())
        with reported(path, FULL):
            yield temporary
        with reported(path):
            for written in (*temporary.glob("*"), temporary):
                _sync(written)
            replace(temporary, target)
            _sync(target.parent)
    finally:
        _remove(temporary)  # after an exchange of directories, the old one
        os.close(handle)


@contextlib.contextmanager
def reported(path: str, errors: tuple[int, ...] | None = None) -> Iterator[None]:
    """Raise what the system refuses in a block, or some ``errno`` of it, as an error about bad output.

    Raises:
        DataError: the file cannot be written.
    """
    try:
        yield
    except OSError as error:
        if errors is not None and error.errno not in errors:
            raise
        raise DataError(f"cannot be written: {error.strerror or error}", path) from None
    except ValueError:
        if "\0" not in path:
            raise
        raise DataError("cannot be written: there is a NUL in the path", path) from None


def remove_leftovers(target: Path, min_age: float | None = None) -> None:
    """Remove what killed writers of a target have left beside it, so many seconds ago (:data:`MIN_AGE`)."""
    least = MIN_AGE if min_age is None else min_age
    for path in _partial(target.parent, f".{target.name}."):
        with contextlib.suppress(OSError):  # it is being written, or its writer has just ended
            if time.time() - path.stat().st_mtime >= least:
                _remove_unlocked(path)


def _partial(folder: Path, prefix: str) -> Iterator[Path]:
    """Yield what is not complete in a folder and has such a name.

    The folder, in which there may be 100,000 files, is looked through once in ``MIN_AGE`` seconds: what has
    come since is too new to be left behind.
    """
    looked, names = _LOOKED.get(folder, (-math.inf, ()))
    if time.monotonic() - looked >= MIN_AGE:
        looked = time.monotonic()
        names = tuple(name for name in os.listdir(folder) if name.endswith(SUFFIX))
        _LOOKED.clear()
        _LOOKED[folder] = looked, names
    return (folder / name for name in names if name.startswith(prefix))


_LOOKED: dict[Path, tuple[float, tuple[str, ...]]] = {}
"""The folder that was looked through last: when, and what was not complete in it."""


def _remove_unlocked(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(path)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _make_file(**where: object) -> str:
    handle, name = tempfile.mkstemp(**where)
    os.close(handle)
    return name


def _replace_directory(fresh: Path, target: Path) -> None:
    """Give a directory the name of another, which has the temporary name afterwards, if it was there."""
    if not target.exists():
        fresh.rename(target)
    elif not _exchange(fresh, target):
        old = fresh.with_name(f"{fresh.name}{SUFFIX}")
        target.rename(old)
        fresh.rename(target)
        old.rename(fresh)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names at once; return False where the system or the file system cannot."""
    try:
        renameat2 = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _RENAME_EXCHANGE) == 0


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync(path: Path) -> None:
    """Wait until the content of a file, or the names in a directory, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
