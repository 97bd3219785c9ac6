"""Compressed files: how the name of a file ends says how, and the same content gives the same bytes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import resolve_name
from typing import Any, BinaryIO, NamedTuple

from preorder.errors import DataError, MissingExtraError, UsageError
from preorder.io.storage import is_url, open_url

# Not the package zstandard: its readers take a file that is cut short for a whole one.
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


class Codec(NamedTuple):
    """A kind of compression.

    Attributes:
        name: in messages.
        module: what compresses, with ``open`` as in :mod:`gzip`; imported at use.
        error: what it raises for damaged data, beside EOFError and an OSError without a number.
        extra: what installs the module, or None: it comes with Python.
    """

    name: str
    module: str
    error: str
    extra: str | None = None


CODECS = {
    ".gz": Codec("gzip", "gzip", "zlib:error"),
    ".bz2": Codec("bzip2", "bz2", "builtins:EOFError"),
    ".xz": Codec("xz", "lzma", "lzma:LZMAError"),
    ".zst": Codec("Zstandard", ZSTD, f"{ZSTD}:ZstdError", "zstd"),
}
"""How a file's name ends → how it is compressed."""


def split_suffix(path: str) -> tuple[str, str]:
    """Return a path without the suffix of a compressed file, and that suffix, ``""`` if it is not one."""
    suffix = next(filter(path.endswith, CODECS), "")
    return path.removesuffix(suffix), suffix


def open_bytes(path: str) -> BinaryIO:
    """Open a file, by its path or URL, for reading what was compressed.

    Raises:
        OSError, ValueError: as ``open``.
        DataError: as :func:`preorder.io.storage.open_url`; or a file of gzip is empty, as one cut short is.
        MissingExtraError, UsageError: what reads this compression is not installed, or not part of Python.
    """
    _, suffix = split_suffix(path)
    opener = _module(CODECS[suffix]).open if suffix else None
    if is_url(path):
        stream = open_url(path)
        return opener(stream, "rb") if opener else stream
    if suffix == ".gz" and os.path.isfile(path) and not os.path.getsize(path):
        raise DataError("damaged gzip data: the file is empty", path)  # the other modules say so themselves
    return (opener or open)(path, "rb")


@contextlib.contextmanager
def compressed(stream: BinaryIO, path: str) -> Iterator[BinaryIO]:
    """Compress what is written in a block into a stream, as the name of its file says.

    Raises:
        MissingExtraError, UsageError: as :func:`open_bytes`.
    """
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


def damage(path: str, error: Exception) -> str | None:
    """Return what an error in reading says of the compressed data; None: it is another error."""
    _, suffix = split_suffix(path)
    if not suffix:
        return None
    codec = CODECS[suffix]
    is_damage = isinstance(error, (EOFError, resolve_name(codec.error)))
    if is_damage or (isinstance(error, OSError) and error.errno is None):
        return f"damaged {codec.name} data: {error}"
    return None


def _module(codec: Codec) -> Any:
    try:
        return import_module(codec.module)
    except ImportError as error:
        if codec.extra is not None:
            raise MissingExtraError(codec.module, codec.extra) from error
        raise UsageError(f"{codec.name} data: this Python was built without {codec.module}") from error
