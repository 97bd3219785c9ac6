"""Work on shards for tests on Ray, whose workers import it: what is done depends on the name of the shard."""

import os
import signal
import time
from pathlib import Path

from preorder.errors import DataError, NotFiniteError
from preorder.progress import LOGGER, announce
from preorder.shards.jobs import Shard


def shards(folder, *names):
    return [Shard({"src": f"in/{name}"}, str(folder / name)) for name in names]


def work(shard, tick):
    """Write a file, unless the name says otherwise; ``waits`` never ends."""
    kind, output = shard.source.removeprefix("in/").split("-")[0], Path(shard.output)
    mark = output.with_name(f"{output.name}.begun-by-{os.getpid()}")
    mark.touch()
    if kind == "dies" or (kind == "once" and len([*output.parent.glob(f"{output.name}.begun*")]) == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "bad":
        raise DataError("is bad", shard.source, 7)
    if kind == "diverged":
        raise NotFiniteError("weights")
    if kind == "full":
        raise OSError(28, "No space left on device", shard.output)
    if kind == "warns":
        announce("this takes a while")
        LOGGER.warning(f"{shard.source} is odd", extra={"once": "odd"})
        LOGGER.warning(f"{shard.source} is short")
    while kind == "waits":
        time.sleep(0.05)
    tick(2)
    output.write_text("x")


def same():
    return {}


def process():
    return {"process": os.getpid()}


class OnlyAt:
    """Facts that only one process knows."""

    def __init__(self):
        self._process = os.getpid()

    def __call__(self):
        if os.getpid() != self._process:
            raise DataError("cannot be read: No such file or directory", "out/.preorder.json")
        return {}
