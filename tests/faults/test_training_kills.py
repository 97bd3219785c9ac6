"""``kill -9`` of ``onmt_train`` at every call by which it saves: each checkpoint is whole, and goes on."""

import os
import re

import pytest
import yaml

pytest.importorskip("onmt", reason="OpenNMT-py is not installed: see the README")

import torch
from safetensors.torch import load_file

from tests.support.opennmt import TINY, call, run, write_task, write_task_vocabularies


@pytest.fixture
def folder(tmp_path):
    write_task(tmp_path, "train", 20, seed=1)
    write_task_vocabularies(tmp_path)
    data = {"train": {"path_src": "../train.src", "path_tgt": "../train.tgt", "weight": 1}}
    paths = {f"{side}_vocab": f"../vocab.{side}" for side in ("src", "tgt")}
    (tmp_path / "config.yaml").write_text(
        yaml.safe_dump({**TINY, **paths, "data": data, "batch_size": 64, "bucket_size": 20})
    )
    return tmp_path


def weights(path):
    """Return the weights of a checkpoint, from its own file or the one beside it."""
    found = torch.load(path, weights_only=True)
    assert {"vocab", "opt", "optim"} <= found.keys()
    if "model" in found:
        return found["model"] | {f"generator.{name}": value for name, value in found["generator"].items()}
    return load_file(path.with_suffix(".safetensors"))


@pytest.mark.parametrize("save_format", ["pytorch", "safetensors"])
def test_each_checkpoint_is_whole_whenever_the_training_dies(folder, save_format):
    run(folder, "python", "-m", "tests.support.training_kills", save_format)
    expected = {path.name: weights(path) for path in (folder / "whole").glob("*.pt")}
    assert sorted(expected) == ["model_step_2.pt"]
    names = expected["model_step_2.pt"].keys()
    last_seen, gone_on = [], set()
    killed = sorted(folder.glob("killed-*"), key=lambda path: int(path.name.split("-")[1]))
    assert len(killed) > (10 if "FAULTS" in os.environ else 5)  # else every second is tried
    for place in killed:
        steps = sorted(int(re.search("([0-9]+).pt$", path.name)[1]) for path in place.glob("*.pt"))
        for step in steps:
            found = weights(place / f"model_step_{step}.pt")
            assert found.keys() == names
            for name, value in expected.get(f"model_step_{step}.pt", {}).items():
                assert torch.equal(found[name], value), (place, name)
        for path in place.glob("*.safetensors"):
            assert load_file(path).keys() == names
        last_seen.append(steps[-1] if steps else 0)
        state = tuple(sorted(path.name for path in place.iterdir() if not path.name.startswith(".")))
        if steps and state not in gone_on:
            gone_on.add(state)
            config = ("-config", "../config.yaml", "-save_format", save_format, "-save_checkpoint_steps", 1)
            call(place, "onmt_train", *config, "-train_from", f"model_step_{steps[-1]}.pt", "-train_steps", 3)
            assert weights(place / "model_step_3.pt").keys() == names
    assert last_seen == sorted(last_seen)  # a checkpoint that is there stays until the next one is
    assert set(last_seen) == {0, 1, 2}
    assert len(gone_on) > 1
