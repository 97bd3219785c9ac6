import numpy as np
import pytest
from safetensors import SafetensorError

from preorder.errors import DataError
from preorder.learning.checkpoint import Checkpoint, digest

ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "none": np.empty((0, 2), np.uint64)}


def test_gives_back_what_was_saved(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "file"
    checkpoint = Checkpoint(path)
    assert checkpoint.load("key") is None
    assert not checkpoint.due
    monkeypatch.setattr("preorder.learning.checkpoint.INTERVAL", 0)
    checkpoint = Checkpoint(path)
    assert checkpoint.due
    checkpoint.save("key", {"done": [1, 2.5]}, ARRAYS)
    assert not checkpoint.due  # for twenty times as long as it took
    values, arrays = Checkpoint(path).load("key")
    assert values == {"done": [1, 2.5]}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_full_disk(tmp_path, monkeypatch):
    def fail(*_):
        raise SafetensorError("no space left on device")

    monkeypatch.setattr("preorder.learning.checkpoint.save_file", fail)
    with pytest.raises(DataError, match="file: cannot be written: no space left on device"):
        Checkpoint(tmp_path / "file").save("key", {}, ARRAYS)
    assert not list(tmp_path.iterdir())


def test_digest_tells_apart(monkeypatch):
    digests = [
        digest({"a": 1}, ARRAYS["a"]),
        digest({"a": 2}, ARRAYS["a"]),
        digest({"a": 1}, ARRAYS["a"].reshape(3, 2)),
        digest({"a": 1}, ARRAYS["a"].astype(np.float64)),
        digest({"a": 1}, -ARRAYS["a"]),
        digest({"a": 1}, ARRAYS["a"], ARRAYS["none"]),
    ]
    assert len(set(digests)) == len(digests)
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    monkeypatch.setattr("preorder.learning.checkpoint.__version__", "0")
    assert digest({"a": 1}, ARRAYS["a"]) not in digests
