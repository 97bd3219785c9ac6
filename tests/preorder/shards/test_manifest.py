import pytest
from fsspec.implementations.memory import MemoryFileSystem

from preorder.errors import UsageError
from preorder.io import files
from preorder.shards.manifest import check_manifest


@pytest.fixture(params=["{}/out", "file://{}/out", "memory:/{}/out"])
def folder(request, tmp_path):
    return request.param.format(tmp_path)


def test_of_two_that_begin_at_once_the_first_one_goes_on(folder, monkeypatch):
    make_folder = files.make_folder

    def make_late(path):
        monkeypatch.setattr(files, "make_folder", make_folder)
        make_folder(path)
        check_manifest(path, {"--model": "first"}, [])  # which the other has not seen yet

    monkeypatch.setattr(files, "make_folder", make_late)
    with pytest.raises(UsageError, match="was made with another --model"):
        check_manifest(folder, {"--model": "second"}, [])
    check_manifest(folder, {"--model": "first"}, [])


def test_a_storage_without_exclusive_writing(monkeypatch):
    opened = MemoryFileSystem.open

    def open_old(self, path, mode="rb", **more):
        if mode == "xb":
            raise ValueError("File mode not supported")
        return opened(self, path, mode, **more)

    monkeypatch.setattr(MemoryFileSystem, "open", open_old)
    check_manifest("memory://old/out", {"--model": "first"}, [])
    with pytest.raises(UsageError, match="was made with another --model"):
        check_manifest("memory://old/out", {"--model": "second"}, [])
