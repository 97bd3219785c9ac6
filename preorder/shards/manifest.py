"""What a folder of outputs was made with, in a small file in it: no folder has outputs of two models."""

from __future__ import annotations

import json
import os
from typing import Any

from preorder.errors import DataError, UsageError, shown
from preorder.io import files, storage
from preorder.io.atomic import create_file

NAME = ".preorder.json"


def check_manifest(folder: str, settings: dict[str, Any], outputs: list[str]) -> None:
    """Check that what is in a folder was made with these settings; of a new one, keep them.

    Args:
        folder: is made, if it is not there.
        settings: all that outputs depend on but the input, as JSON.
        outputs: paths of those that are to be made.

    Raises:
        UsageError: it has outputs that were made with other settings, or not as shards.
        DataError: it cannot be read or written.
    """
    path = os.path.join(folder, NAME)
    if not storage.exists(path):
        files.make_folder(folder)
        there = next(iter(storage.sizes(outputs)), None)
        if there is not None and not storage.exists(path):  # nobody has just begun
            raise UsageError(f"{there} is there, and {path} is not, to tell what made it: {_REMEDY}")
        create_file(path, json.dumps(settings, indent=2).encode())
    found = files.read_json(path)
    if not isinstance(found, dict):
        raise DataError("says not what the files beside it were made with", path)
    changed = [name for name in {**settings, **found} if settings.get(name) != found.get(name)]
    if changed:
        name = changed[0]
        was, is_now = shown(found.get(name)), shown(settings.get(name))
        raise UsageError(
            f"{folder} was made with another {', '.join(changed)} ({was}, now {is_now}): {_REMEDY}"
        )


_REMEDY = "name another folder, or remove it"
