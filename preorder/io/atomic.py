"""Files and directories written whole or not at all, whatever happens: a full disk, a crash, ``kill -9``.

Output is written beside its target as ``.NAME.0.partial``. Once it is complete and on the disk, it takes the
target's name in one step. Its writer locks it: the next writer removes a partial file without a lock, which a
killed writer left, and takes the next number beside one with a lock. Output for a URL is first written to a
temporary folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import glob
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from preorder.errors import DataError
from preorder.io import storage
from preorder.io.storage import SUFFIX, is_url

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # a disk is full, or a quota or limit is reached
MOST_WRITERS = 1000  # of one file or directory at a time

_make_file = partial(Path.touch, exist_ok=False)
_NO_REPLACE, _EXCHANGE = 1, 2  # of renameat2(2)
_HERE = -100  # AT_FDCWD: relative paths begin at the current directory


def is_special(path: str) -> bool:
    """Return whether a path is a device, a pipe or an open file, which no other file can replace."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # a ValueError: there is a NUL in the path
        return False
    return descriptor(path) is not None or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def descriptor(path: str) -> int | None:
    """Return the descriptor that a path such as ``/dev/stdout`` stands for, if any."""
    folder, _, number = path.rpartition("/")
    is_number = folder in ("/dev/fd", "/proc/self/fd") and number.isdecimal()
    return int(number) if is_number else {"/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def atomic_file(path: str) -> contextlib.AbstractContextManager[Path]:
    """Give an empty file that replaces ``path``, or the file at a URL, if the block succeeds.

    Links are followed. The new file has the mode of the old one.
    """
    if is_url(path):
        return _uploaded(path)
    if os.path.isdir(path):
        raise DataError("is a directory", path)
    return _atomic(path, _make_file, os.replace)


def create_file(path: str, data: bytes) -> None:
    """Write a new file; of several local writers the first one succeeds, the others change nothing."""
    opened = _uploaded(path) if is_url(path) else _atomic(path, _make_file, _rename_or_leave)
    with opened as temporary:
        temporary.write_bytes(data)


def atomic_directory(path: str) -> contextlib.AbstractContextManager[Path]:
    """Give an empty directory that replaces ``path``, on Linux in one step, if the block succeeds."""
    with reported(path):
        if os.path.exists(path) and not os.path.isdir(path):
            raise DataError("exists and is not a directory", path)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    return _atomic(path, Path.mkdir, _replace_directory)


@contextlib.contextmanager
def fresh_folder(path: str, files: Iterable[str]) -> Iterator[str]:
    """Give an empty folder that replaces one with these files, if the block succeeds.

    At a URL the old files are removed first, beginning with the first name. Write that file last: a reader
    that finds it finds the others, too.
    """
    if is_url(path):
        storage.remove(os.path.join(path, name) for name in files)
        storage.make_folder(path)
        yield path
    else:
        with atomic_directory(path) as folder:
            yield str(folder)


def check_writable(path: str) -> None:
    """Check that a file or folder can be made at a path; at a URL, that its storage can be written."""
    if is_url(path):
        with storage.filesystem(path, storage.WRITTEN):
            return
    with reported(path):
        target = Path(os.path.realpath(path))
        with contextlib.suppress(FileNotFoundError):
            target.stat()  # its name may be too long
        folder = next(filter(Path.exists, target.parents), target)
        tempfile.TemporaryFile(dir=folder).close()


@contextlib.contextmanager
def _uploaded(url: str) -> Iterator[Path]:
    with reported(url, FULL), tempfile.TemporaryDirectory(prefix="preorder-") as folder:
        temporary = Path(folder, "output")
        temporary.touch()
        yield temporary
        storage.put(temporary, url)


@contextlib.contextmanager
def _atomic(path: str, make: Callable[[Path], None], replace: Callable[[Path, Path], None]) -> Iterator[Path]:
    with reported(path):
        target = Path(os.path.realpath(path))
        temporary, lock = _begin(target, make)
    try:
        with reported(path):
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        with reported(path, FULL):
            yield temporary
        with reported(path):
            for written in (*temporary.glob("*"), temporary):
                _sync(written)
            replace(temporary, target)
            _sync(target.parent)
    finally:
        os.close(lock)
        remove_left(temporary)  # after an exchange of directories, the old one


def _temporary(target: Path, number: object) -> Path:
    beginning = os.fsdecode(os.fsencode(target.name)[:100])  # a name has at most 255 bytes
    return target.with_name(f".{beginning}.{number}{SUFFIX}")


def _begin(target: Path, make: Callable[[Path], None]) -> tuple[Path, int]:
    for number in range(MOST_WRITERS):
        temporary = _temporary(target, number)
        remove_left(temporary)
        try:
            make(temporary)
            return temporary, _locked(temporary)
        except (FileExistsError, FileNotFoundError) as error:
            reason = error  # it is another writer's; or one has removed it, before it was locked
    raise reason


def _locked(path: Path, how: int = 0) -> int:
    """Open and lock a file or folder; raise FileNotFoundError if another writer removed it meanwhile."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | how)
        if not os.path.samestat(os.fstat(handle), os.stat(path)):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
    except BaseException:
        os.close(handle)
        raise
    return handle


def remove_all_left(path: str) -> None:
    """Remove the partial files that killed writers of a file or directory left."""
    with contextlib.suppress(OSError, ValueError):  # a word that is no path
        target = Path(os.path.realpath(path))
        for left in target.parent.glob(_temporary(Path(glob.escape(target.name)), "*").name):
            remove_left(left)


def remove_left(temporary: Path) -> None:
    """Remove a partial file or folder, unless a running writer holds its lock."""
    with contextlib.suppress(OSError):  # there is nothing, its writer is at work, or it is another user's
        lock = _locked(temporary, fcntl.LOCK_NB)
        try:
            if temporary.is_dir():
                shutil.rmtree(temporary)
            else:
                temporary.unlink()
        finally:
            os.close(lock)


@contextlib.contextmanager
def reported(path: str, errors: tuple[int, ...] | None = None) -> Iterator[None]:
    """Turn the OSErrors of a block, or those with an errno of ``errors``, into data errors of output."""
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


def _rename_or_leave(fresh: Path, target: Path) -> None:
    """Give a file its name, unless the name is taken."""
    if _rename(fresh, target, _NO_REPLACE):
        return
    try:  # in two steps: a killed writer leaves its partial file
        os.link(fresh, target)
    except OSError:  # the name is taken, or there are no links here
        if not target.exists():
            os.replace(fresh, target)


def _replace_directory(fresh: Path, target: Path) -> None:
    """Give a directory the name of another one, which gets the temporary name."""
    if not target.exists():
        fresh.rename(target)
    elif not _rename(fresh, target, _EXCHANGE):
        old = fresh.with_name(f"{fresh.name}{SUFFIX}")
        remove_left(old)
        target.rename(old)
        fresh.rename(target)
        old.rename(fresh)


def _rename(one: Path, other: Path, how: int) -> bool:
    """Rename in one step, as only Linux can; return False if it is refused, or this is no Linux."""
    try:
        renameat2 = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), how) == 0


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
