"""Which files are shards, which files belong to them, and what their folder was made with."""

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from preorder.errors import DataError, UsageError
from preorder.io import files
from preorder.shards.plan import MANIFEST, check_manifest, find_shards


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
        ({"src": "in/*.en"}, [("in/a.2.en",), ("in/b.1.en",)]),
        (
            {"src": "in//*.en", "pos": "tags/*.pos"},
            [("in/a.2.en", "tags/a.2.pos"), ("in/b.1.en", "tags/b.1.pos")],
        ),
        (
            {"src": "./in/?.[0-9].e*", "pos": "?/*/x?y"},
            [("./in/a.2.en", "a/2/xny"), ("./in/b.1.en", "b/1/xny")],
        ),
        ({"annot": "in/a.*.en.gz", "trees": "*"}, [("in/a.10.en.gz", "10")]),
        ({"src": "in/b.1.en", "pos": "tags"}, [("in/b.1.en", "tags")]),
        ({"src": "in/**.en"}, [("in/a.2.en",), ("in/b.1.en",)]),
    ],
)
def test_files_that_belong_together(folder, patterns, expected):
    shards = find_shards(patterns, "out")
    assert [tuple(shard.inputs.values()) for shard in shards] == expected
    assert all(list(shard.inputs) == list(patterns) for shard in shards)
    assert [shard.output for shard in shards] == [f"out/{one[0].rpartition('/')[2]}" for one in expected]


def test_files_at_urls(folder, monkeypatch):
    """Named as the pattern names them, whatever the storage calls them."""
    monkeypatch.setattr(MemoryFileSystem, "store", {})
    fsspec.filesystem("memory").pipe({"/in/a.1.en": b"", "/in/b.2.en": b"", "/in/.c.2.en": b""})
    for root in (f"file://{folder}", "memory://", "memory:///"):
        shards = find_shards({"src": f"{root}/in/*.[12].en", "pos": "memory://b//*/?.pos"}, "memory://out")
        assert [(*shard.inputs.values(), shard.output) for shard in shards] == [
            (f"{root}/in/{name}.en", f"memory://b//{name.replace('.', '/')}.pos", f"memory://out/{name}.en")
            for name in (("a.2", "b.1") if root.startswith("file") else ("a.1", "b.2"))
        ]


@pytest.mark.parametrize(
    ("patterns", "out", "error", "reason"),
    [
        ({"src": "in/*.fr"}, "out", DataError, r"^in/\*\.fr: there is no such file$"),
        ({"src": "in/d.1.en"}, "out", DataError, "there is no such file"),
        (
            {"src": "in/*.en", "pos": "tags"},
            "out",
            UsageError,
            "--pos tags has not as many wildcards",
        ),
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
    with pytest.raises(UsageError, match=r"out was made with another b, c \(\[None, 'x'\], now 2\): name"):
        check_manifest(folder, {"a": 1, "b": 2, "c": 3}, [])
    (tmp_path / "new/out" / MANIFEST).unlink()
    with pytest.raises(UsageError, match=r"one is there, and .*out/.preorder.json is not, to tell what made"):
        check_manifest(folder, settings, [f"{folder}/two", f"{folder}/one"])
    (tmp_path / "new/out" / MANIFEST).write_text("[]")
    with pytest.raises(DataError, match="says not what the files beside it were made with"):
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
