"""Which files are shards, what their folder was made with, and how they are run: with bad input, too."""

import itertools
import logging
import os
import threading
from functools import partial

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from preorder.errors import DataError, UsageError
from preorder.io import files
from preorder.shards import on_ray
from preorder.shards.jobs import (
    MANIFEST,
    Shard,
    ShardsError,
    check_manifest,
    find_shards,
    in_threads,
    in_worker_processes,
    run_shards,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in/b.1.en", "in/a.2.en", "in/a.10.en.gz", "in/.hidden.en", "in/x/c.1.en", "in/y/c.1.en"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "in/d.1.en").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ({"src": "in/*.en"}, "in/a.2.en in/b.1.en"),
        ({"src": "in//*.en", "pos": "tags/*.pos"}, "in/a.2.en tags/a.2.pos in/b.1.en tags/b.1.pos"),
        ({"src": "./in/?.[0-9].e*", "pos": "?/*/x?y"}, "./in/a.2.en a/2/xny ./in/b.1.en b/1/xny"),
        ({"annot": "in/a.*.en.gz", "trees": "*"}, "in/a.10.en.gz 10"),
        ({"src": "in/b.1.en", "pos": "tags"}, "in/b.1.en tags"),
        ({"src": "in/**.en"}, "in/a.2.en in/b.1.en"),
    ],
)
def test_files_that_belong_together(folder, patterns, expected):
    found = find_shards(patterns, "out")
    assert " ".join(path for shard in found for path in shard.inputs.values()) == expected
    for shard in found:
        assert list(shard.inputs) == list(patterns)
        assert shard.output == f"out/{os.path.basename(shard.source)}"


def test_files_at_urls(folder, monkeypatch):
    """Named as the pattern names them, whatever the storage calls them."""
    monkeypatch.setattr(MemoryFileSystem, "store", {})
    fsspec.filesystem("memory").pipe({"/in/a.1.en": b"", "/in/b.2.en": b"", "/in/.c.2.en": b""})
    roots = f"file://{folder}", "memory://", "memory:///"
    for root, star in itertools.product(roots, ("*", "**")):
        patterns = {"src": f"{root}/in/{star}.[12].en", "pos": "memory://b//*/?.pos"}
        shards = find_shards(patterns, "memory://out")
        assert [(*shard.inputs.values(), shard.output) for shard in shards] == [
            (f"{root}/in/{name}.en", f"memory://b//{name.replace('.', '/')}.pos", f"memory://out/{name}.en")
            for name in (("a.2", "b.1") if root.startswith("file") else ("a.1", "b.2"))
        ]


@pytest.mark.parametrize(
    ("patterns", "out", "error", "reason"),
    [
        ({"src": "in/*.fr"}, "out", DataError, r"^in/\*\.fr: there is no such file$"),
        ({"src": "in/*.en", "pos": "tags"}, "out", UsageError, "--pos tags has not as many wildcards"),
        ({"src": "in/?/*.en"}, "out", UsageError, "^in/x/c.1.en and in/y/c.1.en would both be"),
        ({"src": "in/*.en"}, "in/x/..", UsageError, "^in/a.2.en would be overwritten while it is needed"),
        ({"src": "in/*.en", "pos": "in/x/../*.en"}, "in", UsageError, "would be overwritten while it is"),
    ],
)
def test_names_that_do_not_fit(folder, patterns, out, error, reason):
    with pytest.raises(error, match=reason):
        find_shards(patterns, out)


def test_settings_of_a_folder(tmp_path):
    folder = str(tmp_path / "new" / "out")
    settings = {"a": 1, "b": [None, "x"]}
    for _ in range(2):
        check_manifest(folder, settings, [f"{folder}/one"])
        (tmp_path / "new/out/one").touch()
    for changed, names in (({"a": 1, "b": 2, "c": 3}, r"b, c \(\[None, 'x'\], now 2\)"), ({"a": 1}, r"b \(")):
        with pytest.raises(UsageError, match=rf"out was made with another {names}.*: name another folder"):
            check_manifest(folder, changed, [])
    (tmp_path / "new/out" / MANIFEST).unlink()
    with pytest.raises(UsageError, match="one exists, but no .*out/.preorder.json that says what made it"):
        check_manifest(folder, settings, [f"{folder}/two", f"{folder}/one"])
    (tmp_path / "new/out" / MANIFEST).write_text("[]")
    with pytest.raises(DataError, match="does not say what the files beside it were made with"):
        check_manifest(folder, settings, [])


def test_of_two_that_begin_at_once_the_first_one_goes_on(tmp_path, monkeypatch):
    out = str(tmp_path / "out")
    make_folder = files.make_folder

    def make_late(path):
        monkeypatch.setattr(files, "make_folder", make_folder)
        make_folder(path)
        check_manifest(path, {"--model": "first"}, [])  # which the other has not seen yet

    monkeypatch.setattr(files, "make_folder", make_late)
    with pytest.raises(UsageError, match="was made with another --model"):
        check_manifest(out, {"--model": "second"}, [])
    check_manifest(out, {"--model": "first"}, [])


ENGINES = {
    "a thread": partial(in_threads, 1),
    "threads": partial(in_threads, 3),
    "this process": partial(in_worker_processes, 0),
    "backwards": lambda work, shards: in_worker_processes(0, work, reversed(shards)),
    "processes": partial(in_worker_processes, 2),
}
TWO = [{"CPU": 4.0, "memory": 1e9}, {"CPU": 3.0, "GPU": 1.0}]
"""Machines of a cluster."""

BAD = {
    "3": DataError("is bad", "in/3", 7),
    "4": DataError("is bad", "tags/4", 1),
    "6": UsageError("is wrong"),
    "9": DataError("is full", "out/9"),
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


@pytest.mark.parametrize("engine", ENGINES)
def test_bad_input_is_left_out_and_other_errors_end_the_run(tmp_path, caplog, engine):
    def do(*names):
        done = partial(work, str(tmp_path))
        run_shards(shards(*names), done, ENGINES[engine], lambda shard: shard.source == "in/2")

    with (
        caplog.at_level(logging.INFO, "preorder"),
        pytest.raises(ShardsError, match=r"^2 of 5 shards failed; the others are there$"),
    ):
        do("1", "2", "3", "4", "5")
    assert sorted(os.listdir(tmp_path)) == ["1", "5"]
    assert caplog.messages[0] == "1 of 5 shards are there already"
    bad = ["in/3:7: is bad", "tags/4:1: is bad"]
    assert sorted(caplog.messages[1:-2]) == [f"left out: {message}" for message in bad]
    assert caplog.messages[-2:] == bad
    for names, error in (("768", "^is wrong$"), ("9", "^out/9: is full$")):
        with pytest.raises((UsageError, DataError), match=error):
            do(*names)


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
