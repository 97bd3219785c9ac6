"""How shards are run: in threads and in processes, with bad input and with other errors."""

import itertools
import logging
import os
import threading
from functools import partial

import pytest

from preorder import progress
from preorder.errors import DataError, UsageError
from preorder.shards import on_ray
from preorder.shards.plan import Shard
from preorder.shards.run import ShardsError, in_threads, in_worker_processes, run_shards

ENGINES = {
    "a thread": partial(in_threads, 1),
    "threads": partial(in_threads, 3),
    "this process": partial(in_worker_processes, 0),
    "processes": partial(in_worker_processes, 2),
}
TWO = [{"CPU": 4.0, "memory": 1e9}, {"CPU": 3.0, "GPU": 1.0}]
"""Machines of a cluster."""

BAD = {
    "3": DataError("is bad", "in/3", 7),
    "4": DataError("is bad", "tags/4", 1),
    "6": UsageError("is wrong"),
}


def shards(*names):
    return [Shard({"src": f"in/{name}", "pos": f"tags/{name}"}, f"out/{name}") for name in names]


def work(folder, shard, tick):
    """Write a file, unless the input is bad; a shard has as many lines as its name says."""
    name = shard.source.removeprefix("in/")
    if name in BAD:
        raise BAD[name]
    tick(int(name))
    with open(os.path.join(folder, name), "x"):
        pass


@pytest.fixture
def do(tmp_path):
    """Give a function that does shards of these names, but for those that are done."""

    def do(engine, *names):
        def is_done(shard):
            return (tmp_path / shard.source.removeprefix("in/")).exists()

        run_shards(shards(*names), partial(work, str(tmp_path)), ENGINES[engine], is_done)

    return do


@pytest.mark.parametrize("engine", ENGINES)
def test_all_but_the_bad_ones(do, tmp_path, caplog, engine):
    (tmp_path / "2").touch()
    with (
        caplog.at_level(logging.INFO, "preorder"),
        pytest.raises(ShardsError, match=r"^2 of 5 shards failed; the others are there$"),
    ):
        do(engine, "1", "2", "3", "4", "5")
    assert sorted(os.listdir(tmp_path)) == ["1", "2", "5"]
    assert caplog.messages[0] == "1 of 5 shards are there already"
    assert caplog.messages[-3].startswith("4 of 4 shards, 6 lines, ")
    assert caplog.messages[-2:] == ["in/3:7: is bad", "tags/4:1: is bad"]


@pytest.mark.parametrize("engine", ENGINES)
def test_other_errors_end_the_run(do, engine):
    with pytest.raises(UsageError, match="is wrong"):
        do(engine, "1", "6", "2")


def test_an_error_stops_the_shards_that_are_being_done():
    """A shard that would never end is given up when another raises."""
    begun = threading.Event()

    def work(shard, tick):
        if shard.source == "in/long":
            begun.set()
            for _ in itertools.count():
                tick(1)
        begun.wait(60)
        raise UsageError("is wrong")

    with pytest.raises(UsageError, match="is wrong"):
        run_shards(shards("bad", "long"), work, partial(in_threads, 2), lambda _: False)
    assert begun.is_set()


def test_how_far_it_is(tmp_path, monkeypatch, caplog):
    """On a clock on which each look takes 25 seconds, by the bytes of the input."""
    times = itertools.count(0, 25)
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(times)))
    with caplog.at_level(logging.INFO, "preorder"), progress.shard_progress(3, 1000) as add:
        for size, lines in ((100, 500), (300, 1500), (600, 2000)):
            add(lines)
            add(0, 1, size)
    assert caplog.messages[0] == "1 of 3 shards, 2,000 lines, 20 a second, 0:15:00 left"
    assert caplog.messages[-1] == "3 of 3 shards, 4,000 lines, 15 a second"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (on_ray.RayOptions(), [4, 3]),
        (on_ray.RayOptions(cpus=2), [2, 1]),  # a core of the second machine stays free
        (on_ray.RayOptions(cpus=5), [0, 0]),
        (on_ray.RayOptions(gpus=0.25), [0, 3]),
        (on_ray.RayOptions(gpus=0.1 + 0.2 + 0.2), [0, 2]),
    ],
)
def test_room(options, expected):
    assert [on_ray.fitting(options.needs, machine) for machine in TWO] == expected
